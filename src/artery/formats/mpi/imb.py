"""Intel MPI Benchmarks: blocks ``# Benchmarking NAME`` with times, and Mbytes/s of 10⁶ bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from artery.formats.mpi.timings import SPIKE, measured, no_rows, spikes
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.syntax.prefixes import bare
from artery.formats.text import Text
from artery.formats.wording import counted

_TITLE: Final = re.compile(r"Intel\(R\) MPI Benchmarks (\d[\w.]{0,12})")
_BLOCK: Final = re.compile(r"#\s{0,4}Benchmarking:?\s+(\w{1,40})")
_PROCESSES: Final = re.compile(r"#\s{0,4}#processes = (\d{1,7})")
_WAITING: Final = re.compile(r"\(\s{0,4}(\d{1,7}) additional processes waiting")
_ROW: Final = re.compile(r"\s*\d{1,12}(?:\s+\d{1,12}(?:\.\d{1,6})?){2,8}\s*$")
_FIRST: Final = ("#bytes", "#repetitions")
"""First columns; a barrier moves no bytes, and has none of them."""
_NAMES: Final = {
    "#bytes": ("size_bytes", 1.0), "#repetitions": ("repetitions", 1.0),
    "t_min[usec]": ("time_min_s", 1e-6), "t_max[usec]": ("time_max_s", 1e-6),
    "t_avg[usec]": ("time_s", 1e-6), "t[usec]": ("time_s", 1e-6),
    "Mbytes/sec": ("bandwidth_bytes_per_s", 1e6), "Msg/sec": ("messages_per_s", 1.0),
}  # fmt: skip


def _recognise(text: Text) -> float:
    if _TITLE.search(text.head):
        return 0.95
    return 0.85 if _BLOCK.search(text.head) and "#repetitions" in text.head else 0.0


def _read(text: Text) -> Reading:
    blocks: list[dict[str, Any]] = []
    used: set[int] = set()
    for number, line in enumerate(text.lines, 1):
        plain = bare(line[:400])
        if block := _BLOCK.match(plain.lstrip()):
            blocks.append({"benchmark": block[1], "ranks": None, "waiting": 0, "columns": [],
                           "rows": []})  # fmt: skip
        elif blocks and (processes := _PROCESSES.search(plain)):
            blocks[-1]["ranks"] = int(processes[1])
        elif blocks and (waiting := _WAITING.search(plain)):
            blocks[-1]["waiting"] = int(waiting[1])
        elif blocks and plain.startswith(_FIRST, len(plain) - len(plain.lstrip())):
            blocks[-1]["columns"] = plain.split()[:10]
        elif blocks and blocks[-1]["columns"] and _ROW.match(plain):
            blocks[-1]["rows"].append(_row(plain.split(), blocks[-1]["columns"]))
        else:
            continue
        used.add(number)
    blocks = [block for block in blocks if block["rows"]]
    if not blocks:
        raise no_rows(text, "IMB prints #bytes, #repetitions and times")
    title = _TITLE.search(text.content)
    first = blocks[0]
    fields = {**first, "version": title[1] if title else None, "blocks": blocks,
              "noisy_sizes": _noisy(first["rows"]),
              "spikes": spikes(first["rows"], _best(first))}  # fmt: skip
    trees = tuple(
        measured(one["benchmark"], one["rows"], text.path, one["ranks"]) for one in blocks
    )
    summary, warnings = tuple(_summary(blocks)), tuple(_warnings(blocks))
    ignored = passed_over(text, used, re.compile(r"\s*#"))
    return Reading("imb", "measurement", summary, fields, warnings, ignored, None, trees)


def _row(words: list[str], columns: list[str]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for column, word in zip(columns, words, strict=False):
        name, factor = _NAMES.get(column, (column[:40], 1.0))
        row[name] = float(word) * factor
    row["size_bytes"] = int(row.get("size_bytes", 0))
    return row


def _best(block: dict[str, Any]) -> str:
    return "time_min_s" if "t_min[usec]" in block["columns"] else "time_s"


def _noisy(rows: list[dict[str, Any]]) -> list[int]:
    """Return the sizes whose slowest rank took ``SPIKE`` times as long as the fastest, or more."""
    return [
        row["size_bytes"]
        for row in rows
        if row.get("time_min_s") and row.get("time_max_s", 0) > SPIKE * row["time_min_s"]
    ]


def _summary(blocks: list[dict[str, Any]]) -> Iterator[str]:
    for block in blocks[:5]:
        last = block["rows"][-1]
        time = last.get(_best(block))
        said = (
            "" if time is None else f"; {last['size_bytes']} bytes take {time * 1e6:.2f} us at best"
        )
        sizes = counted(len(block["rows"]), "size")
        yield f"IMB {block['benchmark']}, {_ranks(block)}, {sizes}{said}"


def _ranks(block: dict[str, Any]) -> str:
    return "ranks unknown" if block["ranks"] is None else counted(block["ranks"], "rank")


def _warnings(blocks: list[dict[str, Any]]) -> Iterator[str]:
    for block in blocks:
        name = f"{block['benchmark']} on {_ranks(block)}"
        noisy = sorted({*_noisy(block["rows"]), *spikes(block["rows"], _best(block))})
        if noisy:
            some = "one size is" if len(noisy) == 1 else f"{len(noisy)} sizes are"
            yield (f"{name}: {some} many times too slow, as on a shared machine: use t_min, and "
                   "fit no line through the averages")  # fmt: skip
        if block["waiting"]:
            yield f"{name}: {block['waiting']} more processes waited beside it"


FORMAT = Format("imb", "measurement", _recognise, _read)
