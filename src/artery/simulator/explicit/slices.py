"""Slices through trees, message by message: each is passed on as soon as it is there.

A schedule's steps say who passes what on to whom; a library does not wait for a step to end. Its
ranks pass a slice on once all of it that they add has arrived, slice after slice on each
connection, and while the next rank has a slot free. So a transfer waits for what its source
received of its chunk since the source last sent that chunk, for the slice before it, and for the
slot that a slice before it, as many as there are slots, leaves as its target has passed it on.

Chunks of a schedule are cut further, into pieces of what a library passes on as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from artery.collective.schedules.sizes import chunk_bytes
from artery.core.arrays import Ints, runs, within
from artery.core.schedule import Schedule
from artery.native.work import Gates
from artery.simulator.coupled.pipes import PACKET, cut_of, playable, slice_of, slot_of
from artery.simulator.placed import Placed

Small = NDArray[np.int32]

SLOTS: Final = 8
"""Slots that a rank has for what it holds for the next one: NCCL_STEPS of NCCL's device code."""

MOST_SLICES: Final = 1_000_000
"""Messages up to which chunks are cut into what a library passes on; beyond, into as many equal
pieces as make so many."""


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """The transfers of slices, in the order of their gates.

    From ``source`` to ``target``, piece ``piece`` of chunk ``chunk`` in step ``step``; ``adds``
    says which their targets add to their own.
    """

    source: Small
    target: Small
    chunk: Ints
    piece: Ints
    step: Small
    adds: NDArray[np.bool_]
    gates: Gates


def sliced(job: Placed) -> bool:
    """Whether slices of the job pass through trees or switches that add."""
    return playable(job) and any(pipe.kind != "ring" for pipe in job.schedule.pipes)


def slices_of(job: Placed) -> int:
    """Return the transfers of single chunks that a sliced job has."""
    schedule = job.schedule
    return sum(
        len(pipe.source) * (1 + pipe.both_ways) * round(pipe.weight * pipe.volume * schedule.chunks)
        for pipe in schedule.pipes
    )


def wanted(job: Placed) -> int:
    """Return into how many pieces a library cuts each chunk of a sliced job."""
    return cut_of(job, slice_of(job) if job.vertices is None else PACKET)


