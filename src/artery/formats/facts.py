"""A facts file: what somebody who has only words knows, in four sections of YAML.

::

    hardware:                   # each section is a text, or a table with the text under "words"
      chip: h100-sxm            # a name of the catalog, or a product name
      gpus_per_node: 8
      nodes: 2
      fabric: infiniband        # infiniband, roce, ethernet, efa
      nics_per_node: 8
      nic_rate: 400 Gb/s        # of one card
      words: two servers of a cloud, virtual machines
    software:
      nccl: 2.21.5
      gpu_direct_rdma: false
    workload:
      collective: all_reduce
      size: 8G                  # where a measurement below does not say its own
    measured:                   # a text, a table, or a list of tables
      - {size: 1G, busbw: 196 GB/s}
      - {step_time: 1.9 s, mfu: 31%}

Every key is in :data:`FACTS` or :data:`QUANTITIES`; another one is an error. Nothing is taken
from the words but what the rules of ``diagnose`` look for in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from artery.errors import InputError, Problem, Problems, UnknownNameError
from artery.formats.gpu_names import chip_of
from artery.formats.json_text import tables
from artery.formats.numerals import number
from artery.formats.reading import Format, Reading
from artery.formats.text import Text
from artery.formats.yaml_text import yaml_documents
from artery.units import parse, show_bytes, show_line_rate, show_rate, size

SECTIONS: Final = ("hardware", "software", "workload", "measured")

FACTS: Final[Mapping[str, Mapping[str, str]]] = {
    "hardware": {
        "system": "text", "chip": "chip", "gpus_per_node": "count", "nodes": "count",
        "ranks": "count", "ranks_per_node": "count", "fabric": "text", "nics_per_node": "count",
        "nic_rate": "link", "cards_used": "count", "nvlinks": "count", "acs": "flag",
        "virtual_machine": "flag", "peers": "flag", "all_pairs_far": "flag",
        "uplinks_missing": "count", "host": "text", "cpus": "count", "memory_per_gpu": "bytes",
    },
    "software": {
        "nccl": "text", "library": "text", "framework": "text", "driver": "text",
        "transport": "text", "gpu_direct_rdma": "flag", "nvls_supported": "flag",
        "nvls_used": "flag", "nvls_disabled": "flag", "p2p_disabled": "flag",
        "ib_disabled": "flag", "pinned_algorithm": "flag", "algorithm": "text",
        "protocol": "text", "zero": "count", "tp": "count", "pp": "count", "dp": "count",
        "cp": "count", "ep": "count", "optimizer": "text", "dtype": "text", "timed_out": "flag",
        "ranks_behind": "count",
    },
    "workload": {
        "collective": "text", "size": "size", "model": "text", "parameters": "amount",
        "sequence": "count", "micro_batch": "count", "global_batch": "count", "layers": "count",
        "hidden": "count", "task": "text",
    },
}  # fmt: skip
"""The facts of each section, and what their values are."""

QUANTITIES: Final[Mapping[str, str]] = {
    "busbw": "rate", "algbw": "rate", "step_time": "time", "flops_per_gpu": "flops", "mfu": "share",
    "tokens_per_s": "amount", "samples_per_s": "amount", "memory": "bytes", "latency": "time",
    "speedup": "amount", "network_rate": "rate",
}  # fmt: skip
CONDITIONS: Final = {"collective": "text", "size": "size", "ranks": "count", "nodes": "count",
                     "note": "text", "average": "flag", "wrong": "count"}  # fmt: skip

_UNITS: Final = {"rate": "B/s", "time": "s", "flops": "FLOP/s", "share": "1", "bytes": "B"}
_SECTION: Final = re.compile(r"(?m)^(hardware|software|workload|measured)\s*:")
COLLECTIVES: Final = frozenset(
    {"all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "reduce", "sendrecv"}
)

Value = str | float | bool


def _recognise(text: Text) -> float:
    return {0: 0.0, 1: 0.0, 2: 0.7}.get(len(set(_SECTION.findall(text.head))), 0.9)


def _read(text: Text) -> Reading:
    documents = [one for one in yaml_documents(text) if isinstance(one, dict)]
    table = documents[0] if documents else {}
    facts: dict[str, Value] = {}
    words: dict[str, str] = {}
    with Problems() as problems:
        for name, section in table.items():
            try:
                if name not in SECTIONS:
                    raise UnknownNameError("section", name, SECTIONS)
                _section(name, section, facts, words)
            except InputError as error:
                problems.absorb(_placed(error, text, name))
        rows = list(_rows(table.get("measured"), text, problems))
    fields = _fields(facts, words, rows)
    return Reading(
        "facts", "state", tuple(_summary(fields))[:5], fields, tuple(_warnings(fields)),
    )  # fmt: skip


def _placed(error: InputError, text: Text, key: str) -> InputError:
    """Return ``error`` with the file, and the line on which ``key`` stands."""
    lines = enumerate(text.lines, 1)
    at = next((count for count, line in lines if line.strip().startswith(f"{key}:")), None)
    return error.at(file=text.path, line=at, field=key)


def _section(name: str, section: object, facts: dict[str, Value], words: dict[str, str]) -> None:
    if isinstance(section, str):
        words[name] = section
    if name == "measured" or not isinstance(section, Mapping):
        return
    with Problems() as problems:
        for key, value in section.items():
            if key == "words":
                words[name] = str(value)
                continue
            try:
                if key not in FACTS[name]:
                    raise UnknownNameError("fact", key, [*FACTS[name], "words"])
                facts[key] = _value(value, FACTS[name][key])
            except InputError as error:
                problems.absorb(error.at(field=f"{name}.{key}"))


def _value(value: object, kind: str) -> Value:
    """Return a value of one of the kinds in :data:`FACTS`; raises ``InputError``."""
    if kind == "flag":
        if not isinstance(value, bool):
            raise _wrong(value, "must be true or false", "write true or false")
        return value
    if kind in {"count", "amount"}:
        found = number(value)
        if found is None or found < 0:
            raise _wrong(value, "must be a number", "write a number")
        return found
    if kind == "size":
        return float(size(str(value)))
    if kind == "link":
        return parse(value, "B/s", directed=True, positive=True)
    if kind in _UNITS:
        return parse(value, _UNITS[kind])
    if not isinstance(value, (str, int, float)):
        raise _wrong(value, "must be a text", "write a name")
    said = str(value).strip()
    return (chip_of(said) or said.casefold()) if kind == "chip" else said.casefold()


def _wrong(value: object, rule: str, fix: str) -> InputError:
    return InputError(Problem(found=f'"{value}"'[:80], rule=rule, fix=fix))


def _rows(measured: object, text: Text, problems: Problems) -> Iterator[dict[str, Value]]:
    """Yield the measurements as tables of values in SI."""
    kinds = {**QUANTITIES, **CONDITIONS}
    for row in tables(measured):
        found: dict[str, Value] = {}
        for key, value in row.items():
            try:
                if key == "words":
                    continue
                if key not in kinds:
                    raise UnknownNameError("measurement", key, [*kinds, "words"])
                found[key] = _value(value, kinds[key])
            except InputError as error:
                problems.absorb(_placed(error.at(field=f"measured.{key}"), text, key))
        if found:
            yield found


def _fields(
    facts: dict[str, Value], words: dict[str, str], rows: list[dict[str, Value]]
) -> dict[str, Any]:
    derived = dict(facts)
    nodes, each = facts.get("nodes"), facts.get("gpus_per_node")
    if "ranks" not in facts and isinstance(nodes, float) and isinstance(each, float):
        derived["ranks"] = nodes * each
    wrong = [row for row in rows if row.get("wrong")]
    refusals = [
        {"reason": "wrong_results", "text": f"{row['wrong']:.0f} wrong values: data are corrupted",
         "fix": "find the corruption first; no bandwidth counts before"}
        for row in wrong
    ]  # fmt: skip
    return {
        "facts": derived,
        "words": words,
        "measured": rows,
        "curves": list(_curves(derived, rows)),
        "refusals": refusals,
        "missing_facts": list(_missing(derived, rows)),
    }


def _curves(facts: Mapping[str, Value], rows: list[dict[str, Value]]) -> Iterator[dict[str, Any]]:
    """Yield bandwidths by size, those of one collective and one number of ranks together."""
    groups: dict[tuple[str | None, int | None, int | None], list[dict[str, float]]] = {}
    for row in rows:
        rate, bytes_ = row.get("busbw"), row.get("size", facts.get("size"))
        if not isinstance(rate, float) or not isinstance(bytes_, float):
            continue
        which = row.get("collective", facts.get("collective"))
        key = (
            str(which) if which else None,
            _whole(row.get("ranks", facts.get("ranks"))),
            _whole(row.get("nodes", facts.get("nodes"))),
        )
        groups.setdefault(key, []).append({"size_bytes": bytes_, "busbw_bytes_per_s": rate})
    for (collective, ranks, nodes), points in groups.items():
        points.sort(key=lambda point: point["size_bytes"])
        yield {"collective": collective, "ranks": ranks, "nodes": nodes, "points": points}


def _whole(value: Value | None) -> int | None:
    return int(value) if isinstance(value, float) and value.is_integer() else None


def _missing(facts: Mapping[str, Value], rows: list[dict[str, Value]]) -> Iterator[str]:
    if "chip" not in facts and "system" not in facts:
        yield "chip: which GPUs these are"
    bandwidths = [row for row in rows if "busbw" in row]
    if bandwidths and not all("size" in row or "size" in facts for row in bandwidths):
        yield "size: of which message the bandwidth is"
    if bandwidths and "collective" not in facts and not all("collective" in r for r in bandwidths):
        yield "collective: which operation the bandwidth is of"
    if float(facts.get("nodes", 1.0) or 1.0) > 1 and not {"nic_rate", "system"} & set(facts):
        yield "nic_rate and nics_per_node: what joins the nodes"


def _summary(fields: Mapping[str, Any]) -> Iterator[str]:
    facts = fields["facts"]
    first = list(facts.items())[:8]
    if first:
        yield "facts: " + ", ".join(f"{key} {_shown(key, value)}" for key, value in first)
    for curve in fields["curves"][:2]:
        last = curve["points"][-1]
        yield (
            f"{curve['collective'] or 'a collective'} of {show_bytes(last['size_bytes'])}: busbw "
            f"{show_rate(last['busbw_bytes_per_s'])}"
        )
    for name, said in fields["words"].items():
        yield f"{name}: {said.strip()[:100]}"


def _shown(key: str, value: Value) -> str:
    if isinstance(value, float) and key in {"size", "memory_per_gpu"}:
        return show_bytes(value)
    if isinstance(value, float) and key == "nic_rate":
        return show_line_rate(value)
    return f"{value:g}" if isinstance(value, float) and not isinstance(value, bool) else str(value)


def _warnings(fields: Mapping[str, Any]) -> Iterator[str]:
    if any(row.get("average") for row in fields["measured"]):
        yield "an average over all sizes is not the peak: small sizes pull it down"
    unknown = {
        str(one["collective"]) for one in fields["curves"] if one["collective"]
    } - COLLECTIVES
    if unknown:
        yield f"not a collective that is known: {', '.join(sorted(unknown))}"
    for fact in fields["missing_facts"]:
        yield f"not said: {fact}"


FORMAT: Final = Format("facts", "state", _recognise, _read)
