"""Cablings made up for tests: regular networks, with the links named here left out or changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from artery.core.cabling import Cable, Cabling, Device, End

GBPS = 1e9 / 8

LOST = {
    "spine003": 10, "spine009": 7, "spine001": 2, "spine004": 2, "spine005": 1, "spine006": 1,
    "spine007": 2, "spine008": 1,
}  # fmt: skip
"""Links gone by spine: 26 in all, uneven; spine002 keeps all of its own."""


@dataclass(frozen=True, slots=True)
class Wire:
    """One cable by names: device, port and card at both ends (the card of a host)."""

    one: str
    one_port: int
    other: str
    other_port: int
    card: str = ""
    rate: float = 400 * GBPS
    length: float | None = None
    part: str | None = None


def leaf_spine(
    *, leaves: int = 31, spines: int = 9, per_pair: int = 2, hosts: int = 18, cards: int = 1
) -> list[Wire]:
    """Hosts on leaves (rails if there are several cards), every leaf to every spine."""
    wires = []
    for leaf in range(leaves):
        for host in range(hosts):
            group, rail = divmod(leaf, cards)
            number = (group if cards > 1 else leaf) * hosts + host + 1
            card = f"mlx5_{rail}"
            wires.append(Wire(f"node{number:03d}", 1, f"leaf{leaf + 1:03d}", host + 1, card))
        for spine in range(spines):
            for link in range(per_pair):
                port = hosts + spine * per_pair + link + 1
                there = leaf * per_pair + link + 1
                wires.append(Wire(f"leaf{leaf + 1:03d}", port, f"spine{spine + 1:03d}", there))
    return wires


def broken() -> list[Wire]:
    """31 leaves and 9 spines, 558 links between them of which 26 are gone."""
    gone = dict(LOST)
    kept = []
    for wire in leaf_spine():
        # From each leaf at most one link to a spine goes, so that no pair is cut off.
        if gone.get(wire.other, 0) and wire.other_port % 2 == 0:
            gone[wire.other] -= 1
        else:
            kept.append(wire)
    return kept


def cabling(wires: Iterable[Wire]) -> Cabling:
    """Return the wires as the noun."""
    devices: dict[str, Device] = {}
    cables = []
    for wire in wires:
        for name in (wire.one, wire.other):
            kind = "host" if name.startswith("node") else "switch"
            devices.setdefault(name, Device(name, name, kind))  # type: ignore[arg-type]
        cables.append(
            Cable(
                End(wire.one, str(wire.one_port), wire.card),
                End(wire.other, str(wire.other_port)),
                wire.rate,
                wire.length,
                wire.part,
            )
        )
    return Cabling("made-up", "cable-plan", tuple(devices.values()), tuple(cables))


def changed(wires: Iterable[Wire], which: Callable[[Wire], bool], **change: object) -> list[Wire]:
    """Return the wires with those for which ``which`` holds changed."""
    return [replace(one, **change) if which(one) else one for one in wires]  # type: ignore[arg-type]


def as_plan(wires: Iterable[Wire]) -> str:
    """Return the wires as a cable plan."""
    lines = ["a_device,a_port,a_card,b_device,b_port,rate,length,part"]
    for one in wires:
        length = "" if one.length is None else f"{one.length:g} m"
        rate = f"{one.rate / GBPS:g} Gb/s"
        lines.append(
            f"{one.one},{one.one_port},{one.card},{one.other},{one.other_port},{rate},{length},"
            f"{one.part or ''}"
        )
    return "\n".join(lines) + "\n"


def as_ibnetdiscover(wires: Iterable[Wire], *, nameless: int = 0) -> str:
    """Return the wires as ``ibnetdiscover`` prints them; the first hosts without their names."""
    blocks: dict[str, list[str]] = {}
    wires = list(wires)
    guids = {name: f"{number:016x}" for number, name in enumerate(_names(wires), 0xA0001)}
    hidden = set(sorted(name for name in guids if name.startswith("node"))[:nameless])
    for wire in wires:
        one, other = (_key(wire.one, wire.card), wire.one_port), (wire.other, wire.other_port)
        for (near, port), (far, remote) in ((one, other), (other, one)):
            letter = "H" if far.startswith("node") else "S"
            said = _said(far, hidden)
            blocks.setdefault(near, []).append(
                f'[{port}]\t"{letter}-{guids[far]}"[{remote}] \t\t# "{said}" lid 7 4xNDR'
            )
    text = ["#", "# Topology file: made up", "#", ""]
    for name, lines in blocks.items():
        kind, letter = ("Ca", "H") if name.startswith("node") else ("Switch", "S")
        text += [
            "vendid=0x2c9", f"{'ca' if kind == 'Ca' else 'switch'}guid=0x{guids[name].lstrip('0')}",
            f'{kind}\t{len(lines)} "{letter}-{guids[name]}"\t\t# "{_said(name, hidden)}"'
            + (" base port 0 lid 7 lmc 0" if kind == "Switch" else ""),
            *lines, "",
        ]  # fmt: skip
    return "\n".join(text)


def _key(name: str, card: str) -> str:
    return f"{name} {card}" if card else name


def _names(wires: Iterable[Wire]) -> Iterator[str]:
    names = {}
    for wire in wires:
        names[_key(wire.one, wire.card)] = names[wire.other] = True
    return iter(names)


def _said(name: str, hidden: set[str]) -> str:
    return "MT4129 ConnectX7   Mellanox Technologies" if name in hidden else name
