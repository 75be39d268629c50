"""Rings over hashed fabrics, as one variable and as every single message."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artery.native.gates import by_steps
from artery.native.pipelines import Pipelines
from artery.native.work import Ints, Links, Longs, Transfers, Work

RATE, HOP = 50 * 10**9, 500_000
SOFTWARE = 2_000_000
"""ps of every message beside its hops, put on the link of the source (assumed)."""


@dataclass(frozen=True, slots=True)
class Fabric:
    """A two-tier Clos: ``hosts`` of them, ``down`` to a leaf, ``spines``; some uplinks are gone."""

    links: Links
    hosts: int
    down: int
    spines: int
    alive: np.ndarray


def fabric(hosts: int, down: int, spines: int, *, failed: float, seed: int) -> Fabric:
    """Return a Clos of equal links, of whose uplinks the share ``failed`` is down."""
    random = np.random.default_rng(seed)
    leaves = hosts // down
    count = 2 * hosts + 2 * leaves * spines
    latency = np.full(count, HOP)
    latency[:hosts] += SOFTWARE
    alive = random.random((leaves, spines)) >= failed
    alive[:, 0] |= ~alive.any(axis=1)
    return Fabric(Links(np.full(count, RATE), latency), hosts, down, spines, alive)


def hashed(net: Fabric, source: Longs, target: Longs, seed: int) -> tuple[Longs, Ints]:
    """Return paths from ``source`` to ``target``, each hashed to one of the live spines."""
    from_, to = source // net.down, target // net.down
    both = net.alive[from_] & net.alive[to]
    chosen = (np.random.default_rng(seed).random(source.size) * both.sum(axis=1)).astype(np.int64)
    spine = (both.cumsum(axis=1) > chosen[:, None]).argmax(axis=1)
    up = 2 * net.hosts + from_ * net.spines + spine
    down = up + (net.hosts // net.down + to - from_) * net.spines
    apart = from_ != to
    hops = np.stack(
        [source, np.where(apart, up, -1), np.where(apart, down, -1), net.hosts + target], axis=1
    )
    start = np.concatenate([[0], np.cumsum((hops >= 0).sum(axis=1))])
    return start, hops[hops >= 0].astype(np.int32)


def ring_paths(net: Fabric, order: Longs, seed: int) -> tuple[Longs, Ints]:
    """Return the paths from each rank of a ring to the next."""
    return hashed(net, order, np.roll(order, -1), seed)


def as_pipelines(paths: list[tuple[Longs, Ints]], chunk: int) -> Pipelines:
    """Return ring all-reduces in whole chunks, one pipe for each list of paths."""
    sizes = [start.size - 1 for start, _ in paths]
    offsets = np.cumsum([0, *(link.size for _, link in paths)])
    starts = [start[:-1] + offset for (start, _), offset in zip(paths, offsets, strict=False)]
    depth = np.array([2 * (size - 1) for size in sizes])
    count = len(paths)
    return Pipelines(
        np.concatenate([*starts, offsets[-1:]]),
        np.concatenate([link for _, link in paths]),
        np.cumsum([0, *sizes]),
        np.arange(count + 1),
        depth,
        depth * chunk,
        np.full(count, chunk),
        np.full(count, chunk),
    )


def as_messages(links: Links, paths: list[tuple[Longs, Ints]], chunk: int) -> Work:
    """Return every message of the same ring all-reduces."""
    pipes = as_pipelines(paths, chunk)
    sources, targets, steps, firsts = [], [], [], []
    for ring, (begin, end) in enumerate(zip(pipes.wave[:-1], pipes.wave[1:], strict=True)):
        ranks, rounds = int(end - begin), int(pipes.depth[ring])
        rank = np.tile(np.arange(ranks), rounds)
        sources.append(begin + rank)
        targets.append(begin + (rank + 1) % ranks)
        steps.append(np.repeat(np.arange(rounds), ranks))
        firsts.append(begin + rank)
    source = np.concatenate(sources)
    gates, order = by_steps(
        source, np.concatenate(targets), np.concatenate(steps), int(pipes.wave[-1])
    )
    path = np.concatenate(firsts)[order].astype(np.int32)
    transfers = Transfers(np.full(path.size, chunk), path, pipes.start, pipes.link)
    return Work(links, transfers, gates)


def halving_doubling(net: Fabric, size: int, seed: int) -> Work:
    """Return every message of a halving-doubling all-reduce of ``size`` bytes over all hosts."""
    rounds = net.hosts.bit_length() - 1
    reach = [*reversed(range(rounds)), *range(rounds)]
    bytes_ = [size >> (rounds - bit) for bit in reach]
    source = np.tile(np.arange(net.hosts), 2 * rounds)
    target = source ^ np.repeat([1 << bit for bit in reach], net.hosts)
    step = np.repeat(np.arange(2 * rounds), net.hosts)
    gates, order = by_steps(source, target, step, net.hosts)
    start, link = hashed(net, source, target, seed)
    sizes = np.repeat(bytes_, net.hosts)[order]
    return Work(net.links, Transfers(sizes, order, start, link), gates)
