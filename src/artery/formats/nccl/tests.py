"""nccl-tests and rccl-tests: bandwidth of a collective by message size.

All header generations, the JSON of ``-J``, CSV, tables cut and edited by hand, and the
``all_reduce_bench`` scripts that print ``busbw: ... Gbps``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.gpus.names import one_chip
from artery.formats.nccl import tests_meaning as meaning
from artery.formats.nccl.tests_other import (
    is_bench,
    is_csv,
    is_json,
    read_bench,
    read_csv,
    read_json,
)
from artery.formats.nccl.tests_rows import Header, header_of, is_wrong, row_of
from artery.formats.ordinary import is_table
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Ignored, Reading
from artery.formats.syntax.prefixes import bare
from artery.formats.text import Text
from artery.formats.wording import counted
from artery.units import show_bytes

_DEVICE: Final = re.compile(
    r"#\s{0,8}Rank\s+(\d{1,7})\s(?:\s*Group\s+\d{1,7})?\s*Pid\s+(\d{1,9})\s+on\s+(\S{1,80})\s+"
    r"device\s+(\d{1,3})\s\[([0-9a-fA-Fx:.]{1,16})\]\s(.{1,80})"
)
_OPTIONS: Final = re.compile(r"#\s{0,8}nThread:?\s+(\d+)\s+nGpus:?\s+(\d{1,4})")
_VERSION: Final = re.compile(r"# nccl-tests version (\S{1,20})(?:.{0,60}nccl-library=(\d{1,9}))?")
_STARTING: Final = re.compile(r"Collective test (?:starting|concluded): (\w{1,40})")
_COMMAND: Final = re.compile(r"\b(\w{3,30})_perf\b(?:.{0,300}?\s-g\s+(\d{1,4}))?")
_BOUNDS: Final = re.compile(r"Out of bounds values : (\d{1,18}) (OK|FAILED)")
_AVERAGE: Final = re.compile(r"Avg bus bandwidth\s{0,8}: (\d{1,7}(?:\.\d{1,9})?)")
_COMMENT: Final = re.compile(r"\s*(?:#|-+$|\.\.\.$|\[\.\.\.\]$)")
_ITERATIONS: Final = re.compile(r"\bi_(?:min|max|p99)\b")


MOST_TOLD: Final = 4
"""Rows of different numbers of ranks that are told one by one."""


MOST_SPELT: Final = 1e6
"""GB/s; more is no bandwidth, and not spelt out."""


@dataclass(slots=True)
class _Table:
    """One table while it is read."""

    line: int
    header: Header | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)
    devices: list[dict[str, Any]] = field(default_factory=list)
    name: str | None = None
    gpus: int | None = None
    version: str | None = None
    library: str | None = None
    colons: bool = False
    iterations: bool = False
    average: float | None = None
    bounds: tuple[int, bool] | None = None
    cut: int = 0
    source: str | None = None


def _recognise(text: Text) -> float:
    head = text.head
    if is_json(text):
        return 0.95
    if is_csv(text):
        return 0.9
    if is_table(text):
        return 0.0
    if _AVERAGE.search(text.content) or _VERSION.search(head):
        return 0.95
    lines = text.lines[:5000]
    if any(header_of(line) for line in lines if "busbw" in line):
        return 0.9
    if is_bench(text):
        return 0.85
    rows = sum(row_of(line, None) is not None for line in lines if " float " in line)
    return 0.7 if rows >= 2 else 0.0


def _read(text: Text) -> Reading:
    if is_json(text):
        return _reading(text, [_finished(_given(one)) for one in read_json(text)], ())
    if is_csv(text):
        return _reading(text, [_finished(_given(one)) for one in read_csv(text)], ())
    used: set[int] = set()
    tables = [one for one in _tables(text, used) if one.rows or one.devices or one.header]
    if not tables:
        if is_bench(text):
            return read_bench(text)
        rule = "nccl-tests prints a header and a row for every size"
        raise InputError(Problem(file=text.path, found="no table", rule=rule, fix="send it whole"))
    cut = sum(one.cut for one in tables)
    ignored = passed_over(text, used, _COMMENT)
    if cut:
        ignored = (Ignored(tables[0].line, cut, "rows cut off"), *ignored)
    return _reading(text, [_finished(one) for one in tables], ignored)


def _given(parts: dict[str, Any]) -> _Table:
    """Return a table from JSON or CSV."""
    return _Table(1, parts.get("header"), parts["rows"], parts.get("devices", []),
                  parts.get("name"), parts.get("gpus"), parts.get("version"),
                  average=parts.get("average"), bounds=parts.get("bounds"),
                  source=parts["source"])  # fmt: skip


def _tables(text: Text, used: set[int]) -> Iterator[_Table]:
    """Yield the tables of a file; lines they are made of go into ``used``."""
    table = _Table(1)
    for number, line in enumerate(text.lines, 1):
        if len(line) > 4000:
            continue
        plain = bare(line)
        if _begins(plain, table):
            yield table
            table = _Table(number)
        if _fact(plain, table) or _columns(plain, table):
            used.add(number)
            continue
        row = row_of(line, table.header)
        if row is not None:
            table.rows.append(row)
            used.add(number)
        elif table.header is not None and re.match(r"\s*[\d.]+(?:\s+[\d.]+){2,}", plain):
            table.cut += 1
            used.add(number)
    yield table


def _begins(line: str, table: _Table) -> bool:
    """Whether a new table begins, so that the one so far is finished."""
    if not table.rows and table.average is None:
        return False
    return bool(
        _OPTIONS.search(line) or _VERSION.search(line) or (table.average and header_of(line))
    )


def _columns(line: str, table: _Table) -> bool:
    header = header_of(line) if "busbw" in line else None
    if header is not None and table.header is None:
        table.header = header
        table.iterations = bool(_ITERATIONS.search(line))
    return header is not None


def _fact(line: str, table: _Table) -> bool:
    """Note what a comment line says; whether it says anything."""
    if device := _DEVICE.search(line):
        rank, _, host, index, bus, name = device.groups()
        table.devices.append({"rank": int(rank), "host": host, "device": int(index),
                              "bus": bus, "name": name.strip()})  # fmt: skip
    elif options := _OPTIONS.search(line):
        table.gpus = int(options[2])
        table.colons = "nGpus:" in line
    elif version := _VERSION.search(line):
        table.version, table.library = version[1], version[2]
    elif starting := _STARTING.search(line):
        table.name = starting[1].removesuffix("_perf")
    elif bounds := _BOUNDS.search(line):
        table.bounds = int(bounds[1]), bounds[2] == "OK"
    elif average := _AVERAGE.search(line):
        table.average = float(average[1]) * 1e9
    elif command := _COMMAND.search(line):
        table.name = table.name or command[1]
        table.gpus = table.gpus or (int(command[2]) if command[2] else None)
    else:
        return False
    return True


def _generation(table: _Table) -> str:
    if table.source is not None:
        return table.source
    if table.iterations:
        return "2.20 and later (per-iteration columns)"
    if table.version or any(":" in device["bus"] for device in table.devices):
        return "2.17 and later (version line, bus ids)"
    if table.header is not None and table.header.wrong:
        return "2.12 and later (#wrong, root)"
    if table.colons:
        return "rccl-tests, old (colons)"
    return "before 2.12 (error column)" if table.header is not None else "none"


def _finished(table: _Table) -> dict[str, Any]:
    """Return everything that one table says, with what follows from it."""
    rows, header = table.rows, table.header
    root = header.root if header else any(row["root"] is not None for row in rows)
    collective = meaning.collective_of(
        table.name, rows, root=root, reduction=bool(header and header.reduction)
    )
    share = meaning.old_share(rows)
    ranks, origin = _ranks(table, collective, share)
    if share is not None and collective is None:
        collective = "all_gather"
    _recompute(rows, share)
    hosts = list(dict.fromkeys(device["host"] for device in table.devices))
    best = meaning.peak(rows)
    wrong = _wrong_rows(table)
    failed = table.bounds is not None and not table.bounds[1]
    return {
        "line": table.line, "collective": collective, "generation": _generation(table),
        "version": table.version, "library_version": table.library,
        "ranks": ranks, "ranks_from": origin, "nodes": len(hosts) or None, "hosts": hosts,
        "devices": table.devices, "chip": one_chip({one["name"] for one in table.devices}),
        "rows": rows, "row_count": len(rows), "cut_rows": table.cut,
        "peak_busbw_bytes_per_s": best[0] if best else None,
        "peak_size_bytes": best[1] if best else None,
        "average_busbw_bytes_per_s": table.average,
        "out_of_bounds": table.bounds[0] if table.bounds else None,
        "valid": not (failed or wrong), "wrong_rows": wrong, "old_columns": share is not None,
        "old_share": share,
    }  # fmt: skip


def _ranks(
    table: _Table, collective: str | None, share: float | None
) -> tuple[int | None, str | None]:
    """Return the number of ranks and where it is from."""
    numbers = {device["rank"] for device in table.devices}
    if len(numbers) > 1 and len(numbers) == len(table.devices):
        return len(numbers), "devices"
    if share is not None:
        return round(1 / (1 - share)), "size, time and algbw"
    extras = {tuple(row["extra"]) for row in table.rows}
    found = meaning.ranks_from_ratio(collective, table.rows) if len(extras) < 2 else None
    if found is not None:
        return found, "busbw / algbw"
    if table.gpus is not None and table.gpus > 1 and len(numbers) < 2:
        return table.gpus, "options"
    return (1, "devices") if numbers == {0} and len(table.devices) == 1 else (None, None)


def _recompute(rows: list[dict[str, Any]], share: float | None) -> None:
    """Add to each row its own ranks and, for old columns, the algbw that size and time give."""
    for row in rows:
        if row["extra"]:
            row["ranks"] = meaning.ranks_from_ratio("all_reduce", [row])
        side = row["out_of_place"]
        if share is not None and side["time_s"]:
            side["algbw_recomputed_bytes_per_s"] = row["size_bytes"] / side["time_s"]


def _wrong_rows(table: _Table) -> list[int]:
    """Return the sizes whose check failed."""
    counted = table.header is None or table.header.wrong
    return [
        row["size_bytes"]
        for row in table.rows
        if any(is_wrong(row[side], counted=counted) for side in ("out_of_place", "in_place"))
    ]


def _reading(text: Text, tables: list[dict[str, Any]], ignored: tuple[Ignored, ...]) -> Reading:
    first = next((one for one in tables if one["rows"]), tables[0])
    fields = {**first, "tables": tables, "table_count": len(tables)}
    measured = tuple(
        meaning.measurement(one["collective"] or "collective", one["rows"], one["ranks"], text.path)
        for one in tables
        if one["rows"]
    )
    warnings = [w for one in tables for w in _warnings(one)]
    summary = tuple(line for one in tables[:2] for line in _summary(one))[:5]
    return Reading("nccl-tests", "measurement", summary, fields, tuple(dict.fromkeys(warnings)),
                   ignored, None, measured)  # fmt: skip


def _summary(table: dict[str, Any]) -> Iterator[str]:
    by_row = {row["ranks"]: row for row in table["rows"] if row.get("ranks")}
    ranks = counted(table["ranks"], "rank") if table["ranks"] else "ranks unknown"
    if by_row:
        ranks = f"{min(by_row)} to {max(by_row)} ranks"
    nodes = f" on {counted(table['nodes'], 'node')}" if table["nodes"] else ""
    name = table["collective"] or "a collective that is not named"
    sizes = counted(table["row_count"], "row" if by_row else "size")
    yield f"{name}, {ranks}{nodes}, {sizes}; header: {table['generation']}"
    for count, row in list(by_row.items())[:MOST_TOLD]:
        bus = max(meaning.side_values(row, "busbw_bytes_per_s"), default=0.0) / 1e9
        yield f"{count} ranks: busbw {bus:.2f} GB/s at {show_bytes(row['size_bytes'])}"
    if by_row:
        return
    if not table["rows"]:
        yield "no rows: only the header was sent"
    elif table["peak_busbw_bytes_per_s"] is not None:
        bus, size = table["peak_busbw_bytes_per_s"] / 1e9, table["peak_size_bytes"]
        note = "" if table["valid"] else " - INVALID: the results are wrong"
        if bus or note:
            said = f"{bus:.2f}" if bus < MOST_SPELT else f"{bus:.3g}"
            yield f"busbw peaks at {said} GB/s at {show_bytes(size)}{note}"
        else:
            yield f"busbw is 0.00 GB/s up to {show_bytes(size)}: too small to tell"


def _warnings(table: dict[str, Any]) -> Iterator[str]:
    rows = table["rows"]
    if not rows:
        yield "there is a header and not one row: the log ends early"
        return
    if not table["valid"]:
        where = f" at {len(table['wrong_rows'])} sizes" if table["wrong_rows"] else ""
        yield (f"the check of the results failed{where}: data are wrong, so that no bandwidth "
               "of this run counts")  # fmt: skip
    yield from _who(table)
    average, best = table["average_busbw_bytes_per_s"], table["peak_busbw_bytes_per_s"]
    if average is not None and best and average < 0.9 * best:
        yield (f"the average over all sizes ({average / 1e9:.2f} GB/s) is not the peak "
               f"({best / 1e9:.2f} GB/s): compare large messages")  # fmt: skip
    if table["old_columns"]:
        yield ("old all-gather columns: algbw and busbw both carry (n-1)/n already; "
               "algbw was computed again from size and time")  # fmt: skip
    yield from _shape(table)


def _who(table: dict[str, Any]) -> Iterator[str]:
    counts = Counter(device["rank"] for device in table["devices"])
    if counts and set(counts) == {0} and counts[0] > 1:
        yield ("every rank is Rank 0: built without MPI, each process ran alone, and no "
               "number says anything about the network (make MPI=1)")  # fmt: skip
    if table["ranks_from"] in ("busbw / algbw", "size, time and algbw"):
        yield f"the number of ranks, {table['ranks']}, follows from {table['ranks_from']}"
    if table["ranks"] == 1:
        yield "one rank: nothing is sent"
    by_row = sorted({row["ranks"] for row in table["rows"] if row.get("ranks")})
    if by_row:
        said = ", ".join(map(str, by_row))
        yield f"a column in front of the sizes; busbw / algbw says {said} ranks"


def _shape(table: dict[str, Any]) -> Iterator[str]:
    rows = table["rows"]
    if any(row["size_bytes"] <= 64 and not any(meaning.side_values(row, "busbw_bytes_per_s"))
           for row in rows):  # fmt: skip
        yield "rows of 64 bytes or less print 0.00: two decimals, no fault"
    strange = sum(bool(row.get("nan")) for row in rows)
    if strange:
        yield f"nan stands in {counted(strange, 'row')}: no such number; the line is damaged"
    fall = meaning.collapse(rows)
    if fall is not None:
        one, two = (max(meaning.side_values(row, "busbw_bytes_per_s")) / 1e9 for row in fall)
        yield (f"busbw falls from {one:.2f} GB/s at {fall[0]['size_bytes']} bytes to {two:.2f} at "
               f"{fall[1]['size_bytes']}: congestion or loss, not latency")  # fmt: skip
    last = rows[-1]
    sides = meaning.side_values(last, "busbw_bytes_per_s")
    if len(sides) == 2 and min(sides) > 0 and max(sides) > 1.3 * min(sides):
        times = max(sides) / min(sides)
        yield f"in place and out of place differ {times:.1f}-fold at the largest size"
    if any(_half_checked(row) for row in rows):
        yield "results were checked out of place only (in place: N/A)"


def _half_checked(row: dict[str, Any]) -> bool:
    inside = row["in_place"]
    return (
        inside is not None and inside["wrong"] is None and row["out_of_place"]["wrong"] is not None
    )


FORMAT = Format("nccl-tests", "measurement", _recognise, _read, table=True)
