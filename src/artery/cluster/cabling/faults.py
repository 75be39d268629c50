"""Faults of a cabling: what is cut off, miswired, slow, alone, unnamed or too long."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from artery.cluster.cabling import Network
from artery.cluster.cabling.uplinks import cut, missing_uplinks, oversubscribed, unequal_uplinks
from artery.core.cabling import Cable, End
from artery.core.finding import Finding
from artery.units import show_line_rate

RAIL_SHARE: Final = 0.6
"""Assumed: a leaf is one rail's if that much of its cards have one number in their hosts."""

ALIKE: Final = 2 / 3
"""Assumed: hosts are meant alike where so many of those with names alike have as many cables."""

Figures = dict[str, int | float | str]

_ORDER: Final = {"error": 0, "warning": 1, "note": 2}


def faults(network: Network, reach: Mapping[str, float]) -> tuple[Finding, ...]:
    """Return every fault found, errors first.

    ``reach`` gives metres by the name of a cable or optic, for cables whose length and part the
    file says. A file without ports names who is under whom, but counts no cables.
    """
    found = [*islands(network), *sideways(network), *unnamed(network)]
    if any(cable.one.port for cable in network.cabling.cables):
        found += [
            *ports_used_twice(network),
            *miswired_rails(network),
            *uncabled_cards(network),
            *missing_uplinks(network),
            *unequal_uplinks(network),
            *slow_links(network),
            *one_sided(network),
            *lone_switches(network),
            *too_long(network, reach),
            *single_homed(network),
            *oversubscribed(network),
        ]
    return tuple(sorted(found, key=lambda finding: _ORDER[finding.severity]))


def islands(network: Network) -> Iterator[Finding]:
    """Yield an error if hosts lie on parts that no cable joins."""
    parts = [part for part in network.islands if any(network.is_host(one) for one in part)]
    if len(parts) < 2:
        return
    lines = []
    for part in parts:
        hosts = sorted((one for one in part if network.is_host(one)), key=network.name)
        tops = sorted(
            (one for one in part if not network.is_host(one)),
            key=lambda one: (-network.tier[one], network.name(one)),
        )
        top = f", up to {network.name(tops[0])}" if tops else ""
        lines.append(f"{len(hosts)} hosts: {network.name(hosts[0])} ...{top}")
    yield Finding("islands", "error", figures={"parts": len(parts)}, evidence=cut(lines))


def ports_used_twice(network: Network) -> Iterator[Finding]:
    """Yield an error for every port with more than one cable."""
    used: defaultdict[tuple[str, str, str], list[Cable]] = defaultdict(list)
    for cable in network.cabling.cables:
        for end in (cable.one, cable.other):
            if end.port:
                used[end.device, end.card, end.port].append(cable)
    twice = {key: cables for key, cables in used.items() if len(cables) > 1}
    if twice:
        ends = [network.shown(End(device, port, card)) for device, card, port in twice]
        lines = [network.cable(cable) for cables in twice.values() for cable in cables]
        yield Finding("port_twice", "error", tuple(ends), {"ports": len(twice)}, cut(lines))


def miswired_rails(network: Network) -> Iterator[Finding]:
    """Yield an error for cards that sit on the leaf of another rail.

    A card's rail is its rank among the names of its host's cards. Nothing is said unless most
    leaves carry one rail each.
    """
    leaves = network.switches(1)
    rail = _rails(network)
    usual: dict[str, int] = {}
    for leaf in leaves:
        counts = Counter(rail[end.device, end.card] for end in network.cards_of(leaf))
        if counts:
            first, count = counts.most_common(1)[0]
            if count > RAIL_SHARE * counts.total():
                usual[leaf] = first
    if len(set(usual.values())) < 2 or len(usual) < 0.8 * len(leaves):
        return
    wrong = [
        (end, leaf)
        for leaf, expected in usual.items()
        for end in network.cards_of(leaf)
        if rail[end.device, end.card] != expected
    ]
    if wrong:
        lines = [
            f"{network.shown(end)} is on {network.name(leaf)}, the leaf of rail {usual[leaf]}; "
            f"it is rail {rail[end.device, end.card]} of its host"
            for end, leaf in wrong
        ]
        hosts = tuple(dict.fromkeys(network.name(end.device) for end, _ in wrong))
        rails = len(set(usual.values()))
        figures = {"cards": len(wrong), "hosts": len(hosts), "rails": rails}
        yield Finding("miswired_rail", "error", hosts, figures, cut(lines))


