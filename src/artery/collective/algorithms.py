"""All algorithms by name: what they can do, where, and which lines of the library they use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from artery.collective.exchange import grouped, send_receive
from artery.collective.groups import Groups
from artery.collective.halving import halving_doubling, pat
from artery.collective.hierarchical import hierarchical
from artery.collective.in_switch import LEAST, collnet, nvls, nvls_tree
from artery.collective.ring import ring
from artery.collective.torus import torus
from artery.collective.tree import tree
from artery.collective.work import Work
from artery.core.arrays import Flags
from artery.core.pricing import Collective

Lines = Literal["ring", "exchange", "in_switch", "across"]

_REDUCING: frozenset[Collective] = frozenset({"all_reduce", "all_gather", "reduce_scatter"})
_CHAINED: frozenset[Collective] = frozenset({"broadcast", "reduce"})


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One algorithm.

    ``work`` returns what it asks of the links, ``allowed`` for which groups it exists (given
    the smallest group that the platform reduces in the switch), ``lines`` names the constants
    of the library that apply, ``title`` is its name in tables and ``in_network`` says that the
    switches between nodes add.
    """

    title: str
    collectives: frozenset[Collective]
    work: Callable[[Groups, Collective], Work]
    allowed: Callable[[Groups, int], Flags]
    lines: Lines = "ring"
    in_network: bool = False

    @property
    def by_switches(self) -> bool:
        """Whether switches add, inside nodes or between them."""
        return self.lines in {"in_switch", "across"}


def _anywhere(groups: Groups, smallest: int) -> Flags:  # noqa: ARG001 - one shape for all
    return np.ones_like(groups.torus)


def _flat(groups: Groups, smallest: int) -> Flags:  # noqa: ARG001
    return ~groups.torus


def _across(groups: Groups, smallest: int) -> Flags:  # noqa: ARG001
    even = np.isclose(groups.fewest * groups.nodes, groups.ranks)
    return np.asarray(~groups.torus & (groups.nodes > 1) & even)


def _one_per_node(groups: Groups, smallest: int) -> Flags:  # noqa: ARG001
    return np.asarray(groups.fullest == 1)


def _in_node_switch(groups: Groups, smallest: int) -> Flags:
    return np.asarray(groups.in_switch & (groups.nodes == 1) & (groups.fullest >= smallest))


def _in_every_node_switch(groups: Groups, smallest: int) -> Flags:
    able = groups.in_switch & (groups.nodes > 1)
    return np.asarray(able & (groups.fewest >= min(smallest, LEAST)))


def _in_network(groups: Groups, smallest: int) -> Flags:  # noqa: ARG001
    return groups.sharp


def _on_torus(groups: Groups, smallest: int) -> Flags:  # noqa: ARG001
    return groups.torus


ALGORITHMS: dict[str, Algorithm] = {
    "ring": Algorithm("Ring", _REDUCING | _CHAINED, ring, _flat),
    "tree": Algorithm("Tree", frozenset({"all_reduce"}), tree, _flat),
    "nvls": Algorithm("NVLS", _REDUCING, nvls, _in_node_switch, "in_switch"),
    "nvls_tree": Algorithm(
        "NVLSTree",
        frozenset({"all_reduce"}),
        nvls_tree,
        _in_every_node_switch,
        "across",
    ),
    "collnet": Algorithm("CollNet", _REDUCING, collnet, _in_network, "in_switch", in_network=True),
    "pat": Algorithm("PAT", frozenset({"all_gather", "reduce_scatter"}), pat, _one_per_node),
    "hierarchical": Algorithm("Hierarchical", _REDUCING, hierarchical, _across),
    "halving_doubling": Algorithm("HalvingDoubling", _REDUCING, halving_doubling, _flat),
    "grouped": Algorithm("Grouped", frozenset({"alltoall"}), grouped, _flat, "exchange"),
    "sendrecv": Algorithm(
        "SendRecv",
        frozenset({"sendrecv"}),
        send_receive,
        _anywhere,
        "exchange",
    ),
    "torus": Algorithm("Torus", _REDUCING | _CHAINED | {"alltoall"}, torus, _on_torus),
}


def serving(collective: Collective) -> tuple[str, ...]:
    """Return the names of all algorithms that do ``collective``."""
    return tuple(name for name, item in ALGORITHMS.items() if collective in item.collectives)
