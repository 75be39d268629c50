"""Another transport than the system's own: what the library then takes, and what a node sends."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from artery.collective import Library
from artery.collective.groups import inner_tiers
from artery.core.system import System
from artery.simulator.scenario import protocol

KINDS: Final = {
    "infiniband": "infiniband",
    "roce": "roce",
    "roce-dcqcn": "roce",
    "efa": "efa",
    "tcp": "ethernet",
}
"""The kind of network whose constants a library has for each transport; tcp is the kernel's."""

Change = Literal["other_transport", "same_transport"]


_CONSTANTS: Final = ("hop", "fraction", "pipelined_hop", "cap", "shared", "message")
_SENDING: Final = ("efficiency", "segment", "window", "mark")


def over(system: System, transport: str) -> System:
    """Return ``system`` with the network between nodes as a library meets it over ``transport``.

    Its links stay as fast and as long; the library's constants are those of that kind of network,
    and switches add only for InfiniBand.
    """
    kind, first = KINDS[transport], inner_tiers(system)
    tiers = []
    for index, tier in enumerate(system.tiers):
        if index < first or tier.link.kind == kind:
            tiers.append(tier)
            continue
        adds = tier.reduction if kind == "infiniband" else None
        link = replace(tier.link, kind=kind, name=f"over {transport}")
        tiers.append(replace(tier, link=link, reduction=adds))
    return replace(system, tiers=tuple(tiers))


def share_sent(system: System, library: Library) -> float:
    """Return the share of its cards' rate that a node sends: the kernel's TCP has a limit.

    ``cap`` and ``shared`` of the library's network, as the closed form counts them.
    """
    first = inner_tiers(system)
    if first >= len(system.tiers):
        return 1.0
    tier, network = system.tiers[first], library.network(system.tiers[first].link)
    several = network.shared if system.chips_per_node > 1 else 1.0
    if network.cap is None:
        return several
    whole = system.chips_per_node * tier.bandwidth * tier.link.efficiency
    return min(1.0, network.cap / whole) * several


def changed(
    systems: tuple[System, System],
    library: Library,
    transports: tuple[str, str],
    *,
    spread: bool,
    adding: bool,
) -> Change | None:
    """Return whether the second of two systems, over its transport, differs from the first.

    ``None`` where both transports are one. How they treat messages out of order counts if those
    are ``spread`` over paths, and whether switches add where ``adding`` by them is in question; how
    full buffers stop senders is told elsewhere.
    """
    if transports[0] == transports[1]:
        return None
    first = inner_tiers(systems[0])
    if first >= len(systems[0].tiers):
        return "same_transport"
    mine, theirs = (library.network(one.tiers[first].link) for one in systems)
    one, two = map(protocol, transports)
    alike = (
        all(getattr(mine, name) == getattr(theirs, name) for name in _CONSTANTS)
        and all(getattr(one, name) == getattr(two, name) for name in _SENDING)
        and (one.reordered == two.reordered or not spread)
    )
    reduces = [[tier.reduction for tier in system.tiers] for system in systems]
    if adding and reduces[0] != reduces[1]:
        alike = False
    return "same_transport" if alike else "other_transport"
