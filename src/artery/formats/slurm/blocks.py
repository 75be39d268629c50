"""Slurm's topologies as readings: trees, and the blocks, rings and tori that have no switches.

``topology.conf`` has ``SwitchName=``, ``BlockName=`` with ``BlockSizes=``, or ``RingName=``;
``topology.yaml`` (which wins where both exist) lists named topologies of one kind each, one of
them the ``cluster_default`` (Slurm's manual pages topology.conf and topology.yaml).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from artery.core.cabling import Cabling
from artery.errors import InputError, Problems
from artery.formats.cabling.logical_tree import blocks
from artery.formats.cabling.reading import fabric_reading
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.slurm.hostlist import expand
from artery.formats.slurm.topology import is_topology, is_yaml, read_cabling, topologies
from artery.formats.syntax.json_text import inside, tables
from artery.formats.syntax.numerals import whole
from artery.formats.text import Text

_ENTRY: Final = re.compile(r"(\w{1,40})\s*=\s*(\S+)")
_KNOWN: Final = re.compile(
    r"(?i)\s*(?:#|(?:Switch|Block|Ring)Name\s*=|BlockSizes\s*=|LinkSpeed\s*=)"
)
KINDS: Final = ("tree", "block", "ring", "torus3d", "flat")


@dataclass(frozen=True, slots=True)
class Group:
    """One block or ring and its nodes."""

    name: str
    nodes: tuple[str, ...]


def _recognise(text: Text) -> float:
    if is_yaml(text):
        kinds = re.search(rf"(?m)^\s+(?:{'|'.join(KINDS)})\s*:", text.head)
        return 0.95 if kinds else 0.4
    return 0.95 if is_topology(text) else 0.0


def _read(text: Text) -> Reading:
    groups, sizes = _of_yaml(text) if is_yaml(text) else _of_conf(text)
    kinds = _kinds(text)
    ignored = () if is_yaml(text) else passed_over(text, (), _KNOWN, "no switch, block or ring")
    if "tree" in kinds or (not groups and not kinds - {"tree"}):
        found = fabric_reading(read_cabling(text), ignored)
        extra = {"topology": "tree", "kinds": sorted(kinds), **_block_fields(groups, sizes)}
        return replace(
            found, fields={**found.fields, **extra}, warnings=(*found.warnings, *_speeds(text))
        )
    fields = {"topology": next(iter(sorted(kinds)), "flat"), "kinds": sorted(kinds)}
    fields |= _block_fields(groups, sizes)
    return Reading(
        "slurm-topology",
        "system",
        tuple(_summary(fields)),
        fields,
        tuple(_warnings(groups, sizes)),
        ignored,
        cabling=_joined(text, groups) if "block" in kinds else None,
    )


def _joined(text: Text, groups: list[Group]) -> Cabling | None:
    return blocks(text.path, "slurm-topology", {one.name: one.nodes for one in groups})


def _of_conf(text: Text) -> tuple[list[Group], list[int]]:
    groups: list[Group] = []
    sizes: list[int] = []
    with Problems() as problems:
        for number, line in enumerate(text.lines, 1):
            found = {
                key.casefold(): word
                for key, word in _ENTRY.findall(line.partition("#")[0][:100_000])
            }
            name = found.get("blockname") or found.get("ringname")
            try:
                if name:
                    groups.append(Group(name, tuple(expand(found.get("nodes", "")))))
            except InputError as error:
                problems.absorb(error.at(file=text.path, line=number, field=name))
            sizes += _sizes(found.get("blocksizes", ""))
    return groups, sizes


def _of_yaml(text: Text) -> tuple[list[Group], list[int]]:
    groups: list[Group] = []
    sizes: list[int] = []
    for topology in topologies(text):
        for kind, key in (("block", "blocks"), ("ring", "rings")):
            for one in tables(inside(topology, kind, key) or []):
                name = str(one.get(kind, ""))
                groups.append(Group(name, _nodes(text, name, one)))
        listed = inside(topology, "block", "block_sizes")
        sizes += (
            [size for one in listed or [] if (size := whole(one))]
            if isinstance(listed, list)
            else []
        )
    return groups, sizes


def _nodes(text: Text, name: str, one: Mapping[str, Any]) -> tuple[str, ...]:
    try:
        return tuple(expand(str(one.get("nodes") or "")))
    except InputError as error:
        raise error.at(file=text.path, field=name) from None


def _sizes(words: str) -> list[int]:
    return [size for word in words.split(",") if (size := whole(word)) and size > 0]


def _kinds(text: Text) -> set[str]:
    if is_yaml(text):
        return {kind for one in topologies(text) for kind in KINDS if kind in one}
    names = {
        word.casefold()
        for word in re.findall(r"(?mi)^[ \t]*(Switch|Block|Ring)Name\s*=", text.content)
    }
    return {{"switch": "tree"}.get(name, name) for name in names}


def _block_fields(groups: list[Group], sizes: list[int]) -> dict[str, Any]:
    if not groups:
        return {}
    return {
        "blocks": [{"name": one.name, "nodes": len(one.nodes)} for one in groups],
        "block_count": len(groups),
        "nodes": len({node for one in groups for node in one.nodes}),
        "nodes_per_block": sorted({len(one.nodes) for one in groups}),
        "block_sizes": sizes,
    }


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    yield f"Slurm topology: {fields['topology']}"
    if fields.get("blocks"):
        per = " or ".join(map(str, fields["nodes_per_block"]))
        yield f"{fields['block_count']} blocks of {per} nodes, {fields['nodes']} nodes in all"
    if fields.get("block_sizes"):
        yield f"jobs are placed in blocks of {', '.join(map(str, fields['block_sizes']))} nodes"


def _warnings(groups: list[Group], sizes: list[int]) -> Iterator[str]:
    lengths = {len(one.nodes) for one in groups}
    if len(lengths) > 1:
        yield f"blocks differ in size ({', '.join(map(str, sorted(lengths)))} nodes)"
    if sizes and lengths and min(sizes) > min(lengths):
        yield f"the smallest of BlockSizes ({min(sizes)}) is more than a block has ({min(lengths)})"
    owner: dict[str, str] = {}
    twice = [
        node for one in groups for node in one.nodes if owner.setdefault(node, one.name) != one.name
    ]
    if twice:
        yield f"{len(twice)} nodes are in several blocks, first {twice[0]}"
    if groups:
        yield "blocks say who shares a fast domain (NVLink), not what joins the blocks"


def _speeds(text: Text) -> Iterator[str]:
    if re.search(r"(?i)\bLinkSpeed\s*=", text.head):
        yield "LinkSpeed has no unit in Slurm and is not used by it; no link rate is taken from it"


FORMAT: Final = Format("slurm-topology", "system", _recognise, _read)
