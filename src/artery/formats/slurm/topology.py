"""Slurm's ``topology.conf`` and ``topology.yaml``: which switch has which nodes and switches.

It names no ports and no counts of cables, so every pair is one cable. Blocks, rings and tori have
no switches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from artery.core.cabling import Cable, Cabling, Device, End
from artery.errors import InputError, Problem, Problems
from artery.formats.slurm.hostlist import expand
from artery.formats.syntax.yaml_text import yaml_documents
from artery.formats.text import Text

_ENTRY = re.compile(r"(\w+)\s*=\s*(\S+)")


@dataclass(frozen=True, slots=True)
class SwitchEntry:
    """One switch: its ``nodes`` and the ``switches`` below it, as host lists; ``line`` from 1."""

    name: str
    nodes: str
    switches: str
    line: int | None


def read_cabling(text: Text) -> Cabling:
    """Return the cabling of a ``topology.conf`` or ``topology.yaml``.

    Raises :class:`artery.errors.InputError` with every line that makes no sense.
    """
    entries = list(_yaml(text) if is_yaml(text) else _conf(text))
    if not entries:
        rule = "a tree names its switches; blocks, rings and tori have none"
        fix = "give ibnetdiscover or a cable plan for what lies between"
        raise InputError(Problem(file=text.path, found="no switch", rule=rule, fix=fix))
    entries = _own(entries)
    devices: dict[str, Device] = {one.name: Device(one.name, one.name, "switch") for one in entries}
    cables: list[Cable] = []
    with Problems() as problems:
        for one in entries:
            try:
                cables += _cables(one, devices)
            except InputError as error:
                problems.absorb(error.at(file=text.path, line=one.line))
    return Cabling(text.path, "slurm-topology", tuple(devices.values()), tuple(cables))


def _own(entries: list[SwitchEntry]) -> list[SwitchEntry]:
    """Return the switches with the nodes on themselves.

    ``scontrol show topology`` lists under every switch all nodes below it.
    """
    listed = {one.nodes for one in entries if one.nodes and one.switches}
    if not listed:
        return entries
    leaves = {node for one in entries if not one.switches for node in _expanded(one.nodes)}
    return [
        replace(one, nodes="") if one.switches and set(_expanded(one.nodes)) <= leaves else one
        for one in entries
    ]


def _expanded(nodes: str) -> list[str]:
    """Return the nodes of a host list; none if it is broken, which is said elsewhere."""
    try:
        return expand(nodes)
    except InputError:
        return []


def is_yaml(text: Text) -> bool:
    """Whether it is the YAML form: a list of named topologies."""
    return re.search(r"(?m)^[ \t]*(?:-[ \t]*)?topology\s*:", text.head) is not None


def is_topology(text: Text) -> bool:
    """Whether the text is one of the two."""
    return (
        is_yaml(text)
        or re.search(r"(?mi)^[ \t]*(Switch|Block|Ring)Name\s*=", text.head) is not None
    )


def _cables(one: SwitchEntry, devices: dict[str, Device]) -> Iterator[Cable]:
    """Yield the cables of one switch, noting its hosts in ``devices``."""
    for below in expand(one.switches):
        if below not in devices:
            raise InputError(
                Problem(
                    field=one.name,
                    found=f'switch "{below}"',
                    rule="has no line of its own",
                    fix=f"add SwitchName={below} with its nodes",
                )
            )
        yield Cable(End(below), End(one.name), line=one.line)
    for node in expand(one.nodes):
        devices.setdefault(node, Device(node, node, "host"))
        yield Cable(End(node), End(one.name), line=one.line)


def _conf(text: Text) -> Iterator[SwitchEntry]:
    for number, line in enumerate(text.lines, 1):
        found = {key.casefold(): value for key, value in _ENTRY.findall(line.partition("#")[0])}
        if "switchname" in found:
            for name in expand(found["switchname"]):
                yield SwitchEntry(name, found.get("nodes", ""), found.get("switches", ""), number)


def _yaml(text: Text) -> Iterator[SwitchEntry]:
    for topology in topologies(text):
        for one in _switches(topology.get("tree")):
            children = one.get("children", one.get("switches", ""))
            yield SwitchEntry(str(one["switch"]), str(one.get("nodes", "")), str(children), None)


def topologies(text: Text) -> list[Mapping[str, Any]]:
    """Return the named topologies of a ``topology.yaml``."""
    loaded = [one for document in yaml_documents(text) for one in (
        document if isinstance(document, list) else [document])]  # fmt: skip
    return [one for one in loaded if isinstance(one, Mapping)]


def _switches(tree: object) -> Iterable[Mapping[str, Any]]:
    listed = tree.get("switches") if isinstance(tree, Mapping) else None
    return [one for one in listed or () if isinstance(one, Mapping) and "switch" in one]
