"""nccl-tests' results in JSON (``-J``) and CSV, and the ``all_reduce_bench`` scripts."""

from __future__ import annotations

import csv
import re
from io import StringIO
from statistics import median
from typing import Any, Final

from artery.core.term import Measurement, Term
from artery.errors import InputError, Problem
from artery.formats.reading import Reading
from artery.formats.syntax.json_text import json_of
from artery.formats.text import Text, short

_GBPS: Final = re.compile(r"busbw: {1,4}(\d{1,7}(?:\.\d{1,9})?) {1,4}Gbps")
_ALGORITHM: Final = re.compile(r"algo throughput: {0,4}(\d{1,18}(?:\.\d{1,9})?) {1,4}bps")
_DURATION: Final = re.compile(r"duration: {0,4}(\d{1,9}(?:\.\d{1,9})?) {1,4}sec")
_RANK: Final = re.compile(r"^(\d{1,6}):$", re.MULTILINE)
_CSV_KEYS: Final = ("size", "time", "busbw")


def is_json(text: Text) -> bool:
    """Whether the text is the JSON of ``-J``."""
    head = text.head.lstrip()[:8000]
    return head.startswith("{") and '"results"' in text.head and (
        '"busbw"' in text.content or '"bus_bw"' in text.content
    )  # fmt: skip


def read_json(text: Text) -> list[dict[str, Any]]:
    """Return the table in the JSON; raises ``InputError`` if it is broken."""
    document = json_of(text)
    results = document.get("results") if isinstance(document, dict) else None
    rows = [row for one in results if (row := _json_row(one))] if isinstance(results, list) else []
    if not rows:
        raise _refused(text, "no results", 'must have "results" with size, time and busbw')
    config = document.get("config") if isinstance(document.get("config"), dict) else {}
    name = document.get("collective") or document.get("test") or config.get("collective")
    average = document.get("average_bus_bandwidth")
    if isinstance(average, dict):
        average = average.get("bandwidth")
    return [{"rows": rows, "source": "JSON (-J)",
             "name": _collective(name), "version": short(document.get("version")),
             "average": average * 1e9 if _is_number(average) else None}]  # fmt: skip


def _json_row(one: object) -> dict[str, Any] | None:
    if not isinstance(one, dict) or not isinstance(one.get("size"), int):
        return None
    outside, inside = one.get("out_of_place", one), one.get("in_place")
    if not isinstance(outside, dict):
        return None
    return {
        "size_bytes": one["size"], "count": one.get("count"), "type": short(one.get("type")),
        "reduction": short(one.get("redop")), "root": one.get("root"),
        "out_of_place": _json_side(outside),
        "in_place": _json_side(inside) if isinstance(inside, dict) else None, "extra": [],
    }  # fmt: skip


def _json_side(side: dict[str, Any]) -> dict[str, Any]:
    def value(*names: str) -> float | None:
        return next((float(side[one]) for one in names if _is_number(side.get(one))), None)

    time, algorithm = value("time"), value("alg_bw", "algbw")
    bus = value("bus_bw", "busbw")
    return {
        "time_s": None if time is None else time * 1e-6,
        "algbw_bytes_per_s": None if algorithm is None else algorithm * 1e9,
        "busbw_bytes_per_s": None if bus is None else bus * 1e9,
        "wrong": value("nwrong", "wrong"),
    }


def is_csv(text: Text) -> bool:
    """Whether the first line that says something names size, time and busbw with commas."""
    first = next((line for line in text.head.split("\n") if line.strip()), "")
    names = first.casefold()
    return "," in first and all(key in names for key in _CSV_KEYS)


