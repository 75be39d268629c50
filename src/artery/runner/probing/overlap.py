"""One step on a clock: backward computes, buckets travel as soon as they are full, cores shared.

On a processor the threads that send take time from those that compute, and those that compute make
them wait for their turn: a bucket takes ``wire_s`` alone and ``beside_s`` beside computing, which
goes on at the speed ``share`` meanwhile. Where there is a core to spare, nothing slows down.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field


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
class Sent:
    """One all-reduce: its seconds alone, and beside computing."""

    wire_s: float
    beside_s: float


@dataclass(frozen=True, slots=True)
class Bucket:
    """One bucket of gradients, in seconds.

    It is full after ``ready_s`` of computing; then ``pack_s`` to copy it together (and to make it
    small), ``sent`` its all-reduce, ``unpack_s`` to copy it back. ``again``: what follows the
    all-reduce before that, computing and one more all-reduce each (PowerSGD's second factors).
    """

    ready_s: float
    pack_s: float
    sent: Sent
    unpack_s: float
    again: tuple[tuple[float, Sent], ...] = ()


@dataclass
class _Clock:
    """Time so far, with the all-reduces that are queued: one runs at a time."""

    share: float
    now: float = 0.0
    busy: float = 0.0
    queue: deque[tuple[int, Sent]] = field(default_factory=deque)
    left: float = 1.0
    """What is left of the first in the queue, as a share of it."""
    begun: int = 0

    def begin(self, sent: Sent) -> int:
        """Queue an all-reduce and return its number."""
        self.begun += 1
        self.queue.append((self.begun, sent))
        return self.begun

    def compute(self, work: float) -> None:
        """Compute for ``work`` seconds of computing alone."""
        while work > 0 and self.queue:
            took = self.left * self.queue[0][1].beside_s
            both = min(work / self.share, took)
            work -= both * self.share
            self._advance(both, both / took if took else 1.0, done=both == took)
        self.now += max(work, 0.0)

    def wait(self, number: int) -> None:
        """Wait until the all-reduce ``number`` is done, and do nothing else."""
        while self.queue and self.queue[0][0] <= number:
            self._advance(self.left * self.queue[0][1].wire_s, self.left, done=True)

    def _advance(self, seconds: float, part: float, *, done: bool) -> None:
        self.now += seconds
        self.busy += seconds
        self.left -= part
        if done:
            self.queue.popleft()
            self.left = 1.0


def play(
    before_s: float, after_s: float, buckets: Sequence[Bucket], share: float, *, overlap: bool
) -> Timeline:
    """Return the step that computes ``before_s`` until all gradients are there, then ``after_s``.

    All-reduces run one after another, in the order in which they begin. Without ``overlap`` all
    buckets are packed after backward, each travelling while the next one is packed.
    """
    clock, done, numbers = _Clock(share), 0.0, []
    for bucket in buckets:
        ready = max(done, bucket.ready_s) if overlap else before_s
        clock.compute(ready - done)
        done = ready
        clock.compute(bucket.pack_s)
        numbers.append(clock.begin(bucket.sent))
    clock.compute(before_s - done)
    for bucket, number in zip(buckets, numbers, strict=True):
        clock.wait(number)
        for work, sent in bucket.again:
            clock.compute(work)
            clock.wait(clock.begin(sent))
        clock.compute(bucket.unpack_s)
    clock.compute(after_s)
    compute = before_s + after_s
    return Timeline(clock.now, compute, clock.busy, clock.now - compute)