def uncabled_cards(network: Network) -> Iterator[Finding]:
    """Yield an error if hosts have fewer cables than most hosts whose names differ in digits alone.

    A host without any cable is in no file, so it cannot be missed. Which card lacks one is said
    where the hosts name their cards alike.
    """
    cables: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for leaf in network.tier:
        for end in network.cards_of(leaf):
            cables[end.device][end.card] += 1
    kinds: defaultdict[str, list[str]] = defaultdict(list)
    for host in sorted(cables, key=network.name):
        if network.devices[host].named:
            kinds[re.sub(r"[0-9]+", "#", network.name(host))].append(host)
    lacking: list[tuple[str, Counter[str]]] = []
    for hosts in kinds.values():
        totals = Counter(cables[host].total() for host in hosts)
        usual, count = max(totals.items(), key=lambda item: (item[1], item[0]))
        if count < ALIKE * len(hosts):
            continue
        sets = Counter(
            frozenset(cables[host].items()) for host in hosts if cables[host].total() == usual
        )
        meant = Counter(dict(sets.most_common(1)[0][0]))
        lacking += [(host, meant) for host in hosts if cables[host].total() < usual]
    if lacking:
        lines = [_lack(network, host, cables[host], meant) for host, meant in lacking]
        figures: Figures = {
            "hosts": len(lacking),
            "of": len(cables),
            "missing": sum(meant.total() - cables[host].total() for host, meant in lacking),
        }
        where = tuple(network.name(host) for host, _ in lacking)
        yield Finding("uncabled_card", "error", where, figures, cut(lines))


def _lack(network: Network, host: str, there: Counter[str], meant: Counter[str]) -> str:
    """Say how many cables a host has of those meant, and which card lacks one."""
    gone = meant - there
    said = f"{network.name(host)} has {there.total()} of {meant.total()} cables"
    if there - meant:  # its cards have names of their own
        return said
    rank = {card: place for place, card in enumerate(sorted(meant, key=_natural))}
    names = [f"{card} (rail {rank[card]})" for card in sorted(gone, key=_natural) if card]
    if not names:
        return said
    return f"{said}: {'too few' if set(gone) & set(there) else 'none'} at {', '.join(names)}"


def _rails(network: Network) -> Mapping[tuple[str, str], int]:
    """Return the rank of every card among the cards of its host, in natural order of names."""
    cards: defaultdict[str, set[str]] = defaultdict(set)
    for leaf in network.tier:
        for end in network.cards_of(leaf):
            cards[end.device].add(end.card)
    every = sorted({card for names in cards.values() for card in names}, key=_natural)
    common = {card: index for index, card in enumerate(every)}
    # Hosts name their cards alike; then a card that is missing must not shift the others.
    alike = len(every) <= 2 * max((len(names) for names in cards.values()), default=0)
    return {
        (host, card): common[card] if alike else sorted(names, key=_natural).index(card)
        for host, names in cards.items()
        for card in names
    }


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts ``mlx5_10`` after ``mlx5_9``."""
    return [
        (int(part[:18]), "") if part.isdecimal() else (-1, part)
        for part in re.split(r"([0-9]+)", name)
    ]


def slow_links(network: Network) -> Iterator[Finding]:
    """Yield an error for cables slower than most of their kind.

    Cables between switches are compared with those between the same two tiers, cables of hosts
    with those on the same leaf: storage may have its own, slower ones.
    """
    kinds: defaultdict[tuple[int | str, int], list[Cable]] = defaultdict(list)
    for cable in network.cabling.cables:
        if cable.rate is not None:
            kinds[_kind(network, cable)].append(cable)
    slow: list[tuple[Cable, float]] = []
    for cables in kinds.values():
        rates = Counter(cable.rate or 0.0 for cable in cables)
        usual = max(rates, key=lambda rate: (rates[rate], rate))
        slow += [(cable, usual) for cable in cables if (cable.rate or 0.0) < usual]
    if slow:
        lines = [
            f"{network.cable(cable)}: {show_line_rate(cable.rate or 0)} of {show_line_rate(usual)}"
            for cable, usual in slow
        ]
        where = tuple(dict.fromkeys(network.name(cable.one.device) for cable, _ in slow))
        figures = {"links": len(slow), "of": sum(map(len, kinds.values()))}
        yield Finding("slow_link", "error", where, figures, cut(lines))


def _kind(network: Network, cable: Cable) -> tuple[int | str, int]:
    """Return what a cable is compared with: a leaf's host cables, or two tiers."""
    ends = (cable.one.device, cable.other.device)
    hosts = [one for one in ends if network.is_host(one)]
    if hosts:
        return next((one for one in ends if one not in hosts), hosts[0]), 0
    low, high = sorted(network.tier[one] for one in ends)
    return low, high


