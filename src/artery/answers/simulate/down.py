"""What is down in a simulated network, by name: the links and switches that ``simulate`` drew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from artery.cluster.routing import network
from artery.core.system import System
from artery.simulator.loads import vertex
from artery.simulator.network.wires import failed_switches
from artery.simulator.scenario import Scenario

DrawnFrom = Literal["between switches", "all links", "by name"]


@dataclass(frozen=True, slots=True)
class Down:
    """``links`` that are down of ``of`` that could be, all by name in ``names``; ``switches``.

    ``drawn_from`` says which links could fail: those between switches, all where there are none
    such, or those that were named. ``leaves``: no switch stands above the leaves here, so leaves
    were drawn. Links of those switches are not counted.
    """

    links: int
    of: int
    drawn_from: DrawnFrom
    names: tuple[str, ...]
    switches: tuple[str, ...]
    leaves: bool


def down(system: System, scenario: Scenario) -> Down | None:
    """Return what is down under ``scenario``, ``None`` if nothing is."""
    if not scenario.failed and not scenario.failed_switches:
        return None
    whole = network(system)
    dead = np.flatnonzero(~whole.fail(scenario.failed, scenario.seed).up[: whole.cables])
    drawn, leaves = failed_switches(whole, scenario)
    ends, groups, between = whole.edges(), whole.groups, len(whole.between)
    named = not isinstance(scenario.failed, float)
    return Down(
        links=len(dead),
        of=between or whole.cables,
        drawn_from="by name" if named else "between switches" if between else "all links",
        names=tuple(
            f"{vertex(groups, int(ends.source[link]))} -> {vertex(groups, int(ends.target[link]))}"
            for link in dead.tolist()
        ),
        switches=tuple(vertex(groups, one) for one in drawn),
        leaves=leaves,
    )
