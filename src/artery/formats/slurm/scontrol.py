"""``scontrol show node``, ``job`` and ``partition``: ``Key=Value`` records, one line or many."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.slurm.words import duration, exit_code, gpus
from artery.formats.syntax.numerals import number, whole
from artery.formats.syntax.prefixes import bare
from artery.formats.text import Text
from artery.formats.wording import counted

_RECORD: Final = re.compile(r"(NodeName|JobId|PartitionName)=(\S+)")
_KEY: Final = re.compile(r"(?:^|(?<=\s))([A-Za-z][\w/:]{1,40})=")
_MATCHING: Final = {
    "NodeName": ("CPUAlloc=", "CPUTot=", "RealMemory=", "NodeAddr="),
    "JobId": ("JobName=", "JobState=", "UserId="),
    "PartitionName": ("AllowGroups=", "TotalNodes=", "DefaultTime="),
}
"""Words that only the output of ``scontrol`` has beside the record's name (not slurm.conf)."""

_FREE: Final = frozenset({"Reason", "OS", "Comment", "Command"})
"""Keys whose values may have blanks and equal signs inside."""

Record = dict[str, str]


def _recognise(text: Text) -> float:
    found = _RECORD.search(text.head)
    if found is None:
        return 0.0
    return 0.95 if any(word in text.head for word in _MATCHING[found[1]]) else 0.0


def _records(text: Text) -> tuple[list[Record], set[int]]:
    """Return every record by its keys, and the lines that were used."""
    records: list[Record] = []
    used: set[int] = set()
    for count, raw in enumerate(text.lines, 1):
        line = bare(raw).rstrip()
        if _RECORD.match(line.lstrip()):
            records.append({})
        keys = list(_KEY.finditer(line))
        if not records or not keys:
            continue
        used.add(count)
        if keys[0][1] in _FREE:
            keys = keys[:1]  # it has a line of its own, which may hold anything
        for key, after in zip_longest(keys, keys[1:]):
            value = line[key.end() : after.start() if after is not None else None]
            records[-1].setdefault(key[1], value.strip())
    return [one for one in records if one], used


def _read(text: Text) -> Reading:
    records, used = _records(text)
    if not records:
        rule = "scontrol prints NodeName=, JobId= or PartitionName= records"
        fix = "send the output of scontrol show node"
        raise InputError(Problem(file=text.path, found="no record", rule=rule, fix=fix))
    nodes = [_node(one) for one in records if "NodeName" in one]
    jobs = [_job(one) for one in records if "JobId" in one]
    fields: dict[str, Any] = {
        "nodes": nodes,
        "jobs": jobs,
        "partitions": [one["PartitionName"] for one in records if "PartitionName" in one],
        "gpus": sum(one["gpus"] for one in nodes),
        "states": dict(Counter(one["state"] for one in nodes)),
    }
    return Reading(
        "slurm-scontrol",
        "state" if nodes or not jobs else "jobs",
        tuple(_summary(fields)),
        fields,
        tuple(_warnings(fields)),
        passed_over(text, used, None, "no Key=Value"),
    )


def _node(one: Record) -> dict[str, Any]:
    count, kind = gpus(one.get("Gres", ""))
    states = one.get("State", "UNKNOWN").split("+")
    memory = whole(one.get("RealMemory"))
    return {
        "name": one["NodeName"],
        "state": states[0].rstrip("*"),
        "flags": states[1:],
        "responding": "*" not in states[0],
        "gpus": count,
        "gpu_type": kind,
        "cpus": whole(one.get("CPUTot")),
        "cpus_allocated": whole(one.get("CPUAlloc")),
        "sockets": whole(one.get("Sockets")),
        "memory_bytes": memory * 2**20 if memory is not None else None,
        "load": number(one.get("CPULoad")),
        "features": [word for word in one.get("ActiveFeatures", "").split(",") if word],
        "partitions": [word for word in one.get("Partitions", "").split(",") if word],
        "configured": _tres(one.get("CfgTRES", "")),
        "allocated": _tres(one.get("AllocTRES", "")),
        "reason": one.get("Reason") or None,
        "version": one.get("Version"),
    }


def _job(one: Record) -> dict[str, Any]:
    words = one.get("JOB_GRES") or one.get("TresPerNode") or one.get("TRES", "")
    count, kind = gpus(words.replace("gres:", "").replace("gres/", ""))
    code = exit_code(one.get("ExitCode", ""))
    return {
        "id": one["JobId"],
        "name": one.get("JobName"),
        "state": one.get("JobState"),
        "nodes": whole(one.get("NumNodes", "").partition("-")[0]),
        "node_list": one.get("NodeList") if one.get("NodeList") != "(null)" else None,
        "gpus": count,
        "gpu_type": kind,
        "run_s": duration(one.get("RunTime", "")),
        "limit_s": duration(one.get("TimeLimit", "")),
        "reason": one.get("Reason") if one.get("Reason") != "None" else None,
        "exit_code": code[0] if code else None,
        "tres": _tres(one.get("TRES", "")),
    }


def _tres(words: str) -> dict[str, str]:
    """Return trackable resources by name, values as printed."""
    pairs = (word.partition("=") for word in words.split(",") if "=" in word)
    return {name: value for name, _, value in pairs}


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    nodes, jobs = fields["nodes"], fields["jobs"]
    if nodes:
        states = ", ".join(f"{count} {word}" for word, count in fields["states"].items())
        yield f"{counted(len(nodes), 'node')} with {fields['gpus']} GPUs: {states}"
    if len(nodes) == 1:
        flags = "+".join([nodes[0]["state"], *nodes[0]["flags"]])
        yield f"{nodes[0]['name']}: {flags}, {nodes[0]['gpus']} x {nodes[0]['gpu_type'] or 'GPU'}"
    if jobs:
        yield f"{counted(len(jobs), 'job')} on {sum(one['gpus'] for one in jobs)} GPUs"


def _warnings(fields: dict[str, Any]) -> Iterator[str]:
    for one in fields["nodes"]:
        if "INVALID_REG" in one["flags"]:
            yield f"{one['name']} registered with less than slurm.conf promises: {one['reason']}"
        elif one["reason"]:
            yield f"{one['name']} is {'+'.join([one['state'], *one['flags']])}: {one['reason']}"
        if not one["responding"]:
            yield f"{one['name']} does not respond"
    hidden = [
        one["name"]
        for one in fields["nodes"]
        if one["gpus"] and not any("gpu" in name for name in one["configured"])
    ]
    if hidden:
        yield (
            f"GPUs of {counted(len(hidden), 'node')} are in Gres, not in CfgTRES: accounting "
            "will not see them (AccountingStorageTRES=gres/gpu is missing)"
        )


FORMAT: Final = Format("slurm-scontrol", "state", _recognise, _read)
