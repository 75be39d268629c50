"""ASTRA-sim's inputs: the analytical network (YAML), the system layer (JSON), remote memory.

The network gives one entry per dimension: ``topology`` (Ring, Switch, FullyConnected),
``npus_count``, ``bandwidth`` in GB/s per direction and ``latency`` in ns (ASTRA-sim documentation,
analytical network backend).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import Any, Final

from artery.errors import InputError, Problem, Problems
from artery.formats.reading import Format, Reading
from artery.formats.syntax.json_text import json_of, looks_like_json
from artery.formats.syntax.numerals import number, whole
from artery.formats.syntax.yaml_text import yaml_documents
from artery.formats.text import Text
from artery.units import show_rate, show_time

_NETWORK: Final = re.compile(r"(?m)^(topology|npus_count|bandwidth|latency)\s*:")
_SYSTEM: Final = re.compile(r'"(scheduling-policy|(?:all-reduce|all-to-all)-implementation)"\s*:')
_MEMORY: Final = re.compile(r'"memory-type"\s*:\s*"\w*MEMORY')
KINDS: Final = ("Ring", "Switch", "FullyConnected")
_IMPLEMENTATION: Final = "-implementation"


def _recognise(text: Text) -> float:
    if looks_like_json(text):
        return 0.9 if _SYSTEM.search(text.head) or _MEMORY.search(text.head) else 0.0
    names = set(_NETWORK.findall(text.head))
    return 0.95 if {"topology", "npus_count"} <= names else 0.0


def _read(text: Text) -> Reading:
    if not looks_like_json(text):
        return _network(text)
    table = json_of(text)
    if not isinstance(table, dict):
        rule = "a system or memory configuration is one table"
        raise InputError(Problem(file=text.path, found="a list", rule=rule, fix="send the file"))
    return _memory(table) if "memory-type" in table else _system(table)


def _network(text: Text) -> Reading:
    documents = [one for one in yaml_documents(text) if isinstance(one, dict)]
    table = documents[0] if documents else {}
    with Problems() as problems:
        kinds = [str(one) for one in _list(table, "topology")]
        for one in kinds:
            if one not in KINDS:
                rule = f"must be one of {', '.join(KINDS)}"
                problems.add(_problem(text, "topology", f'"{one}"', rule, "name the topology"))
        counts = _numbers(text, table, "npus_count", problems)
        bandwidths = _numbers(text, table, "bandwidth", problems)
        latencies = _numbers(text, table, "latency", problems)
        for name, values in (
            ("npus_count", counts),
            ("bandwidth", bandwidths),
            ("latency", latencies),
        ):
            if len(values) != len(kinds):
                rule = f"one value for each of the {len(kinds)} dimensions"
                problems.add(_problem(text, name, f"{len(values)} values", rule, "give them all"))
    sized = list(zip(kinds, counts, bandwidths, latencies, strict=True))
    dimensions = [
        {"topology": kind, "npus": int(count), "bandwidth_bytes_per_s": bandwidth * 1e9,
         "latency_s": latency / 1e9}
        for kind, count, bandwidth, latency in sized
    ]  # fmt: skip
    fields = {"part": "network", "npus": int(prod(counts)), "dimensions": dimensions}
    summary = tuple(
        f"{kind} of {count:.0f} NPUs, {show_rate(bandwidth * 1e9)} per direction, "
        f"{show_time(latency / 1e9)}"
        for kind, count, bandwidth, latency in sized
    )
    return Reading("astra-sim", "system", summary, fields, tuple(_doubts(kinds)))


def _doubts(kinds: list[str]) -> Iterator[str]:
    if "Switch" in kinds:
        yield (
            "ASTRA-sim pays a switch's latency twice (in and out), so files give half of the real "
            "latency from chip to chip: double it"
        )
    yield "older ASTRA-sim versions take a GB/s as 2^30 B/s, 7 % more than is read here"


def _list(table: dict[str, Any], name: str) -> list[Any]:
    value = table.get(name)
    return value if isinstance(value, list) else [] if value is None else [value]


def _numbers(text: Text, table: dict[str, Any], name: str, problems: Problems) -> list[float]:
    """Return the values of ``name``; what is no positive number is noted and taken as 1."""
    found = []
    told: set[str] = set()
    for one in _list(table, name):
        value = whole(one) if name == "npus_count" else number(one)
        if value is None or value <= 0 or (name == "npus_count" and value > 10**6):
            rule = "must be a positive number"
            if f"{one}" not in told:  # once, however many dimensions have it
                problems.add(_problem(text, name, f'"{one}"', rule, "fill in the measured value"))
            told.add(f"{one}")
        found.append(float(value or 1))
    return found


def _problem(text: Text, name: str, found: str, rule: str, fix: str) -> Problem:
    lines = enumerate(text.lines, 1)
    line = next((at for at, words in lines if words.startswith(f"{name}:")), None)
    return Problem(file=text.path, line=line, field=name, found=found, rule=rule, fix=fix)


def _system(table: dict[str, Any]) -> Reading:
    algorithms = {
        name.removesuffix(_IMPLEMENTATION): [str(one) for one in _list(table, name)]
        for name in table
        if name.endswith(_IMPLEMENTATION)
    }
    bandwidth, peak = number(table.get("local-mem-bw")), number(table.get("peak-perf"))
    fields = {
        "part": "system",
        "algorithms": algorithms,
        "chunks": whole(table.get("preferred-dataset-splits")),
        "active_chunks_per_dimension": whole(table.get("active-chunks-per-dimension")),
        "scheduling": table.get("scheduling-policy"),
        "endpoint_delay_s": (number(table.get("endpoint-delay")) or 0.0) * 1e-9,
        "optimisation": table.get("collective-optimization"),
        "memory_bandwidth_bytes_per_s": bandwidth * 1e9 if bandwidth is not None else None,
        "peak_flop_per_s": peak * 1e12 if peak is not None else None,
        "roofline": bool(table.get("roofline-enabled")),
    }
    used = ", ".join(f"{name} {'+'.join(how)}" for name, how in algorithms.items())
    summary = (f"collectives: {used}", f"{fields['chunks']} chunks, {fields['scheduling']}")
    off = () if fields["roofline"] else ("the roofline is off: compute times come from the trace",)
    return Reading("astra-sim", "system", summary, fields, off)


def _memory(table: dict[str, Any]) -> Reading:
    kind = str(table["memory-type"])
    fields = {"part": "remote-memory", "memory_type": kind}
    fields |= {key: value for key, value in table.items() if key != "memory-type"}
    return Reading("astra-sim", "system", (f"remote memory: {kind}",), fields)


FORMAT: Final = Format("astra-sim", "system", _recognise, _read)
