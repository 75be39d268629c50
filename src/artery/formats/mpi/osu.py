"""OSU micro-benchmarks (MVAPICH): latency, bandwidth and collectives by message size.

Two columns, or five with ``--full``. Bandwidths are in MB/s of 10⁶ bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from artery.formats.mpi.timings import measured, no_rows, spikes
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.syntax.prefixes import bare
from artery.formats.text import Text

_TITLE: Final = re.compile(
    r"# OSU (MPI|OpenSHMEM|UPC|NCCL|UPC\+\+)(-\w{1,12})? (.{1,60}?) Test(?: v(\d[\w.]{0,10}))?"
)
_ROW: Final = re.compile(r"\s*(\d{1,12})((?:\s+\d{1,12}(?:\.\d{1,6})?){1,8})\s*$")
_KNOWN: Final = re.compile(r"\s*#")
_UNITS: Final = {
    "avg latency(us)": ("time_s", 1e-6), "latency (us)": ("time_s", 1e-6),
    "avg lat(us)": ("time_s", 1e-6), "min latency(us)": ("time_min_s", 1e-6),
    "max latency(us)": ("time_max_s", 1e-6), "iterations": ("iterations", 1),
    "bandwidth (mb/s)": ("bandwidth_bytes_per_s", 1e6), "messages/s": ("messages_per_s", 1),
    "mb/s": ("bandwidth_bytes_per_s", 1e6), "overall(us)": ("time_s", 1e-6),
}  # fmt: skip


def _recognise(text: Text) -> float:
    return 0.95 if _TITLE.search(text.head) else 0.0


def _read(text: Text) -> Reading:
    tests: list[dict[str, Any]] = []
    used: set[int] = set()
    for number, line in enumerate(text.lines, 1):
        plain = bare(line[:400])
        title = _TITLE.search(plain)
        if title is not None:
            tests.append(_test(title))
        elif tests and plain.lstrip().startswith("# Datatype"):
            tests[-1]["datatype"] = plain.partition(":")[2].strip(" .")[:40]
        elif tests and plain.lstrip().startswith("# Size"):
            tests[-1]["columns"] = _columns(plain)
        elif tests and (row := _ROW.match(plain)):
            tests[-1]["rows"].append(_row(row, tests[-1]["columns"]))
        else:
            continue
        used.add(number)
    if not any(test["rows"] for test in tests):
        raise no_rows(text, "OSU benchmarks print a size and a time on every line")
    fields = {**tests[0], "tests": tests, "spikes": spikes(tests[0]["rows"])}
    trees = tuple(measured(test["test"], test["rows"], text.path, None) for test in tests
                  if any("time_s" in row for row in test["rows"]))  # fmt: skip
    summary, warnings = tuple(_summary(tests)), tuple(_warnings(tests))
    ignored = passed_over(text, used, _KNOWN)
    return Reading("osu", "measurement", summary, fields, warnings, ignored, None, trees)


def _test(title: re.Match[str]) -> dict[str, Any]:
    name = title[3].casefold()
    kind = "bandwidth_bytes_per_s" if "bandwidth" in name else "time_s"
    return {
        "test": re.sub(r" (?:latency|bandwidth)$", "", name).replace("-", "_"),
        "title": title[3], "version": title[4], "interface": title[1],
        "device": (title[2] or "").strip("-") or None, "datatype": None,
        "columns": [(kind, 1e6 if kind.startswith("b") else 1e-6)], "rows": [],
    }  # fmt: skip


def _columns(line: str) -> list[tuple[str, float]]:
    """Return what each column after the size holds, and the factor to SI."""
    names = re.split(r"\s{2,}|\t", line.strip("# ").removeprefix("Size").strip())
    return [_UNITS.get(name.casefold(), (name.casefold()[:40], 1.0)) for name in names][:8]


def _row(row: re.Match[str], columns: list[tuple[str, float]]) -> dict[str, Any]:
    values = [float(one) for one in row[2].split()]
    named = {name: value * factor for (name, factor), value in zip(columns, values, strict=False)}
    if "time_s" in named and named["time_s"] > 0:
        named["algbw_bytes_per_s"] = int(row[1]) / named["time_s"]
    return {"size_bytes": int(row[1]), **named}


def _summary(tests: list[dict[str, Any]]) -> Iterator[str]:
    for test in tests[:5]:
        device = f" on {test['device']}" if test["device"] else ""
        version = f" (v{test['version']})" if test["version"] else ""
        last = test["rows"][-1] if test["rows"] else None
        said = ""
        if last is not None and "time_s" in last:
            said = f"; {last['size_bytes']} bytes take {last['time_s'] * 1e6:.2f} us"
        elif last is not None and "bandwidth_bytes_per_s" in last:
            said = f"; {last['size_bytes']} bytes at {last['bandwidth_bytes_per_s'] / 1e9:.2f} GB/s"
        yield f"OSU {test['title']}{version}{device}, {len(test['rows'])} sizes{said}"


def _warnings(tests: list[dict[str, Any]]) -> Iterator[str]:
    for test in tests:
        jumped = spikes(test["rows"])
        if jumped:
            sizes = ", ".join(map(str, jumped[:6]))
            yield (f"{test['title']}: not monotonic, {sizes} bytes took several times as long as "
                   "larger messages: a noisy machine, fit no line through it")  # fmt: skip
    if any("time_s" in row for test in tests for row in test["rows"]):
        yield "the output does not say the number of ranks"


FORMAT = Format("osu", "measurement", _recognise, _read)
