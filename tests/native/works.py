"""Works that the tests of the event-driven engines share: random ones and known shapes."""

from __future__ import annotations

import numpy as np

from artery.native import gates as gate
from artery.native.work import Gates, Links, Played, Transfers, Work


def same(one: Played, other: Played) -> None:
    """Check that two engines agree to the picosecond in all that they say."""
    for name in ("sent", "delivered", "opened", "bytes", "queue"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert (one.idle is None) == (other.idle is None)
    if one.idle is not None and other.idle is not None:
        assert np.array_equal(one.idle, other.idle)
    for name in ("makespan", "events", "unfinished", "overflow"):
        assert getattr(one, name) == getattr(other, name), name


def random_work(random: np.random.Generator, *, fails: bool = True) -> Work:
    """Return a small work with anything in it that an engine accepts."""
    links = int(random.integers(1, 8))
    rate = random.integers(1, 200, links) * 10**9 // int(random.integers(1, 7))
    down = random.integers(0, 10**8, links) if fails and random.random() < 0.4 else None
    n = int(random.integers(1, 12))
    network = Links(rate, random.integers(0, 2_000_000, links), down)
    return Work(network, _transfers(random, n, links), _gates(random, n))


def _transfers(random: np.random.Generator, n: int, links: int) -> Transfers:
    paths = int(random.integers(1, 8))
    hops = random.integers(0, min(links, 5) + 1, paths)
    parts = [random.permutation(links)[:count] for count in hops]
    path = random.integers(0, paths, n).astype(np.int32)

    def perhaps(low: int, high: int) -> np.ndarray | None:
        return random.integers(low, high, n).astype(np.int32) if random.random() < 0.5 else None

    spread = [random.integers(1, paths - first + 1) for first in path]
    return Transfers(
        random.integers(0, 10**6, n),
        path,
        np.concatenate([[0], np.cumsum(hops)]),
        np.concatenate(parts).astype(np.int32),
        np.array(spread, np.int32) if random.random() < 0.4 else None,
        perhaps(-1, paths),
        perhaps(0, 3),
    )


def _gates(random: np.random.Generator, n: int) -> Gates:
    kind = random.integers(0, 3)
    if kind == 0:
        return gate.at_times(random.integers(0, 10**7, n))
    if kind == 1:
        actors = int(random.integers(1, 5))
        source, target = random.integers(0, actors, (2, n))
        return gate.by_steps(source, target, random.integers(0, 4, n), actors)[0]
    before = [random.permutation(t)[: random.integers(0, min(t, 3) + 1)] for t in range(n)]
    start = np.concatenate([[0], np.cumsum([part.size for part in before])])
    after = np.concatenate(before).astype(np.int32)
    kinds = random.integers(0, 2, after.size).astype(np.int32)
    return gate.by_dependencies(start, after, kinds, random.integers(0, 10**6, n))


def star(hosts: int, rate: int, latency: int) -> Links:
    """Return one switch: link h goes up from host h, link ``hosts`` + h down to it."""
    return Links(np.full(2 * hosts, rate), np.full(2 * hosts, latency))


def over_star(source: np.ndarray, target: np.ndarray, size: np.ndarray, hosts: int) -> Transfers:
    """Return transfers of ``size`` bytes over a star, one path each."""
    n = source.size
    link = np.stack([source, hosts + target], axis=1).ravel().astype(np.int32)
    return Transfers(size, np.arange(n, dtype=np.int32), np.arange(0, 2 * n + 1, 2), link)


def steps_over_star(
    source: np.ndarray,
    target: np.ndarray,
    step: np.ndarray,
    *,
    size: np.ndarray | int,
    rate: int,
    latency: int,
) -> Work:
    """Return a schedule of steps over a star with one host per rank."""
    ranks = int(max(source.max(), target.max())) + 1
    gates, order = gate.by_steps(source, target, step, ranks)
    sizes = np.broadcast_to(size, source.shape)[order].astype(np.int64)
    transfers = over_star(source[order], target[order], sizes, ranks)
    return Work(star(ranks, rate, latency), transfers, gates)