def read_csv(text: Text) -> list[dict[str, Any]]:
    """Return the table in the CSV, one side; raises ``InputError`` if it has no row."""
    lines = [line for line in text.lines if line.strip()]
    rows: list[dict[str, Any]] = []
    try:
        for cells in csv.DictReader(StringIO("\n".join(lines)), restkey="more", restval=""):
            row = _csv_row({str(key).casefold().strip(): value for key, value in cells.items()})
            if row is not None:
                rows.append(row)
    except csv.Error as error:
        raise _refused(text, str(error), "must be CSV") from None
    if not rows:
        raise _refused(text, "no row", "rows of size, time (us), algbw and busbw (GB/s)")
    return [{"rows": rows, "source": "CSV"}]


def _csv_row(cells: dict[str, Any]) -> dict[str, Any] | None:
    def number(key: str) -> float | None:
        value = next((cell for name, cell in cells.items() if name.startswith(key)), None)
        pattern = r"\d{1,18}(?:\.\d{1,12})?(?:e[+-]?\d{1,2})?"
        plain = value.strip() if isinstance(value, str) else ""
        return float(plain) if re.fullmatch(pattern, plain) else None

    size, time = number("size"), number("time")
    if size is None or time is None:
        return None
    algorithm, bus = number("algbw"), number("busbw")
    side = {"time_s": time * 1e-6,
            "algbw_bytes_per_s": None if algorithm is None else algorithm * 1e9,
            "busbw_bytes_per_s": None if bus is None else bus * 1e9,
            "wrong": number("wrong")}  # fmt: skip
    return {"size_bytes": int(size), "count": None, "type": cells.get("type"), "reduction": None,
            "root": None, "out_of_place": side, "in_place": None, "extra": []}  # fmt: skip


def is_bench(text: Text) -> bool:
    """Whether the text is what an ``all_reduce_bench`` script prints."""
    return _GBPS.search(text.content) is not None and _ALGORITHM.search(text.content) is not None


def read_bench(text: Text) -> Reading:
    """Return the last trial's figures of such a script, as medians over its ranks."""
    ranks = {int(one) for one in _RANK.findall(text.content)}
    trials = [float(one) * 1e9 / 8 for one in _GBPS.findall(text.content)]
    count = max(len(ranks), 1)
    bus = median(trials[-count:])
    algorithms = [float(one) / 8 for one in _ALGORITHM.findall(text.content)]
    algorithm = median(algorithms[-count:])
    durations = [float(one) for one in _DURATION.findall(text.content)][-count:]
    time = median(durations) if durations else None
    ratio = bus / algorithm if algorithm else 0.0
    size = None if time is None else time * algorithm
    found = round(2 / (2 - ratio)) if 1 < ratio < 1.9999 else None
    fields = {
        "collective": "all_reduce", "generation": "all_reduce_bench script",
        "ranks": len(ranks) or found, "ranks_from": "labels" if ranks else "busbw / algbw",
        "ranks_from_ratio": found, "trials": len(trials) // count,
        "peak_busbw_bytes_per_s": bus, "algbw_bytes_per_s": algorithm, "time_s": time,
        "size_bytes": size, "valid": None,
    }  # fmt: skip
    summary = (
        f"an all-reduce benchmark script, {fields['ranks']} ranks, {fields['trials']} trials",
        f"last trial: busbw {bus * 8 / 1e9:.2f} Gb/s = {bus / 1e9:.2f} GB/s",
    )
    warnings = ("Gbps are bits: a byte has eight", "results are not checked by this script")
    measured: tuple[Measurement, ...] = ()
    if time is not None:
        root = Term("all_reduce", "s", time, time, time, source=text.path)
        measured = (Measurement(root, text.path, {"ranks": str(fields["ranks"])}),)
    return Reading("nccl-tests", "measurement", summary, fields, warnings, (), None, measured)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e18


def _collective(value: object) -> str | None:
    name = short(value)
    return None if name is None else name.casefold().removesuffix("_perf")


def _refused(text: Text, found: str, rule: str, line: int | None = None) -> InputError:
    fix = "send what nccl-tests wrote"
    return InputError(Problem(file=text.path, line=line, found=found, rule=rule, fix=fix))
