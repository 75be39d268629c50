"""Planned work and the capacity that a provider grants, as told on the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from artery.errors import InputError, Problem, Problems
from artery.formats.recognise import read
from artery.simulator.fleet.setting import Maintenance
from artery.units import parse

_NODES: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


def planned(texts: Sequence[str], nodes: int) -> tuple[Maintenance, ...]:
    """Return the planned work of ``START:DURATION:NODES``, for example ``2d:4h:0-31``.

    Raises ``InputError`` with all that is wrong.
    """
    found: list[Maintenance] = []
    with Problems() as problems:
        for text in texts:
            try:
                found.append(_planned(text, nodes))
            except InputError as error:
                problems.absorb(error.at(field="maintenance"))
    return tuple(sorted(found))


def _planned(text: str, nodes: int) -> Maintenance:
    parts = text.split(":")
    which = _NODES.fullmatch(parts[-1]) if len(parts) == 3 else None
    if which is None:
        rule = "is START:DURATION:NODES"
        raise InputError(Problem(found=f'"{text}"', rule=rule, fix="2d:4h:0-31"))
    first = int(which[1])
    last = first if which[2] is None else int(which[2])
    if not first <= last < nodes:
        rule = f"nodes are numbered 0 to {nodes - 1}, the first one first"
        raise InputError(Problem(found=parts[2], rule=rule, fix=f"0-{nodes - 1}"))
    return Maintenance(parse(parts[0], "s"), parse(parts[1], "s", positive=True), first, last)


def granted(path: str | None, nodes: int) -> tuple[tuple[float, int], ...]:
    """Return when how many nodes are granted, by a spot trace; an instance is a node.

    Raises ``InputError`` if the file is none, or has more instances than there are nodes.
    """
    if path is None:
        return ()
    fields = _capacity(path)
    if fields["most_instances"] > nodes:
        found, fix = f"up to {fields['most_instances']} instances", "a larger system"
        rule = f"an instance is a node, of which there are {nodes}"
        raise InputError(Problem(file=path, found=found, rule=rule, fix=fix))
    return tuple((step["time_s"], step["instances"]) for step in fields["capacity"])


def _capacity(path: str) -> dict[str, Any]:
    """What a trace of spot instances says. Raises ``InputError`` for another file."""
    fields: dict[str, Any] = dict(read(path).fields)
    if fields.get("table") != "capacity":
        rule = "must be a trace of spot instances"
        raise InputError(Problem(file=path, found="something else", rule=rule, fix="time,count"))
    return fields


def losses(path: str | None) -> float:
    """Return how many times a second each instance of a spot trace is lost; 0 without one.

    Raises ``InputError`` if the file is none.
    """
    return 0.0 if path is None else loss_rate(_capacity(path))


def loss_rate(fields: Mapping[str, Any]) -> float:
    """Return instances lost over instance-seconds granted, of a spot trace's ``fields``."""
    present = float(fields["mean_instances"]) * float(fields["duration_s"])
    return fields["lost"] / present if present else 0.0
