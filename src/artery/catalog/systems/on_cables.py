"""A system from the cables between its hosts, and the name of a system for what a host is.

A fabric file tells switches, cables and rates; it does not tell what is inside a host. The node of
a system of the catalog (or of a file of ours) does, and the class of its network cards gives
latency and efficiency to the cables whose rate the file says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import ceil
from typing import Final

from artery.catalog.links import link as link_of
from artery.catalog.loader import names
from artery.catalog.overrides import ORIGIN, under
from artery.catalog.systems import chip_and_links, table_of
from artery.catalog.systems.build import build
from artery.catalog.systems.parts import dragonfly, fat_tree
from artery.catalog.systems.schema import SystemTable
from artery.catalog.systems.spec import MOST_CHIPS, Spec
from artery.cluster.cabling import Network
from artery.cluster.cabling.as_built import AsBuilt, Meant
from artery.cluster.dragonfly import Dragonfly
from artery.cluster.fat_tree import FatTree
from artery.core.cabling import Cabling
from artery.core.link import Link
from artery.core.system import System
from artery.errors import InputError, Problem
from artery.units import show_line_rate

HOPS: Final = {"infiniband": 0.45e-6, "roce": 1e-6}
"""Seconds of one more switch: InfiniBand 3.7 - 2.8 us and RoCE 5.6 - 3.6 us over two switches more
(DeepSeek-V3, ISCA 2025, Table 5)."""

KINDS: Final = {
    "ibnetdiscover": "infiniband",
    "iblinkinfo": "infiniband",
    "lldp": "roce",
}
"""The kind of network that a format is from; other formats do not say it."""

FIRST: Final = {"infiniband": "ib-ndr", "roce": "roce-400g"}
"""The class whose latency and efficiency stand in where the node has no cards of that kind."""

TAPER: Final = "fabric.taper"
"""The override that says how much more bandwidth is below a switch than above it."""


def on_cables(
    cabling: Cabling, node: str, overrides: Sequence[str] = (), chips: int | None = None
) -> System:
    """Return the system whose hosts are nodes of system ``node``, on the network of ``cabling``.

    ``overrides`` are laid over ``node``; ``fabric.taper=2`` says what a file without ports leaves
    open. ``chips`` are how many to take (else all hosts of the largest part). The system's warnings
    tell what was left out or taken for granted. Raises :class:`artery.errors.InputError`.
    """
    chip_overrides, own = under("chip", overrides)
    taper, own = _taper(own)
    note, table, provenance = table_of(node, own)
    chip, links = chip_and_links(table, chip_overrides)
    if table.torus is not None:
        raise _bad(cabling, f"{node}, a torus of chips", "its chips need no hosts with cards",
                   "--node dgx-h100")  # fmt: skip
    cards = _cards_of(table, links, KINDS.get(cabling.format))
    as_built = AsBuilt(Network(cabling), replace(cards.meant, taper=taper))
    hosts = _hosts(cabling, as_built)
    per_node = table.node.chips
    most = len(hosts) * per_node
    if chips is not None and not 1 <= chips <= min(most, MOST_CHIPS):
        rule = f"{len(hosts)} hosts with {per_node} chips each hold {most:,}"
        raise _bad(cabling, f"{chips:,} chips", rule, f"{cabling.file}:{most}")
    built = build(table, chip, links, Spec(cabling.file, chips=chips or most), as_built.fabric)
    taken = _taken(as_built, table, ceil((chips or most) / per_node))
    warnings = (
        *((note,) if note else ()), *as_built.notes, *cards.notes, *taken, *built.warnings
    )  # fmt: skip
    return replace(built, name=cabling.file, provenance=provenance, warnings=warnings)


def _hosts(cabling: Cabling, as_built: AsBuilt) -> tuple[str, ...]:
    """Return the nodes in their order; raises ``InputError`` if no host is on a switch."""
    net = as_built.network
    if not any(net.cards_of(switch) for switch in net.tier):
        raise _bad(cabling, "no host on any switch", "a system has hosts on its switches",
                   "send the file of the whole network, with its hosts")  # fmt: skip
    return as_built.hosts


def _taken(as_built: AsBuilt, table: SystemTable, nodes: int) -> Iterator[str]:
    """Yield what the numbers of the hosts mean."""
    net = as_built.network
    first, last = (net.name(as_built.hosts[place]) for place in (0, nodes - 1))
    if nodes < len(as_built.hosts):
        yield f"the first {nodes} of {len(as_built.hosts)} hosts are taken: {first} to {last}"
    if table.node.kind == "nvl72":
        yield "hosts are put into NVLink domains in their order under the switches"


def _taper(overrides: Sequence[str]) -> tuple[float, list[str]]:
    """Return the taper among the overrides (1 if it is not there), and the others."""
    taper, rest = 1.0, []
    for text in overrides:
        path, _, value = text.partition("=")
        if path.strip() != TAPER:
            rest.append(text)
            continue
        try:
            taper = float(value)
        except ValueError:
            taper = 0.0
        if not 0.01 <= taper <= 100:
            rule = "bandwidth below a switch over that above it, from 0.01 to 100"
            raise InputError(Problem(file=ORIGIN, field=TAPER, found=f'"{value}"', rule=rule,
                                     fix=f"{TAPER}=2"))  # fmt: skip
    return taper, rest


@dataclass(frozen=True, slots=True)
class _Cards:
    """What the node's own network says of cards and switches, and what was put in its place."""

    meant: Meant
    notes: tuple[str, ...]


def _cards_of(table: SystemTable, links: dict[str, Link], kind: str | None) -> _Cards:
    fabric: FatTree | Dragonfly | None = None
    if table.fabric is not None:
        fabric = fat_tree(table.fabric, links)
    elif table.dragonfly is not None:
        fabric = dragonfly(table.dragonfly, links)
    if fabric is not None and kind in (None, fabric.card.kind):
        meant = Meant(
            link=partial(_at_rate, fabric.card),
            cards=fabric.cards,
            taper=1.0,
            latency=fabric.latency,
            hop=fabric.hop,
            routing=fabric.routing,
            reduction=fabric.reduction,
        )
        return _Cards(meant, ())
    kind = kind or "infiniband"
    card, hop = link_of(FIRST[kind]), HOPS[kind]
    what = "has no network cards" if fabric is None else f"has cards of {fabric.card.kind}"
    count = f", {table.node.chips} cards a node" if fabric is None else ""
    note = (
        f"{table.name} {what}: latency and efficiency as {card.name}, {hop * 1e6:g} us a switch, "
        f"assumed{count}"
    )
    cards = table.node.chips if fabric is None else fabric.cards
    meant = Meant(partial(_at_rate, card), cards, 1.0, card.latency + hop, hop)
    return _Cards(meant, (note,))


def _at_rate(card: Link, rate: float | None) -> Link:
    """Return the class of the card's kind with that rate; the card's own, as fast, if none has."""
    if rate is None or rate == card.bandwidth:
        return card
    found = _classes(card.kind).get(round(rate))
    return found or replace(card, name=f"{card.kind} {show_line_rate(rate)}", bandwidth=rate)


@cache
def _classes(kind: str) -> dict[int, Link]:
    """Return the classes of one kind by their rate in B/s."""
    every = (link_of(name) for name in names("links"))
    return {round(one.bandwidth): one for one in every if one.kind == kind}


def _bad(cabling: Cabling, found: str, rule: str, fix: str) -> InputError:
    return InputError(Problem(file=cabling.file, found=found, rule=rule, fix=fix))
