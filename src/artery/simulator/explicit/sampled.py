"""An all-to-all of more messages than can be listed: its busiest link, from a sample of them.

Sent all at once, an all-to-all takes as long as its busiest link sends, and a few per cent more
(``BESIDE``): there is always something waiting. So all that has to be known is what each link
carries. Every rank's messages to ranks at some distances are routed, the same distances for all,
so that what enters and leaves each chip is a fixed share of the whole; the distances are spread
evenly, and over the places of a node.

What a sample does not know is how evenly hashes fall. Of messages drawn with chance f, a link that
m of them cross shows fm, give or take sqrt(f(1-f)m); links of one class that vary as much as
that have loads that vary as independent hashes do, sqrt(m) about their mean, and links that vary
less (the ports of chips) less. What varies more than that (links beside failed ones) is structure,
and seen in the sample. The greatest of many such loads has a distribution, whose quantiles are the
answer and its range.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import erfc, exp, log, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from artery.cluster.network import Network
from artery.core.arrays import Floats, Ints
from artery.core.system import System
from artery.simulator.network.routes import Ends, routes
from artery.simulator.network.wires import Wires
from artery.simulator.placed import Placed
from artery.simulator.scenario import Scenario

PATHS: Final = 4_000_000
"""Paths of the sample: a few seconds on one core."""

BESIDE: Final = (0.99, 1.015, 1.03)
"""Time of an all-to-all at once, every message played, over that of its busiest link: usual and
most of some thirty on 256 to 2,048 chips of fat trees, whole and with links down, of which the
least was 1.00; one per cent less as the share of messages that stay in a node is sampled too."""

BESIDE_ADAPTIVE: Final = (0.99, 1.03, 1.06)
"""The same where messages choose their ways: 1.02 to 1.06 on 512 and 1,024 chips, as they choose
before all others have."""

QUANTILES: Final = (0.05, 0.5, 0.95)

SPLIT: Final = {"spray": 16.0, "adaptive": 4.0}
"""Parts in which hashes fall on links, by routing: sprayed messages go 16 ways; adaptive ones are
half as uneven as hashed ones (busiest cable 5 % over the mean instead of 12 %, 512 and 1,024
chips). Of such a message one way is routed, by its hash."""

SURE: Final = 3.0
"""Standard errors of a variance beyond which it is taken as more than chance. Assumed."""

TOP: Final = 256
"""Links of a class that are looked at one by one; the others are no more loaded than the last."""


@dataclass(frozen=True, slots=True, eq=False)
class Loads:
    """What each link carries of ``messages`` per rank, estimated: ``mean`` messages.

    ``group`` numbers links of one class and rate, -1 where nothing was seen; ``spread`` are, by
    group, standard deviations of what is not known, least, usual and most. ``paths``
    messages were routed. ``latency`` (ps) is that of the longest way. ``beside`` is how much
    longer all takes than the busiest link.
    """

    mean: Floats
    group: NDArray[np.int32]
    spread: Floats
    paths: int
    latency: int
    beside: tuple[float, float, float] = BESIDE

    def carried(self, size: float) -> Ints:
        """Return the bytes that each link carries if a message has ``size``."""
        return np.rint(self.mean * size).astype(np.int64)

    def seconds(self, size: float, rate: Ints) -> tuple[float, float, float]:
        """Return the seconds that the busiest link takes: 5, 50 and 95 of a hundred draws."""
        busy = self.mean / rate
        tops: list[tuple[Floats, int, Floats]] = []
        for group, spread in enumerate(self.spread):
            mine = np.flatnonzero(self.group == group)
            many = min(TOP, len(mine))
            part = busy[mine]
            top = -np.sort(-part[np.argpartition(-part, many - 1)[:many]])
            tops.append((top, len(mine) - many, spread / rate[mine].min()))
        found = [_quantile(tops, one, place) * size for place, one in enumerate(QUANTILES)]
        least, usual, most = (a * b for a, b in zip(found, self.beside, strict=True))
        late = self.latency / 1e12
        return least + late, usual + late, most + late


def samplable(jobs: tuple[Placed, ...], scenario: Scenario) -> bool:
    """Whether ``jobs`` are one all-to-all of equal messages, all sent at once."""
    if len(jobs) != 1 or scenario.failing:
        return False
    schedule = jobs[0].schedule
    whole = isinstance(jobs[0].size, int) and schedule.ports == schedule.ranks - 1
    return whole and schedule.collective == "alltoall" and schedule.steps == 1


def loads(system: System, wires: Wires, job: Placed, scenario: Scenario) -> Loads:
    """Return what the links carry, from a sample drawn with the scenario's seed."""
    network = wires.network
    many = len(network.rate)
    seen = np.zeros(many)
    ranks = len(job.chips)
    parts = SPLIT.get(scenario.routing, 1.0)
    beside = BESIDE_ADAPTIVE if scenario.routing == "adaptive" else BESIDE
    if parts > 1.0:
        scenario = replace(scenario, routing="ecmp")
    longest = paths = 0
    distances = _distances(system, ranks, scenario)
    for distance in distances.tolist():
        pairs = Ends(job.chips, np.roll(job.chips, -distance))
        routed = routes(system, network, pairs, scenario)
        seen += np.bincount(routed.link, minlength=many)
        sums = np.concatenate([[0], np.cumsum(network.latency[routed.link])])
        longest = max(longest, int(np.diff(sums[routed.start]).max()))
        paths += len(routed.start) - 1
    share = len(distances) / (ranks - 1)
    group, count = _groups(network, seen > 0)
    mean, spread = seen / share, np.zeros((count, 3))
    for one in range(count):
        mine = np.flatnonzero(group == one)
        if share < 1.0 or parts > 1.0:
            part = _Part(share, parts, network.whole)
            mean[mine], spread[one] = _known(seen[mine], part)
    return Loads(mean, group, spread, paths, longest, beside)


