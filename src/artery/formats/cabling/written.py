"""Writes a cabling for other tools: a cable plan, Slurm's tree, Graphviz, htsim's fat tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from artery.core.cabling import Cable, Cabling
from artery.formats.cabling.cable_plan import write_plan
from artery.formats.slurm.hostlist import compress

GIGABIT: Final = 1e9 / 8
"""B/s of one Gb/s."""


def as_plan(cabling: Cabling) -> str:
    """Return the cables as CSV, one a line; :mod:`artery.formats.cabling.cable_plan` reads it."""
    kinds = {device.identity: device.kind for device in cabling.devices}
    return write_plan(_row(cable, kinds) for cable in cabling.cables)


def _row(cable: Cable, kinds: Mapping[str, str]) -> dict[str, str]:
    row = {"part": cable.part or ""}
    for side, end in (("a", cable.one), ("b", cable.other)):
        row[f"{side}_kind"] = kinds[end.device]
        row[f"{side}_device"] = end.device
        row[f"{side}_card"] = end.card
        row[f"{side}_port"] = end.port
    if cable.rate is not None:
        row["rate"] = f"{cable.rate / GIGABIT:g} Gb/s"
    if cable.length is not None:
        row["length"] = f"{cable.length:g} m"
    return row


def as_dot(cabling: Cabling) -> str:
    """Return an undirected Graphviz graph; cables between the same two devices are one edge."""
    pairs = Counter((cable.one.device, cable.other.device, cable.rate) for cable in cabling.cables)
    lines = [f"graph {_quoted(cabling.file)} {{", "  rankdir=BT;"]
    for device in cabling.devices:
        shape = "box" if device.kind == "switch" else "ellipse"
        lines.append(f"  {_quoted(device.identity)} [shape={shape}];")
    for (one, other, rate), count in pairs.items():
        said = f"{count}" if rate is None else f"{count} x {rate / GIGABIT:g} Gb/s"
        lines.append(f"  {_quoted(one)} -- {_quoted(other)} [label={_quoted(said)}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


Parts = list[list[set[str]]]
"""By tier from the leaves up: the parts that the switches up to that tier join."""


def as_slurm(parts: Parts, is_host: Callable[[str], bool]) -> str:
    """Return a ``topology.conf``: one tree, whose switches stand for what is joined at a tier.

    Slurm wants every node under exactly one leaf, so the leaves of a rail group are one switch
    there, and so are the spines of a pod. A tier that joins no more than the one below is left
    out.
    """
    lines = [
        "# topology.conf for topology/tree",
        "# A switch here stands for all switches that join the same nodes (the leaves of a rail",
        "# group, the spines of a pod).",
    ]
    below: list[tuple[str, set[str]]] = []
    number = 0
    for tier in parts:
        hosts = [{one for one in part if is_host(one)} for part in tier]
        hosts = sorted((part for part in hosts if part), key=min)
        if below and [part for _, part in below] == hosts:
            continue
        number += 1
        width = len(str(len(hosts)))
        names = [f"tier{number}-{index + 1:0{width}d}" for index in range(len(hosts))]
        for name, part in zip(names, hosts, strict=True):
            inside = [one for one, members in below if members <= part]
            said = f"Switches={compress(inside)}" if below else f"Nodes={compress(sorted(part))}"
            lines.append(f"SwitchName={name} {said}")
        below = list(zip(names, hosts, strict=True))
    return "\n".join(lines) + "\n"


def as_htsim(tiers: list[HtsimTier], cards: int, pod_cards: int) -> str:
    """Return a topology file of csg-htsim (Broadcom, BSD-2) for a regular fat tree.

    ``cards`` are its nodes, since its hosts have one port each; those of one leaf are numbered
    together. The keys are those that ``FatTreeTopology::load`` reads.
    """
    lines = [
        "# A node is one network card; the cards of one leaf have consecutive numbers.",
        f"Nodes {cards}",
        f"Tiers {len(tiers)}",
        f"Podsize {pod_cards}",
    ]
    for number, tier in enumerate(tiers):
        lines += ["", f"Tier {number}", *tier.lines()]
    return "\n".join(lines) + "\n"


class HtsimTier:
    """One tier of a regular tree; ``bundle`` cables to each switch below, ``latency`` in s.

    ``down`` and ``up`` are ports of one switch, ``rate`` B/s of a cable downwards.
    """

    def __init__(self, *, down: int, up: int, bundle: int, rate: float, latency: float) -> None:
        self.down = down
        self.up = up
        self.bundle = bundle
        self.rate = rate
        self.latency = latency

    def lines(self) -> Iterator[str]:
        """Yield the lines of the tier."""
        yield f"Downlink_speed_Gbps {self.rate / GIGABIT:.0f}"
        yield f"Radix_Down {self.down}"
        if self.up:
            yield f"Radix_Up {self.up}"
            yield f"Oversubscribed {self.down // self.up}"
        yield f"Downlink_Latency_ns {max(1, round(self.latency * 1e9))}"
        yield "Switch_Latency_ns 0"
        yield f"Bundle {self.bundle}"
