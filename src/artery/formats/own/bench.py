"""What ``artery bench --json`` wrote: chips, collectives or links as they were measured.

A collective's times are medians of the slowest rank, with the least and the longest as bounds; so
a table reads like one of nccl-tests, with one side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from artery.core.term import Measurement, Term
from artery.errors import InputError, Problem
from artery.formats.gpus.names import one_chip
from artery.formats.mpi.timings import measured
from artery.formats.nccl.tests_meaning import peak
from artery.formats.reading import Format, Reading
from artery.formats.syntax.json_text import inside, json_of, tables
from artery.formats.text import Text, short
from artery.units import show_bytes, show_rate

SCHEMA: Final = "artery.bench/1"
_SCHEMA: Final = re.compile(r'"schema"\s{0,4}:\s{0,4}"artery\.bench/1"')
_TIMES: Final = ("time_s", "min_s", "max_s", "algbw_bytes_per_s", "busbw_bytes_per_s")


def _recognise(text: Text) -> float:
    return 0.99 if _SCHEMA.search(text.head) else 0.0


def _read(text: Text) -> Reading:
    document = json_of(text)
    kind = short(inside(document, "bench"))
    readers = {"chip": _chip, "collectives": _collectives, "links": _links}
    results = tables(inside(document, "results") or [])
    if kind not in readers or not results:
        found = "no results" if kind in readers else f"bench = {kind!r}"[:60]
        rule = 'must hold "results" of a chip, collectives or links'
        fix = "write it with `artery bench ... --json -o FILE`"
        raise InputError(Problem(file=text.path, found=found, rule=rule, fix=fix))
    return readers[kind](text, document, results)


def _about(document: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON is any value)
    """Return what holds for all results: who measured, where, under which load."""
    around = tables(inside(document, "environment") or [])
    loads = [one["load_average_1min"] for one in around if _is_number(one.get("load_average_1min"))]
    hosts = [short(one.get("host")) for one in around]
    return {
        "bench": inside(document, "bench"),
        "backend": short(inside(document, "backend")),
        "library": short(inside(document, "library")),
        "ranks": _count(inside(document, "ranks")),
        "hosts": [one for one in dict.fromkeys(hosts) if one],
        "load_average": max(loads, default=None),
        "paced": short(inside(document, "paced")),
        "environment": around,
        "chip": one_chip({name for one in around if (name := short(one.get("chip")))}),
    }


def _collectives(text: Text, document: Any, results: list[dict[str, Any]]) -> Reading:  # noqa: ANN401
    about = _about(document)
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    cut = 0
    for one in results:
        name, algorithm = short(one.get("collective")), short(one.get("algorithm"))
        row = _row(one)
        if name is None or algorithm is None or row is None:
            cut += 1
            continue
        found.setdefault((name, algorithm), []).append(row)
    if not found:
        rule = "a result has a collective, an algorithm, a size and a time"
        raise InputError(Problem(file=text.path, found="no such result", rule=rule, fix="send all"))
    listed = [_table(about, *key, rows) for key, rows in found.items()]
    own = [one for one in listed if one["algorithm"] == "library"]
    fields = {**about, **listed[0], "tables": own or listed, "all_tables": listed, "cut_rows": cut}
    trees = tuple(_tree(one, about, text.path) for one in listed)
    return Reading(
        "artery-bench", "measurement", tuple(_summary(listed, about))[:5], fields,
        tuple(_warnings(listed, about)), (), None, trees,
    )  # fmt: skip


def _row(one: Mapping[str, Any]) -> dict[str, Any] | None:
    size, wrong = _count(one.get("size_bytes")), one.get("wrong")
    times = {name: one.get(name) for name in _TIMES}
    if size is None or not all(_is_number(value) for value in times.values()):
        return None
    return {
        "size_bytes": size, "count": _count(one.get("count")), "type": short(one.get("type")),
        "reduction": None, "root": None, "extra": [], "in_place": None,
        "out_of_place": {
            "time_s": times["time_s"], "algbw_bytes_per_s": times["algbw_bytes_per_s"],
            "busbw_bytes_per_s": times["busbw_bytes_per_s"],
            "wrong": wrong if _is_number(wrong) else None,
        },
        "time_s": times["time_s"], "time_min_s": times["min_s"], "time_max_s": times["max_s"],
    }  # fmt: skip


def _table(
    about: Mapping[str, Any], collective: str, algorithm: str, rows: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the rows of one collective and algorithm as a table of nccl-tests would say them."""
    wrong = [row["size_bytes"] for row in rows if row["out_of_place"]["wrong"]]
    best = peak(rows)
    return {
        "collective": collective, "algorithm": algorithm, "ranks": about["ranks"],
        "nodes": len(about["hosts"]) or None, "hosts": about["hosts"], "rows": rows,
        "row_count": len(rows), "wrong_rows": wrong, "valid": not wrong, "old_columns": False,
        "peak_busbw_bytes_per_s": best[0] if best else None,
        "peak_size_bytes": best[1] if best else None,
    }  # fmt: skip


def _tree(table: Mapping[str, Any], about: Mapping[str, Any], source: str) -> Measurement:
    """Return the times by size, with the conditions under which they were taken."""
    tree = measured(table["collective"], table["rows"], source, table["ranks"])
    said = {
        "algorithm": table["algorithm"],
        **{key: about[key] for key in ("backend", "library", "paced", "load_average")},
    }
    told = {key: str(value) for key, value in said.items() if value is not None}
    return Measurement(tree.root, tree.source, {**tree.conditions, **told})