def one_sided(network: Network) -> Iterator[Finding]:
    """Yield a warning for cables that only one of their ends reports."""
    cables = [cable for cable in network.cabling.cables if cable.sides == 1]
    if cables:
        lines = cut([network.cable(cable) for cable in cables])
        yield Finding("one_sided", "warning", figures={"links": len(cables)}, evidence=lines)


def lone_switches(network: Network) -> Iterator[Finding]:
    """Yield a warning for each tier with one switch, or leaves that hang on one spine."""
    for tier in range(1, network.tiers):
        upper = network.switches(tier + 1)
        hanging = [
            (one, next(iter(network.above(one))))
            for one in network.switches(tier)
            if len(network.above(one)) == 1
        ]
        if not hanging:
            continue
        tops = Counter(top for _, top in hanging)
        lines = [f"{network.name(one)} hangs on {network.name(top)} alone" for one, top in hanging]
        yield Finding(
            "single_point",
            "warning",
            tuple(network.name(top) for top, _ in tops.most_common()),
            {"switches": len(hanging), "of": len(network.switches(tier)), "upper": len(upper)},
            cut(lines),
        )


def too_long(network: Network, reach: Mapping[str, float]) -> Iterator[Finding]:
    """Yield an error for cables longer than their part reaches."""
    lines = []
    for cable in network.cabling.cables:
        limit = reach.get(cable.part or "")
        if limit is not None and cable.length is not None and cable.length > limit:
            said = f"{cable.length:g} m of {cable.part}, which reaches {limit:g} m"
            lines.append(f"{network.cable(cable)}: {said}")
    if lines:
        yield Finding("too_long", "error", figures={"links": len(lines)}, evidence=cut(lines))


def sideways(network: Network) -> Iterator[Finding]:
    """Yield a warning for cables between switches of one tier, or a switch and itself."""
    lines = [
        network.cable(cable)
        for cable in network.cabling.cables
        if network.tier.get(cable.one.device, -1) == network.tier.get(cable.other.device, -2)
    ]
    if lines:
        yield Finding("sideways", "warning", figures={"links": len(lines)}, evidence=cut(lines))


def single_homed(network: Network) -> Iterator[Finding]:
    """Yield a note if every card of a host hangs on one leaf: losing it cuts the host off."""
    leaves: defaultdict[str, set[str]] = defaultdict(set)
    for switch in network.tier:
        for end in network.cards_of(switch):
            leaves[end.device].add(switch)
    lone = sorted((host for host, on in leaves.items() if len(on) == 1), key=network.name)
    if lone:
        most = Counter(next(iter(leaves[host])) for host in lone).most_common(1)[0]
        figures: Figures = {
            "hosts": len(lone),
            "of": len(leaves),
            "most": most[1],
            "leaf": network.name(most[0]),
        }
        yield Finding("single_homed", "note", (), figures)


def unnamed(network: Network) -> Iterator[Finding]:
    """Yield a warning for devices without a name of their own."""
    nameless = {one.identity for one in network.cabling.devices if not one.named}
    if not nameless:
        return
    lines = [
        network.cable(cable)
        for cable in network.cabling.cables
        if {cable.one.device, cable.other.device} & nameless
    ]
    figures = {"devices": len(nameless), "of": len(network.devices)}
    yield Finding("unnamed", "warning", figures=figures, evidence=cut(lines))
