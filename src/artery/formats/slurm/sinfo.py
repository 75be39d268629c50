"""``sinfo``: by default, ``-N -l``, ``-R``, and ``-o`` with any separator."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.slurm.hostlist import expand
from artery.formats.slurm.words import OUT, duration, gpus, state
from artery.formats.syntax.numerals import whole
from artery.formats.syntax.prefixes import bare
from artery.formats.text import Text
from artery.formats.wording import counted

_HEADER: Final = re.compile(r"[A-Z][A-Z_:/]*(?:[ |]+[A-Z][A-Z_:/0-9]*)+\s*$")
_DATE: Final = re.compile(r"\w{3} \w{3} +\d{1,2} \d\d:\d\d:\d\d \d{4}\s*$")
_NULL: Final = "(null)"
MOST_REASONS: Final = 3
"""Reasons that are told one by one."""

REASON_WIDTH, MEMORY_WIDTH = 20, 6
"""Columns of ``sinfo -R`` and ``-N -l`` (sinfo's manual page, default formats)."""

Row = dict[str, str]


def _header(text: Text) -> tuple[int, str] | None:
    """Return the index and text of the line of column names."""
    for index, raw in enumerate(text.lines[:200]):
        line = bare(raw).strip()
        names = set(re.split(r"[ |]+", line))
        if not {"NODELIST", "HOSTNAMES"} & names or not _HEADER.match(line):
            continue
        if {"STATE", "REASON", "GRES", "PARTITION"} & names:
            return index, line
    return None


def _recognise(text: Text) -> float:
    found = _header(Text(text.path, text.head))
    return 0.9 if found and "JOBID" not in found[1] else 0.0


def _rows(text: Text, index: int, header: str) -> Iterator[tuple[int, Row]]:
    """Yield the rows below the header by column name, with their line numbers."""
    if "|" in header:
        names = header.split("|")
        for number, raw in enumerate(text.lines[index + 1 :], index + 2):
            cells = bare(raw).strip().split("|")
            if len(cells) >= len(names):
                yield number, dict(zip(names, (cell.strip() for cell in cells), strict=False))
        return
    columns = header.split()
    for number, raw in enumerate(text.lines[index + 1 :], index + 2):
        found = _cells(bare(raw).strip(), columns)
        if found is not None:
            yield number, dict(zip(columns, found, strict=True))


def _cells(line: str, names: list[str]) -> list[str] | None:
    """Return the cells of a row; the reason is the only column with blanks inside."""
    if "REASON" not in names:
        cells = line.split()
        return cells if len(cells) == len(names) else None
    before = names.index("REASON")
    after = len(names) - before - 1
    head = line.split(None, before)
    if len(head) < before:
        return None
    rest = head[before] if len(head) > before else ""
    tail = rest.rsplit(None, after) if after else [rest]
    if len(tail) < after + 1:
        return None
    return [*head[:before], tail[0].strip(), *tail[1:]]


def _read(text: Text) -> Reading:
    header = _header(text)
    rows = list(_rows(text, *header)) if header else []
    if header is None or not rows:
        rule = "sinfo prints a line of column names and rows below"
        fix = "send its whole output"
        raise InputError(Problem(file=text.path, found="no row", rule=rule, fix=fix))
    groups = [_group(row, text.path, number) for number, row in rows]
    fields = _fields(groups, header[1])
    used = {number for number, _ in rows} | {header[0] + 1}
    return Reading(
        "slurm-sinfo",
        "state",
        tuple(_summary(fields)),
        fields,
        tuple(_warnings(groups, fields)),
        passed_over(text, used, _DATE, "no row of the table"),
    )


def _group(row: Row, path: str, number: int) -> dict[str, Any]:
    listed = row.get("NODELIST") or row.get("HOSTNAMES") or ""
    try:
        nodes = [] if listed in {"", "n/a", _NULL} else expand(listed)
    except InputError as error:
        raise error.at(file=path, line=number, field="NODELIST") from None
    word, flags = state(row["STATE"]) if "STATE" in row else (None, ())
    count, kind = gpus(row.get("GRES", ""))
    partition = row.get("PARTITION", "")
    reason = row.get("REASON")
    memory = whole(row.get("MEMORY", "").rstrip("+"))
    return {
        "partition": partition.rstrip("*") or None,
        "default": partition.endswith("*"),
        "state": word,
        "flags": list(flags),
        "nodes": nodes,
        "time_limit_s": duration(row.get("TIMELIMIT", "")),
        "gpus_per_node": count if "GRES" in row else None,
        "gpu_type": kind,
        "cpus": whole(row.get("CPUS", "").partition("/")[0].rstrip("+")),
        "sockets_cores_threads": row.get("S:C:T"),
        "memory_bytes": memory * 2**20 if memory is not None else None,
        "memory_printed": row.get("MEMORY"),
        "reason": None if reason in {None, "", "none"} else reason,
        "features": None if row.get("AVAIL_FE") in {None, _NULL} else row["AVAIL_FE"].split(","),
    }


def _fields(groups: list[dict[str, Any]], header: str) -> dict[str, Any]:
    state_of: dict[str, Mapping[str, Any]] = {}
    for one in groups:
        for node in one["nodes"]:
            state_of.setdefault(node, one)
    partitions = list(dict.fromkeys(one["partition"] for one in groups if one["partition"]))
    return {
        "form": "reasons"
        if header.startswith("REASON")
        else "nodes"
        if "S:C:T" in header
        else "partitions",
        "separator": "|" if "|" in header else "columns",
        "node_count": len(state_of),
        "partitions": partitions,
        "default_partition": next((one["partition"] for one in groups if one["default"]), None),
        "states": dict(Counter(one["state"] for one in state_of.values() if one["state"])),
        "states_by_partition": {
            name: _states([one for one in groups if one["partition"] == name])
            for name in partitions
        },
        "not_responding": sorted(
            node for node, one in state_of.items() if "not responding" in one["flags"]
        ),
        "out": sorted(node for node, one in state_of.items() if one["state"] in OUT),
        "gpus": _gpus(state_of.values()) if "GRES" in header else None,
        "reasons": [
            {"reason": one["reason"], "nodes": one["nodes"]} for one in groups if one["reason"]
        ],
        "groups": groups,
    }


def _states(groups: list[dict[str, Any]]) -> dict[str, int]:
    return dict(Counter(one["state"] for one in groups if one["state"] for _ in one["nodes"]))


def _gpus(nodes: Iterable[Mapping[str, Any]]) -> int:
    return sum(one["gpus_per_node"] or 0 for one in nodes)


def _reasons(fields: dict[str, Any]) -> dict[str, list[str]]:
    """Return the nodes that are out, by why."""
    found: dict[str, list[str]] = {}
    for one in fields["reasons"]:
        nodes = found.setdefault(one["reason"], [])
        nodes += [node for node in one["nodes"] if node not in nodes]
    return found


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    where = f" in {len(fields['partitions'])} partitions" if fields["partitions"] else ""
    yield f"{counted(fields['node_count'], 'node')}{where}"
    for name, states in list(fields["states_by_partition"].items())[:3]:
        if states:
            yield f"{name}: " + ", ".join(f"{count} {word}" for word, count in states.items())
    if fields["gpus"]:
        yield counted(fields["gpus"], "GPU")
    for reason, nodes in list(_reasons(fields).items())[:MOST_REASONS]:
        yield f"out, for {reason}: {', '.join(nodes[:8])}"


def _warnings(groups: list[dict[str, Any]], fields: dict[str, Any]) -> Iterator[str]:
    if fields["not_responding"]:
        silent = fields["not_responding"]
        yield f"not responding (the * of the state, {len(silent)}): {', '.join(silent[:8])}"
    invalid = [node for one in groups if one["state"] == "inval" for node in one["nodes"]]
    if invalid:
        yield (
            f"inval ({len(invalid)}): registered with less than slurm.conf promises, "
            "often fewer GPUs; scontrol show node says which"
        )
    drained = [
        node for one in groups if one["state"] in {"drained", "draining"} for node in one["nodes"]
    ]
    if drained:
        yield f"drained ({len(drained)}): {', '.join(drained[:8])}"
    cut = [one["reason"] for one in groups if len(one["reason"] or "") >= REASON_WIDTH]
    if cut and fields["separator"] == "columns":
        yield (
            f'sinfo cuts reasons at {REASON_WIDTH} characters ("{cut[0]}"); '
            'sinfo -o "%E" has them whole'
        )
    wide = [one for one in groups if len(one["memory_printed"] or "") >= MEMORY_WIDTH]
    if wide and fields["form"] == "nodes" and fields["separator"] == "columns":
        yield (
            f"sinfo -N -l cuts MEMORY at {MEMORY_WIDTH} characters: "
            f'"{wide[-1]["memory_printed"]}" may be the beginning of a larger number of MB'
        )


FORMAT: Final = Format("slurm-sinfo", "state", _recognise, _read)
