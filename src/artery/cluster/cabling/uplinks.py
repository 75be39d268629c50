"""Up-links that are missing or unequal: what a regular network would have, and what is there.

Between two tiers, the number of cables that most pairs of switches have is what was meant; what a
pair lacks of it is missing. Where most pairs have none (a network that is sparse on purpose), the
switches' totals are compared instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from artery.cluster.cabling import Network
from artery.core.finding import Finding

MOST_LINES = 40
"""Assumed: more lines of evidence than anyone reads."""


@dataclass(frozen=True, slots=True)
class Spine:
    """The cables of one upper switch to the tier below: there, meant and missing."""

    identity: str
    name: str
    links: int
    expected: int | None
    missing: int


def spines(network: Network) -> tuple[Spine, ...]:
    """Return every switch above the leaves with its cables to the tier below it."""
    found = []
    for tier in range(1, network.tiers):
        for pod in network.pods(tier):
            lower, upper = _sides(network, pod, tier)
            meant = _meant(network, lower, upper)
            for one in upper:
                counts = [network.links[one][low] for low in lower]
                missing = sum(max(0, (meant or 0) - count) for count in counts)
                expected = None if meant is None else meant * len(lower)
                found.append(Spine(one, network.name(one), sum(counts), expected, missing))
    return tuple(found)


def missing_uplinks(network: Network) -> Iterator[Finding]:
    """Yield one finding for the links that are missing between two tiers of a part."""
    for tier in range(1, network.tiers):
        for pod in network.pods(tier):
            lower, upper = _sides(network, pod, tier)
            meant = _meant(network, lower, upper)
            if meant is not None:
                yield from _missing(network, lower, upper, meant)


def _sides(network: Network, pod: set[str], tier: int) -> tuple[list[str], list[str]]:
    """Return the switches of ``tier`` in a part, and those above, by name."""
    named = sorted(pod, key=lambda one: (network.name(one), one))
    lower = [one for one in named if network.tier[one] == tier]
    return lower, [one for one in named if network.tier[one] != tier]


def _meant(network: Network, lower: list[str], upper: list[str]) -> int | None:
    """Return how many cables most pairs have; ``None`` where that is none or nothing is regular."""
    counts = Counter(network.links[one][other] for one in lower for other in upper)
    if not counts:
        return None
    most = max(counts, key=lambda cables: (counts[cables], cables))
    return most if most and counts[most] * 2 > counts.total() else None


def _missing(network: Network, lower: list[str], upper: list[str], meant: int) -> Iterator[Finding]:
    pairs = {(low, up): network.links[low][up] for low in lower for up in upper}
    lacking = {pair: meant - count for pair, count in pairs.items() if count < meant}
    if not lacking:
        return
    by_spine: Counter[str] = Counter()
    by_leaf: Counter[str] = Counter()
    for (low, up), count in lacking.items():
        by_spine[up] += count
        by_leaf[low] += count
    worst, lost = by_leaf.most_common(1)[0]
    designed, gone = meant * len(pairs), sum(lacking.values())
    lines = [
        f"{network.name(low)} - {network.name(up)}: {meant - count} of {meant}"
        for (low, up), count in lacking.items()
    ]
    yield Finding(
        cause="missing_uplinks",
        severity="error",
        where=tuple(network.name(up) for up, _ in by_spine.most_common()),
        figures={
            "designed": designed,
            "present": designed - gone,
            "missing": gone,
            "lower": len(lower),
            "upper": len(upper),
            "per_pair": meant,
            "spines": ", ".join(f"{network.name(up)} -{n}" for up, n in by_spine.most_common()),
            "worst": network.name(worst),
            "worst_links": meant * len(upper) - lost,
            "worst_designed": meant * len(upper),
        },
        evidence=cut(lines),
    )


def unequal_uplinks(network: Network) -> Iterator[Finding]:
    """Yield a finding for switches of a tier with fewer cables upwards than most have."""
    for tier in range(1, network.tiers):
        totals = {one: network.above(one).total() for one in network.switches(tier)}
        counts = Counter(totals.values())
        usual = max(counts, key=lambda total: (counts[total], total))
        fewer = {one: total for one, total in totals.items() if total < usual}
        if not fewer or len(counts) == 1:
            continue
        least = min(fewer.values())
        yield Finding(
            cause="unequal_uplinks",
            severity="warning",
            where=tuple(network.name(one) for one in fewer),
            figures={
                "switches": len(fewer),
                "of": len(totals),
                "usual": usual,
                "least": least,
                "share": least / usual if usual else 0.0,
            },
            evidence=cut([f"{network.name(one)}: {total}" for one, total in fewer.items()]),
        )


def oversubscribed(network: Network) -> Iterator[Finding]:
    """Yield a note if the leaves have more cables down than up."""
    if network.tiers < 2:
        return
    ratios = []
    for leaf in network.switches(1):
        down, up = len(network.cards_of(leaf)), network.above(leaf).total()
        if up and down > up:
            ratios.append((down / up, down, up, network.name(leaf)))
    if ratios:
        ratio, down, up, name = max(ratios)
        yield Finding(
            cause="oversubscribed",
            severity="note",
            where=(name,),
            figures={"down": down, "up": up, "ratio": ratio, "leaves": len(ratios)},
        )


def cut(lines: list[str]) -> tuple[str, ...]:
    """Return the lines, the last ones as a count if there are very many."""
    if len(lines) <= MOST_LINES:
        return tuple(lines)
    return (*lines[:MOST_LINES], f"... and {len(lines) - MOST_LINES} more")
