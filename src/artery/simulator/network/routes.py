"""Which paths the pairs of a work take: between chips, and between a chip and its own switch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from artery.cluster.aggregation import cables_of, uplinks
from artery.cluster.network import Tree
from artery.cluster.routing import Network, Paths, paths
from artery.cluster.torus import Torus
from artery.core.arrays import Flags, Ints, runs
from artery.core.system import System
from artery.errors import InputError, Problem
from artery.simulator.placed import Placed
from artery.simulator.scenario import POLICY, Scenario

Ranks = NDArray[np.integer]

WAYS = 16
"""Paths that adaptive routing looks at, and over which a message is sprayed."""

UP, DOWN = 1, 2
"""Ends of which the target, or the source, is the switch of the chip's own domain."""


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Pairs of chips; ``cut`` says where one end is the switch between them (0: neither).

    Numbers beyond the chips are switches between nodes, by their vertices.
    """

    source: Ranks
    target: Ranks
    cut: NDArray[np.int8] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Routes:
    """Paths: pair i has paths ``first[i]`` to ``first[i + 1] - 1``.

    Path p takes the links ``link[start[p]:start[p + 1]]``.
    """

    first: Ranks
    start: Ints
    link: NDArray[np.int32]


def ends(network: Network, job: Placed, source: Ranks, target: Ranks) -> Ends:
    """Return the chips of pairs of the job's ranks and switches; switches beyond nodes as vertices.

    Raises ``InputError`` if the job's switches are neither those inside the nodes nor laid on any.
    """
    ranks = job.schedule.ranks
    if not job.schedule.switches:
        return Ends(job.chips[source], job.chips[target])
    up, down = target >= ranks, source >= ranks
    vertex = None
    if job.vertices is not None:
        vertex = np.concatenate([job.chips, job.vertices])
        up, down = vertex[target] < 0, vertex[source] < 0
    elif job.schedule.name not in ("nvls", "nvls_tree") or (up & down).any():
        raise _beyond(job)
    at = job.chips if vertex is None else vertex
    one = at[np.where(down, target, source)]
    other = np.where(up | down, _neighbour(network, one), 0)
    near = np.where(down, other, at[np.where(down, 0, source)])
    far = np.where(up, other, at[np.where(up, 0, target)])
    cut = np.where(up, UP, np.where(down, DOWN, 0)).astype(np.int8)
    return Ends(near, far, cut)


def routes(
    system: System,
    network: Network,
    pairs: Ends,
    scenario: Scenario,
    entropy: Ints | None = None,
    *,
    ways: int = WAYS,
) -> Routes:
    """Return the paths of ``pairs`` by the scenario's policy: ``ways`` each where it sprays."""
    beyond = np.maximum(pairs.source, pairs.target) >= network.groups[0].count
    if beyond.any():
        plain = np.flatnonzero(~beyond)
        cut = None if pairs.cut is None else pairs.cut[plain]
        some = Ends(pairs.source[plain], pairs.target[plain], cut)
        part = None if entropy is None else entropy[plain]
        usual = routes(system, network, some, scenario, part, ways=ways)
        ended = pairs.source[beyond].astype(np.int64), pairs.target[beyond].astype(np.int64)
        return _mixed(usual, _to_switches(system, network, *ended), beyond)
    policy = POLICY[scenario.routing]
    many = max(ways, WAYS) if policy == "spray" else WAYS
    found = paths(
        system, network, pairs.source, pairs.target, entropy, policy=policy, seed=scenario.seed,
        ways=many,
    )  # fmt: skip
    if len(found.pair):
        order = np.argsort(found.pair, kind="stable")
        start, link = taken(found.start, found.link, order)
        first = np.searchsorted(found.pair[order], np.arange(len(pairs.source) + 1))
        routed = Routes(first.astype(np.int64), start, link)
    else:
        routed = Routes(np.arange(len(pairs.source) + 1, dtype=np.int32), found.start, found.link)
    return routed if pairs.cut is None else _cut(routed, pairs.cut)


def by_queue(
    system: System, network: Network, pairs: Ends, scenario: Scenario, queues: int
) -> Routes:
    """Return a path for each of the ``queues`` of every pair, one after the other."""
    many = len(pairs.source)
    cut = None if pairs.cut is None else np.repeat(pairs.cut, queues)
    each = Ends(np.repeat(pairs.source, queues), np.repeat(pairs.target, queues), cut)
    found = routes(system, network, each, scenario, np.tile(np.arange(queues), many))
    return Routes(np.arange(many + 1) * queues, found.start, found.link)


