"""``fabric check`` and ``fabric diff``: the faults of a cabling, and how two of them differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from artery.catalog import names, optic
from artery.cluster.cabling import NO_TIER, Network
from artery.cluster.cabling.faults import faults
from artery.cluster.cabling.uplinks import Spine, spines
from artery.core.cabling import Cabling, End
from artery.core.finding import Finding, Severity
from artery.errors import ThresholdError, UnknownNameError
from artery.formats.cabling.cablings import read_cabling


@dataclass(frozen=True, slots=True)
class TierSeen:
    """The switches of one tier, 1 being the leaves, and their cables to the tier above."""

    tier: int
    switches: int
    cables_up: int


@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """What a cabling is, and what is wrong with it, errors first."""

    file: str
    format: str
    hosts: int
    cards: int
    switches: int
    cables: int
    tiers: tuple[TierSeen, ...]
    islands: int
    spines: tuple[Spine, ...]
    findings: tuple[Finding, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Moved:
    """An end whose cable goes elsewhere now."""

    end: str
    was: str
    now: str


@dataclass(frozen=True, slots=True)
class DiffAnswer:
    """How the second of two cablings differs from the first, cables as people write them.

    ``same`` counts the cables of both. Where a file says no ports, cables are counted by pair of
    devices.
    """

    files: tuple[str, str]
    same: int
    added: tuple[str, ...]
    removed: tuple[str, ...]
    moved: tuple[Moved, ...]
    devices_added: tuple[str, ...]
    devices_removed: tuple[str, ...]
    warnings: tuple[str, ...]


def fabric_check(path: str) -> CheckAnswer:
    """Return the faults of the cabling in the file at ``path`` (``-``: standard input).

    ``ibnetdiscover``, ``iblinkinfo``, LLDP, a cable plan as CSV, or the topology of Slurm or
    Kubernetes. Raises :class:`artery.errors.InputError` if it is none of them.
    """
    cabling = read_cabling(path)
    network = Network(cabling)
    tiers = [
        TierSeen(tier, len(network.switches(tier)), sum(
            network.above(one).total() for one in network.switches(tier)
        ))
        for tier in range(1, network.tiers + 1)
    ]  # fmt: skip
    unreached = len(network.switches(NO_TIER))
    far = (f"{unreached} switches that no host reaches",) if unreached else ()
    return CheckAnswer(
        file=cabling.file,
        format=cabling.format,
        hosts=sum(one.kind == "host" for one in cabling.devices),
        cards=len({(end.device, end.card) for end in _ends(network)}),
        switches=len(network.tier),
        cables=len(cabling.cables),
        tiers=tuple(tiers),
        islands=len(network.islands),
        spines=spines(network),
        findings=faults(network, _reaches()),
        warnings=(*cabling.warnings, *far),
    )


def check_findings(answer: CheckAnswer, fail_on: str) -> None:
    """Raise :class:`artery.errors.ThresholdError` for a finding as bad as ``fail_on``, or worse."""
    levels = get_args(Severity)
    if fail_on not in levels:
        raise UnknownNameError("level", fail_on, levels)
    worst = levels.index(fail_on)
    bad = sum(levels.index(one.severity) <= worst for one in answer.findings)
    if bad:
        raise ThresholdError(f"{bad} finding(s) at {fail_on} or worse")


def fabric_diff(path: str, other: str) -> DiffAnswer:
    """Return how the cabling in the file ``other`` differs from that in ``path``.

    A cable that ends elsewhere is one that moved. Devices are matched by name. Raises
    :class:`artery.errors.InputError` as :func:`fabric_check` does.
    """
    was, now = Network(read_cabling(path)), Network(read_cabling(other))
    ports = all(_has_ports(one.cabling) for one in (was, now))
    before, after = _pairs(was, ports), _pairs(now, ports)
    gone, new = list((before - after).elements()), list((after - before).elements())
    moved = _moved(gone, new) if ports else []
    for one in moved:
        gone.remove(_pair(one.end, one.was))
        new.remove(_pair(one.end, one.now))
    old_names, new_names = ({one.name for one in net.cabling.devices} for net in (was, now))
    note = () if ports else ("one file says no ports: cables are counted by pair of devices",)
    return DiffAnswer(
        files=(path, other),
        same=(before & after).total(),
        added=tuple(sorted(" - ".join(pair) for pair in new)),
        removed=tuple(sorted(" - ".join(pair) for pair in gone)),
        moved=tuple(moved),
        devices_added=tuple(sorted(new_names - old_names)),
        devices_removed=tuple(sorted(old_names - new_names)),
        warnings=(*was.cabling.warnings, *now.cabling.warnings, *note),
    )


Pair = tuple[str, str]


def _pair(one: str, other: str) -> Pair:
    return (one, other) if one <= other else (other, one)


def _pairs(network: Network, ports: bool) -> Counter[Pair]:
    """Return the cables as pairs of ends, or of devices."""
    return Counter(
        _pair(*(_shown(network, end, ports) for end in (cable.one, cable.other)))
        for cable in network.cabling.cables
    )


def _shown(network: Network, end: End, ports: bool) -> str:
    if not ports:
        return network.name(end.device)
    card = f" {end.card}" if end.card and end.card != end.port else ""
    return f"{network.name(end.device)}{card}[{end.port}]"


def _moved(gone: Sequence[Pair], new: Iterable[Pair]) -> list[Moved]:
    """Return the ends that are on a cable in both, but not with the same other end.

    Every cable that is gone, and every one that is new, is in one of them at most: two that were
    swapped have moved both. Cables that can have gone to one place only come first, and next to
    each those that it leaves one place only.
    """
    there, here = _others(new), _others(gone)
    found: dict[Pair, Moved] = {}
    taken: set[Pair] = set()
    waiting = sorted(gone, key=lambda pair: -len(_ways(pair, there, taken)))
    while waiting:
        pair = waiting.pop()
        ways = [] if pair in found else _ways(pair, there, taken)
        if ways:
            one = found[pair] = ways[0]
            taken.add(_pair(one.end, one.now))
            waiting += [_pair(end, here[end]) for end in (one.end, one.now) if end in here]
    return [found[pair] for pair in gone if pair in found]


def _others(pairs: Iterable[Pair]) -> dict[str, str]:
    """Return the other end of the cable at each end."""
    return {end: other for pair in pairs for end, other in (pair, pair[::-1])}


def _ways(pair: Pair, there: Mapping[str, str], taken: set[Pair]) -> list[Moved]:
    """Return as which moves a cable that is gone can be on one that is new and not ``taken``."""
    return [
        Moved(end, was, there[end])
        for end, was in (pair, pair[::-1])
        if end in there and _pair(end, there[end]) not in taken
    ]


def _has_ports(cabling: Cabling) -> bool:
    return any(cable.one.port for cable in cabling.cables)


def _ends(network: Network) -> Iterable[End]:
    return (end for switch in network.tier for end in network.cards_of(switch))


def _reaches() -> Mapping[str, float]:
    """Return how far each cable or optic of the catalog reaches, in metres."""
    return {name: optic(name).reach.high for name in names("optics")}
