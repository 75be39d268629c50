"""``ucx_perftest``: latency and bandwidth of one transport between two processes.

Columns after ``Stage``: iterations, time in us (50th percentile, average, overall), bandwidth in
MB/s of 2²⁰ bytes (average, overall), messages per second (UCX, perftest.c). The time is a latency
in latency tests and the time per message (``overhead``) in the others. Test and message size stand
on the server's side; on the client's they follow from the head of the columns, and from bandwidth
over messages.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

from artery.core.term import Measurement, Term
from artery.formats.mpi.timings import no_rows
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.syntax.prefixes import bare
from artery.formats.text import Text

_FACT: Final = re.compile(r"\|\s{0,4}([A-Z][\w ()/-]{1,24}):\s{1,20}(.{1,80}?)\s{0,80}\|")
_ROW: Final = re.compile(
    r"\s*(?:\[thread \d+\]|Final:)\s+(\d{1,12})((?:\s+\d{1,15}(?:\.\d{1,6})?){5,9})"
)
_ROUNDED: Final = 0.02
"""Assumed: what rounding of bandwidth and rate does to their quotient."""

_TABLE: Final = re.compile(r"overhead \(usec\)|latency \(usec\)")
_KNOWN: Final = re.compile(r"\s*[+|]|\[\d+\.\d+\]|Waiting for connection|Accepted connection")


def _recognise(text: Text) -> float:
    if _TABLE.search(text.head) and "bandwidth (MB/s)" in text.head:
        return 0.95
    return 0.0


def _read(text: Text) -> Reading:
    facts: dict[str, str] = {}
    rows: list[dict[str, Any]] = []
    used: set[int] = set()
    for number, line in enumerate(text.lines, 1):
        plain = bare(line[:400])
        if fact := _FACT.search(plain):
            facts[fact[1].strip().casefold()] = fact[2].strip()
        elif row := _ROW.match(plain):
            rows.append(_row(row, final="Final:" in plain))
        else:
            continue
        used.add(number)
    if not rows:
        raise no_rows(text, "ucx_perftest prints a line that begins with Final:")
    last = next((row for row in rows if row["final"]), rows[-1])
    size, origin = _size(facts, last)
    timed = "overhead" if "overhead (usec)" in text.head else "latency"
    test = facts.get("test") or ("bandwidth" if timed == "overhead" else "latency")
    fields = {
        "test": test, "time_is": timed, "size_from": origin,
        "data_layout": facts.get("data layout"),
        "send_memory": facts.get("send memory"), "receive_memory": facts.get("recv memory"),
        "size_bytes": size,
        "facts": facts, "rows": rows,
        **{key: value for key, value in last.items() if key != "final"},
    }  # fmt: skip
    named = "latency" if timed == "latency" else "time per message"
    summary = (
        f"ucx_perftest {test}" + (f", {size:,} bytes" if size else ", message size unknown"),
        f"{named} {last['latency_s'] * 1e6:.2f} us",
        f"bandwidth {last['bandwidth_bytes_per_s'] / 1e9:.2f} GB/s",
    )
    time = last["latency_s"]
    root = Term(test, "s", time, time, time, source=text.path)
    warnings = () if any(row["final"] for row in rows) else ("no line Final: the run was cut off",)
    return Reading("ucx-perftest", "measurement", summary, fields, warnings,
                   passed_over(text, used, _KNOWN), None,
                   (Measurement(root, text.path),))  # fmt: skip


def _size(facts: dict[str, str], row: dict[str, Any]) -> tuple[int | None, str | None]:
    """Return the bytes of a message and where they are from."""
    said = facts.get("message size", "")
    if said.isdecimal() and len(said) < 15:
        return int(said), "message size"
    rate = row["messages_per_s"]
    found = row["bandwidth_bytes_per_s"] / rate if rate else 0.0
    if not 1 <= found < 1e15:
        return None, None
    # Both are rounded in print; sizes are powers of two unless somebody chose otherwise.
    power = 2 ** round(math.log2(found))
    near = abs(found / power - 1) < _ROUNDED
    return (power if near else round(found)), "bandwidth / messages"


def _row(row: re.Match[str], *, final: bool) -> dict[str, Any]:
    values = [float(one) for one in row[2].split()]
    # The percentile column came with UCX 1.12; before it there were six numbers after the count.
    shift = 1 if len(values) >= 7 else 0
    return {
        "final": final,
        "iterations": int(row[1]),
        "latency_s": values[shift + 1] * 1e-6,
        "latency_p50_s": values[0] * 1e-6 if shift else None,
        "bandwidth_bytes_per_s": values[min(shift + 3, len(values) - 1)] * 2**20,
        "messages_per_s": values[-1],
    }


FORMAT: Final = Format("ucx-perftest", "measurement", _recognise, _read)