def _mixed(usual: Routes, others: Paths, beyond: Flags) -> Routes:
    """Return the paths of all pairs: one each of ``others`` where an end is ``beyond`` nodes."""
    plain = ~beyond
    ways = np.ones(len(beyond), dtype=np.int64)
    ways[plain] = np.diff(usual.first)
    own = np.repeat(plain, ways)
    length = np.empty(len(own), dtype=np.int64)
    length[own], length[~own] = np.diff(usual.start), np.diff(others.start)
    mine = np.repeat(own, length)
    links = np.empty(len(mine), dtype=np.int32)
    links[mine], links[~mine] = usual.link, others.link
    return Routes(_sums(ways), _sums(length), links)


def _to_switches(system: System, network: Network, source: Ints, target: Ints) -> Paths:
    """Return the paths of pairs of which an end is a switch: a chip's leaf, or a neighbour."""
    chips = network.groups[0].count
    up, down = source < chips, target < chips
    chip = np.where(up, source, target)
    leafy = np.flatnonzero(up | down)
    way = uplinks(system, network, chip[leafy])
    length = np.ones(len(source), dtype=np.int64)
    length[leafy] = np.diff(way.start)
    start = _sums(length)
    link = np.empty(start[-1], dtype=np.int32)
    inner = np.flatnonzero(~(up | down))
    link[start[inner]] = cables_of(network, source[inner], target[inner])
    row = np.repeat(np.arange(len(leafy)), np.diff(way.start))
    place = np.arange(len(way.link)) - way.start[row]
    turned = down[leafy][row]
    at = start[leafy][row] + np.where(turned, length[leafy][row] - 1 - place, place)
    back = np.where(way.link < network.cables, way.link + network.cables,
                    way.link - network.cables)  # fmt: skip
    link[at] = np.where(turned, back, way.link)
    return Paths(start, link)


def _sums(counts: Ints) -> Ints:
    """Return where each of them begins, and the end."""
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def spread(routed: Routes, ways: int) -> Routes:
    """Return ``ways`` paths for every pair: its own in turn, so that all have as many."""
    count = np.diff(routed.first)
    which = routed.first[:-1, None] + np.arange(ways) % count[:, None]
    start, link = taken(routed.start, routed.link, which.ravel())
    return Routes(np.arange(len(count) + 1) * ways, start, link)


def taken(start: Ints, link: NDArray[np.int32], which: Ints) -> tuple[Ints, NDArray[np.int32]]:
    """Return some of the paths, in the order of ``which``."""
    length = (start[1:] - start[:-1])[which]
    begin = np.concatenate([[0], np.cumsum(length)])
    return begin, link[runs(start[:-1][which], length)]


def domain(network: Network) -> int:
    """Return the chips of a domain under a fabric; 1 where there is no fabric."""
    plan = network.plan
    return plan.within.whole.domain.chips if isinstance(plan, Tree) else 1


def _cut(routed: Routes, cut: NDArray[np.int8]) -> Routes:
    """Return the paths, of those cut only the first or the last link."""
    of = np.repeat(cut, np.diff(routed.first))
    place = np.arange(len(routed.link))
    path = np.searchsorted(routed.start, place, side="right") - 1
    keep = of[path] == 0
    keep |= (of[path] == UP) & (place == routed.start[path])
    keep |= (of[path] == DOWN) & (place == routed.start[path + 1] - 1)
    length = np.bincount(path[keep], minlength=len(of))
    start = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    return Routes(routed.first, start, routed.link[keep])


def _neighbour(network: Network, chip: Ints) -> Ints:
    """Return another chip of each chip's domain: the way to it leads through the switch."""
    plan = network.plan
    if isinstance(plan, Torus):
        return chip
    within = plan.within if isinstance(plan, Tree) else plan
    size = within.whole.domain.chips
    home = chip // size * size
    return np.asarray(np.where(chip == home, home + 1, home))


def _beyond(job: Placed) -> InputError:
    return InputError(
        Problem(
            field="algorithm",
            found=job.schedule.name,
            rule="its adding switches are not laid on switches of the network",
            fix="lay it with artery.simulator.shapes.shaped",
        )
    )
