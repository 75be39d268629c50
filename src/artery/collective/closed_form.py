"""``ClosedForm``: the pricer that computes, 100,000 demands in some ten milliseconds.

For one group every algorithm and protocol is a straight line in the size of the message, so
the price is the lower envelope of a few lines. The lines are drawn once per distinct (ranks,
stride) of a demand and then only evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from artery.collective.algorithms import ALGORITHMS, Algorithm
from artery.collective.bandwidth import wire_factor
from artery.collective.groups import Groups, gather, inner_tiers
from artery.collective.library import (
    CHANNELS,
    OPENING,
    PAYLOAD,
    Library,
    Line,
    Network,
    Platform,
    piece_of,
)
from artery.collective.menu import Adds, menu
from artery.collective.placement import Placement, packed
from artery.collective.work import Work
from artery.core.arrays import Floats, Ints
from artery.core.pricing import Collective, Demand, Price
from artery.core.system import System
from artery.errors import UsageError


class Choice(NamedTuple):
    """One algorithm with one protocol, with one value per group.

    ``start`` in seconds, ``slope`` in seconds per byte, the limiting ``tier``, and the bytes
    that a chip puts on the ``wire`` per byte of size.
    """

    algorithm: str
    protocol: str
    start: Floats
    slope: Floats
    tier: Ints
    wire: Floats


@dataclass(frozen=True, slots=True)
class Quote:
    """Prices with their reasons, as arrays of the demand's shape.

    ``algorithm`` and ``protocol`` are names; ``low`` and ``high`` bound an 80 % interval of
    ``seconds``; ``nodes`` is the number of nodes a group touches; ``wire`` is B/s that one chip
    puts on the links that leave its node (inside one node: on its own links).
    """

    seconds: Floats
    low: Floats
    high: Floats
    tier: Ints
    nodes: Floats
    wire: Floats
    algorithm: tuple[str, ...]
    protocol: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """Prices communication on ``system`` as ``library`` would run it.

    ``algorithm`` is ``auto``, ``best`` or a name; ``version`` overrides the library's own;
    ``placement`` puts ranks on chips (packed if not given). ``addable`` says that the switches
    can add the data type (they cannot add bytes), ``adds`` who may add.
    """

    system: System
    library: Library
    algorithm: str = "auto"
    version: str | None = None
    placement: Placement | None = None
    addable: bool = True
    adds: Adds = "auto"
    _used: Library = field(init=False, repr=False)

    def __post_init__(self) -> None:
        version = self.version or self.library.version
        object.__setattr__(self, "_used", replace(self.library, version=version))

    def price(self, demand: Demand) -> Price:
        """Return the price of each operation in ``demand``, in the demand's shape.

        Raises :class:`artery.errors.UsageError` if the named algorithm cannot serve a group.
        """
        spread = self._spread(demand)
        best, picked = self._cheapest(spread)
        tier = np.stack([choice.tier for choice in spread.choices])[picked, spread.key]
        return Price(best.reshape(spread.shape), tier.reshape(spread.shape))

    def quote(self, demand: Demand) -> Quote:
        """Return prices with algorithm, protocol, interval and wire rate; shape as flattened."""
        spread = self._spread(demand)
        best, picked = self._cheapest(spread)
        tier = np.stack([choice.tier for choice in spread.choices])[picked, spread.key]
        groups = spread.groups
        factor = np.stack([choice.wire for choice in spread.choices])[picked, spread.key]
        with np.errstate(divide="ignore", invalid="ignore"):
            wire = np.where(best > 0, spread.size * factor / best, 0.0)
        low, high = self._bounds(spread, picked)
        return Quote(
            seconds=best,
            low=low,
            high=high,
            tier=tier,
            nodes=groups.nodes[spread.key],
            wire=wire,
            algorithm=tuple(ALGORITHMS[spread.choices[i].algorithm].title for i in picked),
            protocol=tuple(spread.choices[i].protocol for i in picked),
        )

    def _spread(self, demand: Demand) -> _Spread:
        """Return the demand flattened, its distinct groups, and their lines."""
        size, ranks, stride = np.broadcast_arrays(demand.size, demand.ranks, demand.stride)
        flat_ranks = np.maximum(ranks.astype(np.int64).ravel(), 1)
        flat_stride = np.maximum(stride.astype(np.int64).ravel(), 1)
        base = int(flat_stride.max(initial=1)) + 1
        codes, key = np.unique(flat_ranks * base + flat_stride, return_inverse=True)
        groups = gather(
            self.system,
            self._used,
            self.placement or packed(self.system.chips),
            codes // base,
            codes % base,
            concurrent=demand.concurrent,
        )
        choices = self._choices(groups, demand.collective)
        flat_size = size.astype(np.float64).ravel()
        return _Spread(size.shape, flat_size, key.ravel(), groups, choices)

    def _cheapest(self, spread: _Spread) -> tuple[Floats, Ints]:
        """Return the least seconds of each operation and the index of the choice that gives it."""
        best = np.full(spread.size.shape, np.inf)
        picked = np.zeros(spread.size.shape, dtype=np.int64)
        for index, choice in enumerate(spread.choices):
            seconds = choice.start[spread.key] + choice.slope[spread.key] * spread.size
            better = seconds < best
            np.copyto(best, seconds, where=better)
            np.copyto(picked, index, where=better)
        if not np.isfinite(best).all():
            worst = int(np.flatnonzero(~np.isfinite(best))[0])
            groups, key = spread.groups, spread.key[worst]
            raise UsageError(
                f"{self.algorithm} cannot serve {groups.ranks[key]:.0f} ranks on "
                f"{groups.nodes[key]:.0f} node(s) of {self.system.name} with {self._used.title} "
                f"{self._used.version}; use --algorithm auto"
            )
        return best, picked

    def _choices(self, groups: Groups, collective: Collective) -> list[Choice]:
        """Return every line on the menu, infinite where its algorithm does not exist."""
        first = inner_tiers(self.system)
        network = self._used.network(self.system.tiers[first].link) if self._crosses else None
        alone = groups.ranks < 2
        choices = []
        for name in menu(self._used, collective, self.algorithm, self.adds):
            algorithm = ALGORITHMS[name]
            if algorithm.by_switches and not self.addable:
                continue
            with np.errstate(divide="ignore", invalid="ignore"):
                work = algorithm.work(groups, collective)
            wire = wire_factor(collective, groups, work, in_network=algorithm.in_network)
            for platform, here in self._platforms(groups):
                allowed = algorithm.allowed(groups, platform.smallest_in_switch) & here
                for line in lines_of(algorithm, platform):
                    for fixed, growing, tier in _draw(work, groups, line, network, algorithm):
                        start = np.where(alone, 0.0, np.where(allowed, fixed, np.inf))
                        slope = np.where(alone, 0.0, np.where(allowed, growing, np.inf))
                        if np.isfinite(start).any():
                            choices.append(Choice(name, line.protocol, start, slope, tier, wire))
        return choices

    @property
    def _crosses(self) -> bool:
        """Whether the system has a network between nodes."""
        return inner_tiers(self.system) < len(self.system.tiers)

    def _platforms(self, groups: Groups) -> list[tuple[Platform, np.ndarray]]:
        """Return the platform of every inner tier, with the groups that it serves."""
        tiers = self.system.tiers
        if not tiers:
            return [(self._used.platforms["default"], np.ones(len(groups.ranks), dtype=np.bool_))]
        indices = np.unique(groups.inner)
        return [(self._used.platform(tiers[i].link), groups.inner == i) for i in indices]

    def _bounds(self, spread: _Spread, picked: Ints) -> tuple[Floats, Floats]:
        """Return the ends of the 80 % interval: start and bytes each off by their own factor."""
        start = np.stack([choice.start for choice in spread.choices])[picked, spread.key]
        moving = np.stack([choice.slope for choice in spread.choices])[picked, spread.key]
        moving = moving * spread.size
        groups = spread.groups
        starts, rates = np.ones(len(groups.ranks)), np.ones(len(groups.ranks))
        for platform, here in self._platforms(groups):
            starts[here], rates[here] = platform.spread.start, platform.spread.rate
        if self._crosses:
            network = self._used.network(self.system.tiers[inner_tiers(self.system)].link)
            starts[groups.nodes > 1] = network.spread.start
            rates[groups.nodes > 1] = network.spread.rate
        by_start, by_rate = starts[spread.key], rates[spread.key]
        return start / by_start + moving / by_rate, start * by_start + moving * by_rate


@dataclass(frozen=True, slots=True)
class _Spread:
    """A demand laid out: sizes, the index of each one's group, the groups and the lines."""

    shape: tuple[int, ...]
    size: Floats
    key: Ints
    groups: Groups
    choices: list[Choice]