def _distances(system: System, ranks: int, scenario: Scenario) -> Ints:
    """Return the distances that are routed: one of every stretch, all places of a node alike."""
    place = max(system.chips_per_node, 1)
    many = max(PATHS // ranks // place, 2) * place
    if many >= ranks - 1:
        return np.arange(1, ranks)
    cuts = 1 + np.arange(many + 1) * (ranks - 1) // many
    low, width = cuts[:-1], np.diff(cuts)
    drawn = low + (np.random.default_rng(scenario.seed).random(many) * width).astype(np.int64)
    wanted = drawn + (np.arange(many) - drawn) % place
    return np.asarray(np.where(wanted < cuts[1:], wanted, drawn))


def _groups(network: Network, used: NDArray[np.bool_]) -> tuple[NDArray[np.int32], int]:
    """Return the group of each link that is used: its class, its rate, and what it joins."""
    edges = network.edges()
    last = np.cumsum([group.count for group in network.groups])
    near = np.searchsorted(last, edges.source, side="right")
    far = np.searchsorted(last, edges.target, side="right")
    key = np.stack([network.kind, near, far, network.rate])[:, used]
    names, found = np.unique(key, axis=1, return_inverse=True)
    group = np.full(len(used), -1, dtype=np.int32)
    group[used] = found.reshape(-1)
    return group, names.shape[1]


@dataclass(frozen=True, slots=True)
class _Part:
    """The ``share`` of messages seen; in how many ``parts`` each goes; if no link is down."""

    share: float
    parts: float
    whole: bool


def _known(seen: Floats, of: _Part) -> tuple[Floats, Floats]:
    """Return of links of one group the messages expected on each, and how these spread."""
    middle, varies, share = float(seen.mean()), float(seen.var()), of.share
    hashed = middle / share * min(1.0, varies / middle) / of.parts
    unsure = SURE * sqrt(2.0 / len(seen)) * varies
    more = [varies - unsure - middle, varies - middle, varies + unsure - middle]
    least, usual, most = (max(one, 0.0) / share**2 for one in more)
    if of.whole:
        usual = most = least
    # What is seen of the hashes is a sample, and of a message in several parts one of them.
    thinned = max(middle / share**2 - hashed, 0.0)
    prior = np.array([least, usual, most]) + hashed
    kept = prior[1] / (prior[1] + thinned) if prior[1] else 0.0
    expected = middle / share + kept * (seen - middle) / share
    return expected, np.sqrt(prior * thinned / np.maximum(prior + thinned, 1e-300))


def _quantile(tops: list[tuple[Floats, int, Floats]], chance: float, place: int) -> float:
    """Return the seconds per byte below which the greatest of all loads is with ``chance``."""
    low = max(float(top[0]) for top, _, _ in tops)
    high = max(float(top[0] + 8.0 * spread[place]) for top, _, spread in tops)
    if high <= low:
        return low
    low = max(float(top[0] - 8.0 * spread[place]) for top, _, spread in tops)
    for _ in range(40):
        middle = (low + high) / 2
        below = sum(
            _log_below(top, rest, float(spread[place]), middle) for top, rest, spread in tops
        )
        low, high = (low, middle) if below > log(chance) else (middle, high)
    return high


def _log_below(top: Floats, rest: int, spread: float, at: float) -> float:
    """Return the logarithm of the chance that all loads of a group are below ``at``."""
    if spread <= 0.0:
        return 0.0 if float(top[0]) <= at else -1e9
    each = [1 if place < len(top) - 1 else 1 + rest for place in range(len(top))]
    found = 0.0
    for one, times in zip(top.tolist(), each, strict=True):
        above = erfc((at - one) / spread / sqrt(2.0)) / 2
        found += times * log(max(1.0 - above, exp(-700)))
    return found
