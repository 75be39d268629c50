"""One step on a clock: backward computes, buckets travel as soon as they are full, cores shared.

On a processor the threads that send take time from those that compute. ``Share`` says how fast
each goes while the other one runs; where there is a core to spare both are 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Share:
    """Speed of computing and of communicating while both run, over their speed alone."""

    compute: float
    communicate: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """One step, in seconds.

    ``communication_s``: how long at least one bucket was under way. ``exposed_s``: what the step
    takes beyond its computing alone, copies into and out of buckets included.
    """

    step_s: float
    compute_s: float
    communication_s: float
    exposed_s: float


@dataclass(frozen=True, slots=True)
class Bucket:
    """One bucket of gradients, in seconds.

    It is full after ``ready_s`` of computing; then ``pack_s`` to copy it together, ``wire_s`` for
    its all-reduce alone, ``unpack_s`` to copy it back.
    """

    ready_s: float
    pack_s: float
    wire_s: float
    unpack_s: float


def play(
    before_s: float, after_s: float, buckets: Sequence[Bucket], share: Share, *, overlap: bool
) -> Timeline:
    """Return the step that computes ``before_s`` until all gradients are there, then ``after_s``.

    All-reduces run one after another, in the order of ``buckets``. Without ``overlap`` all
    buckets are packed after backward.
    """
    clock = done = 0.0
    waiting = busy = 0.0
    for bucket in buckets if overlap else ():
        clock, waiting, busy = _compute(bucket.ready_s - done, clock, waiting, busy, share)
        done = max(done, bucket.ready_s)
        clock, waiting, busy = _compute(bucket.pack_s, clock, waiting, busy, share)
        waiting += bucket.wire_s
    clock, waiting, busy = _compute(before_s - done, clock, waiting, busy, share)
    if not overlap:
        clock += sum(one.pack_s for one in buckets)
        waiting += sum(one.wire_s for one in buckets)
    clock, busy = clock + waiting, busy + waiting
    clock += sum(one.unpack_s for one in buckets) + after_s
    compute = before_s + after_s
    return Timeline(clock, compute, busy, clock - compute)


def _compute(
    work: float, clock: float, waiting: float, busy: float, share: Share
) -> tuple[float, float, float]:
    """Return clock, all-reduce still to do, and time with one under way, after ``work`` s."""
    if work <= 0:
        return clock, waiting, busy
    both = min(work / share.compute, waiting / share.communicate)
    left = max(0.0, work - both * share.compute)
    return clock + both + left, max(0.0, waiting - both * share.communicate), busy + both


def fitted(
    before_s: float,
    after_s: float,
    buckets: Sequence[Bucket],
    *,
    step_s: float,
    communication_s: float,
) -> Share:
    """Return the share with which :func:`play` meets a measured step and its communication.

    Tried on a grid from 0.2 to 1 in steps of 0.02; the sum of squared relative errors is least.
    """
    grid = [number / 50 for number in range(10, 51)]

    def error(share: Share) -> float:
        played = play(before_s, after_s, buckets, share, overlap=True)
        return (played.step_s / step_s - 1) ** 2 + (
            played.communication_s / communication_s - 1
        ) ** 2

    return min((Share(one, two) for one in grid for two in grid), key=error)
