"""Which hosts of a cabling are the nodes of a system, and the network cards of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from artery.cluster.cabling import Network
from artery.cluster.cabling.natural import natural

NAMED = 3
"""Hosts that a note names."""


@dataclass(frozen=True, slots=True)
class Card:
    """A network card, or one port of it: the leaf that it hangs on, and B/s per direction."""

    leaf: str
    rate: float


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes by identity, each with ``per_node`` cards (``None``: one that has no cable).

    ``island`` is the part of the network they are in. ``plain`` says that the file knows no ports:
    its one line per host stands for all cards. ``notes`` tell what was left out.
    """

    cards: Mapping[str, tuple[Card | None, ...]]
    per_node: int
    island: frozenset[str]
    plain: bool
    notes: tuple[str, ...]


def nodes_of(network: Network, cards: int, rate: float) -> Nodes:
    """Return the nodes of the largest part of ``network``.

    ``cards`` is how many a node is meant to have: hosts with that many are nodes if there are any,
    else those with the usual number; hosts with fewer than half of it are something else.
    ``rate`` stands in where the file says none, B/s.
    """
    found = _cards(network, rate)
    island = max(network.islands, key=lambda part: sum(one in found for one in part))
    inside = {host: row for host, row in found.items() if host in island}
    plain = not any(
        end.port for cable in network.cabling.cables for end in (cable.one, cable.other)
    )
    counts = Counter(map(len, inside.values()))
    if plain:
        rows = {host: tuple(row.values())[:1] * cards for host, row in inside.items()}
        kept: dict[str, tuple[Card | None, ...]] = dict(rows)
        many = cards
    else:
        usual = max(counts, key=lambda count: (counts[count], count))
        many = cards if cards in counts else usual
        kept = {host: _seated(row, many) for host, row in inside.items() if 2 * len(row) >= many}
    notes = (*_apart(network, found, island), *_left_out(network, inside, kept, many))
    said = f"{many} network card{'' if many == 1 else 's'}"
    more = () if many == cards else (f"hosts have {said} in the file, not {cards}",)
    return Nodes(kept, many, frozenset(island), plain, (*notes, *more))


Row = dict[tuple[str, str], Card]


def _cards(network: Network, rate: float) -> dict[str, Row]:
    """Return the cards of every host by card and port."""
    found: dict[str, Row] = {}
    for cable in network.cabling.cables:
        for near, far in ((cable.one, cable.other), (cable.other, cable.one)):
            if network.is_host(near.device) and not network.is_host(far.device):
                row = found.setdefault(near.device, {})
                key = (near.card, near.port)
                if key == ("", ""):
                    key = ("", str(len(row)))
                row.setdefault(key, Card(far.device, cable.rate or rate))
    return {
        host: dict(sorted(row.items(), key=lambda item: tuple(map(natural, item[0]))))
        for host, row in found.items()
    }


def _seated(row: Row, many: int) -> tuple[Card | None, ...]:
    """Return the first cards of a host, filled up with missing ones."""
    cards = list(row.values())[:many]
    return (*cards, *[None] * (many - len(cards)))


def _apart(network: Network, found: Mapping[str, Row], island: set[str]) -> Iterator[str]:
    others = sorted((network.name(host) for host in found if host not in island), key=natural)
    if others:
        yield (
            f"no cable joins {len(others)} hosts ({_some(others)}) to the others: left out, a job "
            "cannot span both"
        )


def _left_out(
    network: Network,
    inside: Mapping[str, Row],
    kept: Mapping[str, tuple[Card | None, ...]],
    many: int,
) -> Iterator[str]:
    others = sorted((network.name(host) for host in inside if host not in kept), key=natural)
    if others:
        yield (
            f"{len(others)} hosts have fewer than half of {many} network cards ({_some(others)}): "
            "taken as no nodes"
        )
    lacking = sorted((network.name(host) for host, row in kept.items() if None in row), key=natural)
    if lacking:
        gone = sum(row.count(None) for row in kept.values())
        yield (
            f"{gone} network cards of {len(lacking)} nodes are not in the file ({_some(lacking)}): "
            "played as missing"
        )
    more = sum(len(row) > many for row in inside.values())
    if more:
        yield f"{more} hosts have more than {many} network cards: the first {many} are taken"


def _some(names: list[str]) -> str:
    return ", ".join(names[:NAMED]) + (", ..." if len(names) > NAMED else "")