def _summary(listed: list[dict[str, Any]], about: Mapping[str, Any]) -> Iterator[str]:
    hosts = f" on {len(about['hosts'])} host(s)" if about["hosts"] else ""
    yield f"artery bench: {about['ranks']} ranks{hosts}, {about['library'] or about['backend']}"
    for one in listed:
        best = one["peak_busbw_bytes_per_s"]
        peaks = "" if best is None else (
            f"; busbw peaks at {show_rate(best)} at {show_bytes(one['peak_size_bytes'])}"
        )  # fmt: skip
        yield f"{one['collective']} by {one['algorithm']}, {one['row_count']} sizes{peaks}"


def _warnings(listed: list[dict[str, Any]], about: Mapping[str, Any]) -> Iterator[str]:
    if about["paced"]:
        yield f"paced after the links of {about['paced']}: no network was measured"
    for one in listed:
        if not one["valid"]:
            yield (f"{one['collective']} by {one['algorithm']}: the check of the results failed at "
                   f"{len(one['wrong_rows'])} sizes")  # fmt: skip


def _chip(text: Text, document: Any, results: list[dict[str, Any]]) -> Reading:  # noqa: ANN401
    about = _about(document)
    name = short(inside(document, "name"))
    rows = [one for one in results if _is_number(one.get("value")) and _named(one)]
    terms = tuple(_chip_term(one, text.path) for one in rows)
    root = Term("chip", "1", len(terms), len(terms), len(terms), source=text.path, children=terms)
    fields = {
        **about, "name": name, "device": short(inside(document, "device")),
        "threads": _count(inside(document, "threads")), "results": rows,
    }  # fmt: skip
    best = max((one for one in rows if one["unit"] == "FLOP/s"), key=_value, default=None)
    memory = max((one for one in rows if one["unit"] == "B/s"), key=_value, default=None)
    summary = [f"artery bench: {name or 'a chip'}, {len(rows)} results"]
    if best is not None:
        summary.append(f"fastest product {best['name']}: {best['value'] / 1e12:.4g} TFLOP/s")
    if memory is not None:
        summary.append(f"memory {memory['name']}: {show_rate(memory['value'])}")
    measurement = Measurement(root, text.path, _conditions(about))
    return Reading("artery-bench", "measurement", tuple(summary), fields, (), (), None,
                   (measurement,))  # fmt: skip


def _named(row: Mapping[str, Any]) -> bool:
    return all(short(row.get(key)) for key in ("kind", "name", "unit"))


def _chip_term(row: Mapping[str, Any], source: str) -> Term:
    """Return the best value, bounded by the median's."""
    best = float(row["value"])
    middle = row.get("median_value")
    other = float(middle) if isinstance(middle, (int, float)) else best
    name, unit = f"{row['kind']} {row['name']}", str(row["unit"])
    return Term(name, unit, best, min(best, other), max(best, other), source=source)


def _links(text: Text, document: Any, results: list[dict[str, Any]]) -> Reading:  # noqa: ANN401
    about = _about(document)
    keys = {"latency": ("latency_s", "s"), "bandwidth": ("bandwidth_bytes_per_s", "B/s"),
            "back": ("back_bandwidth_bytes_per_s", "B/s")}  # fmt: skip
    pairs = [
        one for one in results
        if _count(one.get("source")) is not None and _count(one.get("target")) is not None
        and all(_is_number(one.get(key)) for key, _ in keys.values())
    ]  # fmt: skip
    terms = tuple(
        Term(f"{name} {one['source']}-{one['target']}", unit, one[key], one[key], one[key],
             source=text.path)
        for one in pairs for name, (key, unit) in keys.items()
    )  # fmt: skip
    root = Term("links", "1", len(pairs), len(pairs), len(pairs), source=text.path, children=terms)
    slow = inside(document, "slow_ranks")
    fields = {**about, "pairs": pairs, "size_bytes": _count(inside(document, "size_bytes")),
              "slow_ranks": slow if isinstance(slow, list) else []}  # fmt: skip
    summary = [f"artery bench: {len(pairs)} pairs of {about['ranks']} ranks, {about['library']}"]
    if pairs:
        rates = sorted(one["bandwidth_bytes_per_s"] for one in pairs)
        summary.append(f"bandwidth {show_rate(rates[0])} to {show_rate(rates[-1])}")
    warnings = [f"rank {rank} is slow in all directions" for rank in fields["slow_ranks"]]
    measurement = Measurement(root, text.path, _conditions(about))
    return Reading("artery-bench", "measurement", tuple(summary), fields, tuple(warnings), (), None,
                   (measurement,))  # fmt: skip


def _conditions(about: Mapping[str, Any]) -> dict[str, str]:
    keys = ("ranks", "backend", "library", "load_average")
    return {key: str(about[key]) for key in keys if about[key] is not None}


def _value(row: Mapping[str, Any]) -> float:
    return float(row["value"])


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e30


def _count(value: object) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
    return int(str(value)) if whole else None


FORMAT: Final = Format("artery-bench", "measurement", _recognise, _read)
