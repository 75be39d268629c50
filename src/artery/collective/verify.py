"""The verifier: plays a schedule on integers and holds it to its claims.

Every rank starts with 64-bit integers of its own in every chunk, sums are taken modulo 2⁶⁴, so
that a missing or doubled term cannot hide. The verifier says whether the result is right, and
whether steps, chunks sent, ports and pipes are as the schedule claims.

A schedule that plays to the end without a rank sending what it does not hold cannot deadlock:
both ends of a transfer take the transfers of a step in the order of the arrays, so the first
one not done is next at both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from artery.core.arrays import Flags, Ints, within
from artery.core.schedule import Pipe, Schedule, Step
from artery.errors import UsageError

Kind = Literal["range", "missing", "race", "result", "steps", "wire", "ports", "pipes"]

CELLS = 2**26
"""Most (vertex, chunk) cells that are played: 0.6 GB of integers and flags."""

_Values = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: ``rank`` and ``chunk`` are the first it was seen at, else -1."""

    kind: Kind
    text: str
    step: int = -1
    rank: int = -1
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class Verdict:
    """What playing a schedule showed.

    ``sent`` and ``received`` are chunks by vertex (ranks, then switches); ``fan_out`` and
    ``fan_in`` the most peers that a rank sends to, and receives from, in one step. ``source``,
    ``target`` and ``carried`` are the chunks over each pair of vertices that exchanged any.
    """

    faults: tuple[Fault, ...]
    steps: int
    sent: Ints
    received: Ints
    fan_out: int
    fan_in: int
    source: Ints
    target: Ints
    carried: Ints

    @property
    def right(self) -> bool:
        """Whether there is no fault."""
        return not self.faults


def verify(schedule: Schedule) -> Verdict:
    """Play ``schedule`` on integers and return what it showed.

    Raises:
        UsageError: it is too large to be played (:data:`CELLS`).
    """
    vertices = schedule.ranks + schedule.switches
    if vertices * schedule.chunks > CELLS:
        raise UsageError(
            f"{schedule.name} over {schedule.ranks} ranks has {vertices}·{schedule.chunks} chunks;"
            f" at most {CELLS} can be played; verify the same algorithm over fewer ranks"
        )
    game = _Game(schedule)
    for k in range(schedule.steps):
        if not game.play(k, schedule.step(k)):
            break
    return game.verdict()


def outcome(schedule: Schedule, values: Ints) -> Ints:
    """Return what each rank holds in the end: int64[ranks, chunks], right or wrong.

    ``values`` is what they start with, in the same shape. Raises
    :class:`artery.errors.UsageError` if a rank would wait for ever for what it should send.
    """
    game = _Game(schedule)
    game.values[: schedule.ranks] = np.where(own(schedule), values, 0).astype(np.uint64)
    for k in range(schedule.steps):
        if not game.play(k, schedule.step(k)):
            raise UsageError(game.faults[-1].text)
    return game.values[: schedule.ranks].astype(np.int64)


