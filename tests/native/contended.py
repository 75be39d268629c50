"""The cases of contended.toml as works, on two tiers of switches with hashed paths."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from artery.native.gates import at_times, by_dependencies, by_steps, joined
from artery.native.work import Gates, Ints, Links, Longs, Played, Transfers, Work, duration
from artery.units import parse

FILE = Path(__file__).parent / "contended.toml"
WRITTEN = tomllib.loads(FILE.read_text("utf-8"))
NETWORK = WRITTEN["network"]
HOSTS, LEAF = NETWORK["hosts"], NETWORK["leaf"]
LEAVES = HOSTS // LEAF
PS = 1e12
RATE = int(parse(NETWORK["rate"], "B/s"))
LATENCY, SOFTWARE = (round(parse(NETWORK[name], "s") * PS) for name in ("latency", "software"))
BACKGROUND = 4_000_000


@dataclass(frozen=True, slots=True)
class Case:
    """One entry of the list; ``size`` in bytes, ``jitter`` the number of runs."""

    pattern: str
    size: int
    senders: int = 0
    placement: str = "packed"
    failed: float = 0.0
    window: int = 0
    background: float = 0.0
    jitter: int = 1

    def __str__(self) -> str:
        changed = [f"{self.senders} to 1"] * (self.senders > 0)
        changed += [f"{self.size / 1e6:g} MB", self.placement]
        changed += [f"window {self.window}"] * (self.window > 0)
        changed += [f"{self.failed:.0%} failed"] * (self.failed > 0)
        changed += [f"{self.background:.0%} background"] * (self.background > 0)
        return f"{self.pattern}, {', '.join(changed)}"


class Messages(NamedTuple):
    """Who sends how much to whom, and when."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    size: NDArray[np.int64]
    gates: Gates


CASES = [
    Case(**{**one, "size": int(parse(one["size"], "B", positive=True))}) for one in WRITTEN["case"]
]


def played(case: Case, seed: int = 0) -> tuple[Work, int]:
    """Return the case as a work, and how many of its transfers, the first ones, count."""
    random = np.random.default_rng([seed, CASES.index(case)])
    found = _messages(case, random)
    count = found.source.size
    if case.background:
        found = _beside(found, case, random)
    links, transfers = _routed(found, case, random)
    gates = found.gates
    starts = np.diff(gates.first) > 0
    delay = np.zeros(starts.size, np.int64) if gates.delay is None else gates.delay
    return Work(links, transfers, replace(gates, delay=delay + SOFTWARE * starts)), count


def starts(case: Case, work: Work) -> list[Work]:
    """Return the work as often as its case says, the starts moved by up to one packet time."""
    delay = work.gates.delay
    assert delay is not None
    moved = []
    for run in range(case.jitter):
        random = np.random.default_rng(run)
        late = (delay > 0) * random.integers(0, duration(4096, RATE), delay.size) * (run > 0)
        moved.append(work._replace(gates=replace(work.gates, delay=delay + late)))
    return moved


def finish(done: Played, count: int) -> int:
    """Return when the last transfer that counts is delivered, ps."""
    assert done.delivered is not None
    assert done.unfinished == 0
    return int(done.delivered[:count].max())


def _messages(case: Case, random: np.random.Generator) -> Messages:
    host = random.permutation(HOSTS) if case.placement == "random" else np.arange(HOSTS)
    if case.pattern == "incast":
        source = random.permutation(HOSTS)[: case.senders + 1]
        return _at_once(source[1:], np.full(case.senders, source[0]), case.size)
    if case.pattern == "permutation":
        target = random.permutation(HOSTS)
        keep = host != target
        return _at_once(host[keep], target[keep], case.size)
    if case.pattern == "all-to-all":
        return _all_to_all(case)
    source, target, step, size = _ring(case) if case.pattern == "ring" else _halving(case)
    gates, order = by_steps(source, target, step, HOSTS)
    return Messages(host[source[order]], host[target[order]], size[order], gates)


def _at_once(source: Longs, target: Longs, size: int) -> Messages:
    n = source.size
    return Messages(source, target, np.full(n, size), at_times(np.zeros(n, np.int64)))