def lines_of(algorithm: Algorithm, platform: Platform) -> tuple[Line, ...]:
    """Return the constants that apply; without a switch that reduces, those of a ring."""
    if algorithm.lines == "exchange":
        return platform.exchange
    if algorithm.by_switches:
        share = platform.across if algorithm.lines == "across" else 1.0
        lines = platform.in_switch or platform.ring
        return tuple(replace(line, fraction=line.fraction * share) for line in lines)
    return platform.ring


def _draw(
    work: Work, groups: Groups, line: Line, network: Network | None, algorithm: Algorithm
) -> tuple[tuple[Floats, Floats, Ints], ...]:
    """Return start (seconds), slope (seconds per byte) and limiting tier of one line.

    Where further channels cost, there are two of which the lesser holds: while they open, a byte
    costs more; when all are open, the start does. So it is with chains and trees: the whole of a
    small message goes from chip to chip as one, of a large one a piece.
    """
    hop = outside = 0.0
    if network is not None:
        pipelined = algorithm.by_switches
        hop = network.pipelined_hop if pipelined else network.hop[line.protocol]
        outside = network.fraction[line.protocol]
    adding = network.in_network if network is not None and algorithm.in_network else 1.0
    start = line.base + work.inner_steps * line.step
    start = start + work.outer_steps * (hop + groups.outer_latency)
    inner = work.inner_seconds / line.fraction
    outer = work.outer_seconds / outside if outside else np.zeros_like(inner)
    tier = np.where(outer > inner, groups.outer, groups.inner)
    least = work.least_seconds / PAYLOAD.get(line.protocol, 1.0)
    slope = np.maximum(work.seconds(inner, outer) / adding, least)
    drawn = [(start, slope)]
    further = 0.0 if network is None else network.message.get(line.protocol, 0.0)
    if further:
        each = work.outer_steps * further
        drawn = [(start, slope + each / OPENING), (start + each * (CHANNELS - 1), slope)]
    fill = work.inner_fill / line.fraction + (work.outer_fill / outside if outside else 0.0)
    piece = piece_of(line.protocol)
    if piece and np.any(fill):
        drawn = [
            one for a, b in drawn for one in ((a, b + fill), (a + fill * piece, b + 0.0 * fill))
        ]
    return tuple((fixed, growing, tier) for fixed, growing in drawn)