def slots_of(job: Placed) -> int:
    """Return for how many pieces a rank has room: finer ones than a slot lie in it together.

    So it is with lines with flags; the buffers of LL are smaller, of LL128 larger than these.
    """
    return SLOTS * max(slot_of(job) // slice_of(job), 1)


def pieces(jobs: Sequence[Placed]) -> list[int]:
    """Return into how many pieces the chunks of each job are cut, 1 where it has no slices."""
    each = [slices_of(job) if sliced(job) else 0 for job in jobs]
    many = max(MOST_SLICES // max(sum(each), 1), 1)
    return [min(wanted(job), many) if one else 1 for job, one in zip(jobs, each, strict=True)]


def coarse(jobs: Sequence[Placed]) -> bool:
    """Whether slices are played coarser than a library's, all jobs having a pipelined form."""
    if not all(playable(job) for job in jobs):
        return False
    both = zip(jobs, pieces(jobs), strict=True)
    return any(sliced(job) and many < wanted(job) for job, many in both)


def sizes(job: Placed, flow: Flow, pieces: int) -> Ints:
    """Return the bytes of each transfer: chunks of whole bytes, cut into pieces of whole bytes."""
    chunk = np.arange(job.schedule.chunks)
    whole = chunk_bytes(job.schedule, job.size, chunk, np.ones_like(chunk))[flow.chunk]
    return np.asarray(whole * (flow.piece + 1) // pieces - whole * flow.piece // pieces)


def flow(schedule: Schedule, pieces: int, slots: int = SLOTS) -> Flow:
    """Return the transfers of a schedule, each chunk in ``pieces``, and what they wait for.

    A rank holds ``slots`` pieces for the next one.

    The gates are the actors' (they open as these begin), one for each transfer that starts it and
    one that it has left, those of what an actor has received, and as each actor is done.
    """
    source, target, chunk, step, adds = _alone(schedule)
    heard, told, owner = _received(source, target, chunk, step, schedule.chunks)
    turn = _turn(source, chunk, told, schedule.chunks)
    slices = _slices(schedule)
    connection = np.stack([source, target, chunk // slices, turn])
    order = np.lexsort((chunk % slices, *connection[::-1]))
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (connection[:, order[1:]] != connection[:, order[:-1]]).any(axis=0)
    each: Ints = np.repeat(source, pieces)
    gates = _Waits(
        actors=schedule.ranks + schedule.switches,
        source=each,
        line=_cut(order, pieces),
        stream=np.repeat(np.cumsum(fresh) - 1, pieces),
        heard=_cut(heard, pieces),
        told=_cut(told, pieces),
        owner=np.repeat(owner, pieces),
        slots=slots,
    ).gates()
    return Flow(
        source=each.astype(np.int32),
        target=np.repeat(target, pieces).astype(np.int32),
        chunk=np.repeat(chunk, pieces),
        piece=np.tile(np.arange(pieces), len(source)),
        step=np.repeat(step, pieces).astype(np.int32),
        adds=np.repeat(adds, pieces),
        gates=gates,
    )


def _cut(numbers: Ints, pieces: int) -> Ints:
    """Return the numbers of the pieces of numbered things; -1 stays."""
    each = numbers[:, None] * pieces + np.arange(pieces)
    return np.where(numbers[:, None] < 0, -1, each).ravel()


def _slices(schedule: Schedule) -> int:
    """Return the chunks that follow each other up and down each tree."""
    trees = [pipe for pipe in schedule.pipes if pipe.kind == "tree"]
    return max((round(one.weight * one.volume * schedule.chunks) for one in trees), default=1)


def _alone(schedule: Schedule) -> tuple[Ints, Ints, Ints, Ints, NDArray[np.bool_]]:
    """Return source, target, chunk, step and whether it is added, of transfers of one chunk."""
    steps = [schedule.step(k) for k in range(schedule.steps)]
    count = np.concatenate([one.count for one in steps])
    step = np.repeat(np.arange(len(steps)), [len(one.count) for one in steps])
    source, target, first, adds = (
        np.repeat(np.concatenate([getattr(one, name) for one in steps]), count)
        for name in ("source", "target", "first", "reduce")
    )
    return source, target, first + within(count), np.repeat(step, count), adds


def _received(
    source: Ints, target: Ints, chunk: Ints, step: Ints, chunks: int
) -> tuple[Ints, Ints, Ints]:
    """Return what each transfer is a part of, as received, and what its source waits for.

    What an actor receives of a chunk between two steps in which it sends it is one: it is named
    by a number for each transfer that brings it, and for each that waits for it (-1: it waits for
    none); last the actor of each number.
    """
    many = len(source)
    key = np.concatenate([target * chunks + chunk, source * chunks + chunk])
    time = np.concatenate([2 * step + 1, 2 * step])
    order = np.lexsort((time, key))
    comes, sorted_key = order < many, key[order]
    fresh = comes.copy()
    fresh[1:] &= ~comes[:-1] | (sorted_key[1:] != sorted_key[:-1])
    number = np.cumsum(fresh) - 1
    of = sorted_key[fresh]
    mine = number >= 0
    mine[mine] = of[number[mine]] == sorted_key[mine]
    found = np.empty(2 * many, np.int64)
    found[order] = np.where(mine, number, -1)
    return found[:many], found[many:], of // chunks


def _turn(source: Ints, chunk: Ints, told: Ints, chunks: int) -> Ints:
    """Return how often its source had received the chunk, by transfer, before it sends it."""
    key = source * chunks + chunk
    order = np.lexsort((told, key))
    key, told = key[order], told[order]
    fresh = np.ones(len(key), np.bool_)
    fresh[1:] = key[1:] != key[:-1]
    more = np.ones(len(key), np.int64)
    more[1:] = told[1:] != told[:-1]
    count = np.cumsum(more)
    first = np.maximum.accumulate(np.where(fresh, np.arange(len(key)), 0))
    found = np.empty(len(key), np.int64)
    found[order] = count - count[first] + (told[first] >= 0)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Waits:
    """What transfers wait for: ``line`` has them by connection, ``stream`` says which, in order.

    Each is ``heard`` as a part of what an actor (``owner``) receives, and waits to be ``told`` of
    such a part (-1: none), and there is room for ``slots`` at the next actor.
    """

    actors: int
    source: Ints
    line: Ints
    stream: Ints
    heard: Ints
    told: Ints
    owner: Ints
    slots: int

    def gates(self) -> Gates:
        """Return the gates: of actors, starts, ends, parts received, and actors that are done."""
        many, parts = len(self.source), len(self.owner)
        start, end, part = self.actors, self.actors + many, self.actors + 2 * many
        done = part + parts
        total = done + self.actors
        transfer = np.arange(many)
        waits = np.flatnonzero(self.told >= 0)
        first = self.line[np.flatnonzero(np.diff(self.stream, prepend=-1))]
        last = self.line[np.flatnonzero(np.diff(self.stream, append=-1))]
        holder, freed = self._slots()
        signals = [
            (self.source[first], start + first),
            (end + self._before(1)[0], start + self._before(1)[1]),
            (part + self.told[waits], start + waits),
            (end + holder, start + freed),
            (end + last, done + self.source[last]),
            (part + np.arange(parts), done + self.owner),
        ]
        signal = np.concatenate([one for one, _ in signals])
        follows = np.concatenate([other for _, other in signals])
        count = np.bincount(follows, minlength=total)
        count[end:part] += 1
        count[part:done] += np.bincount(self.heard, minlength=parts)
        order = np.argsort(signal, kind="stable")
        opens = np.clip(np.arange(total + 1) - start, 0, many)
        return Gates(
            count.astype(np.int32),
            opens.astype(np.int32),
            np.concatenate([[0], np.cumsum(np.bincount(signal, minlength=total))]).astype(np.int32),
            follows[order].astype(np.int32),
            (end + transfer).astype(np.int32),
            (part + self.heard).astype(np.int32),
        )

    def _before(self, by: int) -> tuple[Ints, Ints]:
        """Return transfers, and those ``by`` places after them on their connections."""
        same = np.flatnonzero(self.stream[by:] == self.stream[:-by])
        return self.line[same], self.line[same + by]

    def _slots(self) -> tuple[Ints, Ints]:
        """Return transfers that leave a slot, and the transfers that then take it."""
        filled, next_ = self._before(self.slots)
        part = self.heard[filled]
        order = np.argsort(self.told, kind="stable")
        told = self.told[order]
        low, high = (np.searchsorted(told, part, side=side) for side in ("left", "right"))
        many = high - low
        return order[runs(low, many)], np.repeat(next_, many)