def _ring(case: Case) -> tuple[Longs, Longs, Longs, Longs]:
    steps = 2 * (HOSTS - 1)
    source = np.tile(np.arange(HOSTS), steps)
    step = np.repeat(np.arange(steps), HOSTS)
    return source, (source + 1) % HOSTS, step, np.full(source.size, case.size // HOSTS)


def _halving(case: Case) -> tuple[Longs, Longs, Longs, Longs]:
    near = 2 ** np.arange(HOSTS.bit_length() - 1)
    away = np.concatenate([near[::-1], near])
    source = np.tile(np.arange(HOSTS), away.size)
    step = np.repeat(np.arange(away.size), HOSTS)
    return source, source ^ away[step], step, case.size * away[step] // HOSTS


def _all_to_all(case: Case) -> Messages:
    """Rank r sends to r + 1, r + 2, ...; message j waits for the delivery of j - window."""
    source = np.repeat(np.arange(HOSTS), HOSTS - 1)
    turn = np.tile(np.arange(HOSTS - 1), HOSTS)
    target, n = (source + turn + 1) % HOSTS, source.size
    sizes = np.full(n, case.size // HOSTS)
    if not case.window:
        return Messages(source, target, sizes, at_times(np.zeros(n, np.int64)))
    waits = turn >= case.window
    before = (np.arange(n) - case.window)[waits].astype(np.int32)
    return Messages(source, target, sizes, _after(waits, before))


def _after(waits: NDArray[np.bool_], before: Ints) -> Gates:
    start = np.concatenate([[0], np.cumsum(waits)])
    none = np.zeros(waits.size, np.int64)
    return by_dependencies(start, before, np.ones(before.size, np.int32), none)


def _beside(found: Messages, case: Case, random: np.random.Generator) -> Messages:
    """Add chains of messages between random pairs, three times as long as the case alone."""
    pairs = round(HOSTS * case.background)
    source, target = random.permutation(HOSTS)[: 2 * pairs].reshape(2, pairs)
    heaviest = np.bincount(found.source, found.size).max()
    length = int(3 * heaviest) // BACKGROUND + 1
    n = pairs * length
    waits = np.arange(n) % length > 0
    gates = _after(waits, (np.arange(n)[waits] - 1).astype(np.int32))
    return Messages(
        np.concatenate([found.source, np.repeat(source, length)]),
        np.concatenate([found.target, np.repeat(target, length)]),
        np.concatenate([found.size, np.full(n, BACKGROUND)]),
        joined([found.gates, gates]),
    )


def _routed(found: Messages, case: Case, random: np.random.Generator) -> tuple[Links, Transfers]:
    """Return links and transfers: up to the leaf, a spine by hash of the pair, and down."""
    spines = LEAF
    up = np.ones((LEAVES, spines), np.bool_)
    down = random.permutation(up.size)[: round(case.failed * up.size)]
    up.flat[down] = False
    choice = random.random((HOSTS, HOSTS))
    here, there = found.source // LEAF, found.target // LEAF
    works = up[here] & up[there]
    turn = (choice[found.source, found.target] * works.sum(axis=1)).astype(np.int64)
    spine = np.argsort(~works, axis=1, kind="stable")[np.arange(turn.size), turn]
    climbs = here != there
    rising = 2 * HOSTS + here * spines + spine
    falling = 2 * HOSTS + LEAVES * spines + there * spines + spine
    hops = np.stack(
        [
            found.source,
            np.where(climbs, rising, -1),
            np.where(climbs, falling, -1),
            HOSTS + found.target,
        ],
        axis=1,
    )
    count = 2 * HOSTS + 2 * LEAVES * spines
    start = np.concatenate([[0], np.cumsum((hops >= 0).sum(axis=1))])
    link = hops[hops >= 0].astype(np.int32)
    path = np.arange(turn.size, dtype=np.int32)
    links = Links(np.full(count, RATE), np.full(count, LATENCY))
    return links, Transfers(found.size, path, start, link)