class _Game:
    """The state of a schedule being played."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        vertices = schedule.ranks + schedule.switches
        self.values, self.held = _start(schedule)
        self.faults: list[Fault] = []
        self.steps = 0
        self.fan_out = 0
        self.fan_in = 0
        self.sent = np.zeros(vertices, np.int64)
        self.received = np.zeros(vertices, np.int64)
        self.edges: list[tuple[Ints, Ints]] = []

    def play(self, k: int, step: Step) -> bool:
        """Play step ``k``; return whether the game can go on."""
        if not len(step.source):
            self.faults.append(Fault("steps", f"step {k} is empty", step=k))
            return True
        if self._out_of_range(k, step):
            return False
        self._count(step)
        which = np.repeat(np.arange(len(step.source)), step.count)
        source, target, reduce = step.source[which], step.target[which], step.reduce[which]
        chunk = step.first[which] + within(step.count)
        if self._missing(k, source, chunk):
            return False
        self._race(k, target, chunk, reduce)
        moved = self.values[source, chunk]
        self.values[target[~reduce], chunk[~reduce]] = moved[~reduce]
        np.add.at(self.values, (target[reduce], chunk[reduce]), moved[reduce])
        self.held[target, chunk] = True
        self.steps = k + 1
        return True

    def _out_of_range(self, k: int, step: Step) -> bool:
        vertices = len(self.sent)
        ends = step.first + step.count
        wrong = (
            (np.minimum(step.source, step.target) < 0)
            | (np.maximum(step.source, step.target) >= vertices)
            | (step.source == step.target)
            | (step.first < 0)
            | (step.count < 1)
            | (ends > self.schedule.chunks)
        )
        for index in np.flatnonzero(wrong)[:1]:
            source, target = int(step.source[index]), int(step.target[index])
            first, end = int(step.first[index]), int(ends[index])
            text = f"step {k}: rank {source} sends chunks {first} to {end - 1} to rank {target}"
            rule = f"; there are {vertices} vertices and {self.schedule.chunks} chunks"
            self.faults.append(Fault("range", text + rule, k, source, first))
        return bool(wrong.any())

    def _count(self, step: Step) -> None:
        vertices = len(self.sent)
        self.sent += np.bincount(step.source, step.count, vertices).astype(np.int64)
        self.received += np.bincount(step.target, step.count, vertices).astype(np.int64)
        key, place = np.unique(step.source * vertices + step.target, return_inverse=True)
        self.edges.append((key, np.bincount(place, step.count).astype(np.int64)))
        ranks = self.schedule.ranks
        self.fan_out = max(self.fan_out, _most(key // vertices, ranks))
        self.fan_in = max(self.fan_in, _most(key % vertices, ranks))

    def _missing(self, k: int, source: Ints, chunk: Ints) -> bool:
        """Note a rank that would wait for ever for what it should send."""
        missing = ~self.held[source, chunk]
        for index in np.flatnonzero(missing)[:1]:
            rank, which = int(source[index]), int(chunk[index])
            text = f"step {k}: rank {rank} sends chunk {which}, which it does not hold"
            self.faults.append(Fault("missing", text, k, rank, which))
        return bool(missing.any())

    def _race(self, k: int, target: Ints, chunk: Ints, reduce: Flags) -> None:
        """Note a chunk that is overwritten while something else arrives there."""
        key = target * self.schedule.chunks + chunk
        unique, place, times = np.unique(key, return_inverse=True, return_counts=True)
        overwritten = np.bincount(place, ~reduce, len(unique)) > 0
        for index in np.flatnonzero((times > 1) & overwritten)[:1]:
            rank, which = divmod(int(unique[index]), self.schedule.chunks)
            text = f"step {k}: chunk {which} of rank {rank} is overwritten while another arrives"
            self.faults.append(Fault("race", text, k, rank, which))

    def verdict(self) -> Verdict:
        """Return the verdict on all that was played."""
        vertices = len(self.sent)
        keys = np.concatenate([key for key, _ in self.edges] or [np.zeros(0, np.int64)])
        counts = np.concatenate([count for _, count in self.edges] or [np.zeros(0, np.int64)])
        key, place = np.unique(keys, return_inverse=True)
        carried = np.bincount(place, counts, len(key)).astype(np.int64)
        if not self.faults:
            self.faults += _wrong_result(self.schedule, self.values, self.held)
            self.faults += self._wrong_claims()
            self.faults += _wrong_pipes(self.schedule, key, carried)
        return Verdict(
            faults=tuple(self.faults),
            steps=self.steps,
            sent=self.sent,
            received=self.received,
            fan_out=self.fan_out,
            fan_in=self.fan_in,
            source=key // vertices,
            target=key % vertices,
            carried=carried,
        )

    def _wrong_claims(self) -> list[Fault]:
        schedule, found = self.schedule, []
        busiest = int(np.argmax(self.sent[: schedule.ranks]))
        most = int(self.sent[busiest])
        if abs(most - schedule.wire) > 1e-9 * max(most, 1):
            text = f"rank {busiest} sends {most} chunks, claimed are {schedule.wire:g} at most"
            found.append(Fault("wire", text, rank=busiest))
        peers = max(self.fan_out, self.fan_in)
        if peers > schedule.ports:
            text = f"a rank has {peers} peers in one step, claimed are {schedule.ports} at most"
            found.append(Fault("ports", text))
        return found


def _most(vertex: Ints, ranks: int) -> int:
    """Return how often the most frequent rank is in ``vertex``; switches do not count."""
    here = vertex[vertex < ranks]
    return int(np.bincount(here).max()) if len(here) else 0


def own(schedule: Schedule) -> Flags:
    """Return which chunks each rank starts with: bool[ranks, chunks]."""
    ranks, chunks = schedule.ranks, schedule.chunks
    rank = np.arange(ranks)[:, None]
    match schedule.collective:
        case "all_gather" | "alltoall" | "sendrecv":
            return np.asarray(rank == owners(schedule))
        case "broadcast":
            return np.broadcast_to(rank == schedule.root, (ranks, chunks))
        case _:
            return np.ones((ranks, chunks), np.bool_)


def owners(schedule: Schedule) -> Ints:
    """Return whose block each chunk is a part of (in all-to-all: who holds it at first)."""
    if schedule.owner is not None:
        return schedule.owner
    return np.arange(schedule.chunks) * schedule.ranks // schedule.chunks


def _start(schedule: Schedule) -> tuple[_Values, Flags]:
    """Return a different number in every cell that is held at first, and which are held."""
    vertices = schedule.ranks + schedule.switches
    held = np.zeros((vertices, schedule.chunks), np.bool_)
    held[: schedule.ranks] = own(schedule)
    values = _mixed(np.arange(held.size, dtype=np.uint64)).reshape(held.shape)
    return np.where(held, values, np.uint64(0)), held


def _mixed(value: _Values) -> _Values:
    """Return a one-to-one scrambling of 64-bit numbers (SplitMix64: Steele, Lea, Flood 2014)."""
    value = value * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(value ^ (value >> np.uint64(31)))


def asked(schedule: Schedule) -> Flags:
    """Return which chunks each rank must hold in the end: bool[ranks, chunks]."""
    ranks, chunks = schedule.ranks, schedule.chunks
    rank, chunk = np.arange(ranks)[:, None], np.arange(chunks)
    match schedule.collective:
        case "reduce_scatter":
            return np.asarray(rank == owners(schedule))
        case "reduce":
            return np.broadcast_to(rank == schedule.root, (ranks, chunks))
        case "alltoall":
            return np.asarray(rank == chunk * ranks * ranks // chunks % ranks)
        case "sendrecv":
            return np.asarray(rank == (owners(schedule) + 1) % ranks)
        case _:
            return np.ones((ranks, chunks), np.bool_)


def _wrong_result(schedule: Schedule, values: _Values, held: Flags) -> list[Fault]:
    ranks, needed = schedule.ranks, asked(schedule)
    right = _start(schedule)[0][:ranks].sum(axis=0, dtype=np.uint64)
    wrong = needed & (~held[:ranks] | (values[:ranks] != right))
    if not wrong.any():
        return []
    rank, chunk = (int(index) for index in np.argwhere(wrong)[0])
    what = "is wrong" if held[rank, chunk] else "never arrives"
    text = f"chunk {chunk} of rank {rank} {what} ({int(wrong.sum())} of {int(needed.sum())} are)"
    return [Fault("result", text, schedule.steps - 1, rank, chunk)]


def _wrong_pipes(schedule: Schedule, key: Ints, carried: Ints) -> list[Fault]:
    """Hold the pipes to what went over each edge."""
    if not schedule.pipes:
        return []
    vertices = schedule.ranks + schedule.switches
    keys, shares = [key], [-carried / schedule.chunks]
    for pipe in schedule.pipes:
        if (fault := _misshapen(pipe)) is not None:
            return [fault]
        load = np.full(len(pipe.source), pipe.weight * pipe.volume)
        ways = [(pipe.source, pipe.target), (pipe.target, pipe.source)][: 1 + pipe.both_ways]
        for source, target in ways:
            keys.append(source * vertices + target)
            shares.append(load)
    edge, place = np.unique(np.concatenate(keys), return_inverse=True)
    gap = np.abs(np.bincount(place, np.concatenate(shares)))
    worst = int(np.argmax(gap))
    if gap[worst] < 1e-9:
        return []
    one, other = divmod(int(edge[worst]), vertices)
    text = f"pipes and steps differ by {gap[worst]:g} of the size from rank {one} to {other}"
    return [Fault("pipes", text, rank=one)]


def _misshapen(pipe: Pipe) -> Fault | None:
    """Return a fault if the pipe is not of the kind that it says."""
    for ends in (pipe.source, pipe.target) if pipe.kind == "ring" else ():
        if len(np.unique(ends)) != len(ends):
            return Fault("pipes", "a ring passes a rank twice", rank=int(ends[0]))
    if pipe.kind == "ring" and set(pipe.source.tolist()) != set(pipe.target.tolist()):
        return Fault("pipes", "a ring is not closed", rank=int(pipe.source[0]))
    edges = len(pipe.source)
    if (
        pipe.kind == "star"
        and max(len(np.unique(pipe.source)), len(np.unique(pipe.target))) < edges
    ):
        return Fault("pipes", "a rank is in two stars", rank=int(pipe.source[0]))
    return None
