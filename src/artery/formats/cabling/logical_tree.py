"""A tree of switches that a scheduler was told: who is under whom, without ports and rates.

Every line is one cable here; how many it stands for is decided where a system is made of it
(:mod:`artery.cluster.cabling.as_built`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from artery.core.cabling import Cable, Cabling, Device, End

BETWEEN: Final = "between blocks"
"""The switch that stands for whatever joins blocks."""


def tree(
    path: str,
    format_: str,
    nodes: Mapping[str, Iterable[str]],
    above: Iterable[tuple[str, str]],
) -> Cabling | None:
    """Return the cabling of hosts under switches: ``nodes`` by switch, ``above`` lower and upper.

    ``None`` if there are no hosts.
    """
    hosts: dict[str, str] = {}
    for switch, names in nodes.items():
        for name in names:
            hosts.setdefault(name, switch)
    if not hosts:
        return None
    pairs = list(dict.fromkeys(above))
    switches = dict.fromkeys([*hosts.values(), *(name for pair in pairs for name in pair)])
    devices = [Device(f"switch {one}", one, "switch") for one in switches]
    devices += [Device(f"host {one}", one, "host") for one in hosts]
    cables = [Cable(End(f"host {host}"), End(f"switch {on}")) for host, on in hosts.items()]
    cables += [Cable(End(f"switch {low}"), End(f"switch {up}")) for low, up in pairs]
    return Cabling(path, format_, tuple(devices), tuple(cables))


def blocks(path: str, format_: str, nodes: Mapping[str, Iterable[str]]) -> Cabling | None:
    """Return the cabling of blocks that one switch joins; ``None`` if there are no hosts."""
    inside = {name: list(names) for name, names in nodes.items()}
    above = [(name, BETWEEN) for name in inside] if len(inside) > 1 else []
    return tree(path, format_, inside, above)
