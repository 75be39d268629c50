"""Gates: what starts when. Builders for steps and for any graph of dependencies, and the twin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from artery.native.work import Gates, Ints, Longs, Whole

FEW_GATES: Final = 2**16
"""Up to here numpy sorts gates by their digits, which takes a fraction of comparing them."""


def by_steps(source: Whole, target: Whole, step: Whole, actors: int) -> tuple[Gates, Ints]:
    """Return the gates of a schedule of steps, and the order that its transfers must have.

    ``source`` and ``target`` number the actors (a rank of one group is one actor) and ``step``
    says when. An actor starts its transfers of step k once all that it sent in step k - 1 has
    left and all that it received in it is delivered. Gate k·actors + a is actor a's step k; the
    last row opens as each actor finishes. Take the transfers in the order returned.
    """
    steps = int(step.max()) + 1 if step.size else 0
    total = (steps + 1) * actors
    gate = step.astype(np.int32) * np.int32(actors) + source.astype(np.int32, copy=False)
    order = np.arange(gate.size, dtype=np.int32)
    if np.any(gate[1:] < gate[:-1]):
        short = gate.astype(np.uint16) if total <= FEW_GATES else gate
        order = np.argsort(short, kind="stable").astype(np.int32)
    delivered = gate - source.astype(np.int32, copy=False)
    delivered += target.astype(np.int32, copy=False)
    delivered += np.int32(actors)
    delivered, gate = delivered[order], gate[order]
    count = np.bincount(delivered, minlength=total).astype(np.int32)
    count[actors:] += 1
    first = np.zeros(total + 1, np.int32)
    started = np.bincount(gate, minlength=total - actors).astype(np.int32)
    count[actors:] += started
    np.cumsum(started, out=first[1 : total - actors + 1])
    first[total - actors + 1 :] = gate.size
    gate += np.int32(actors)
    none = np.zeros(0, np.int32)
    return Gates(count, first, none, none, gate, delivered, chain=actors), order


def listed(gates: Gates) -> Gates:
    """Return the same gates, those that a chain signals listed one by one."""
    if not gates.chain:
        return gates
    count = gates.count.size
    following = np.arange(min(gates.chain, count), count, dtype=np.int32)
    starts = np.minimum(np.arange(count + 1), following.size).astype(np.int32)
    return replace(gates, then_start=starts, then=following, chain=0)


def by_dependencies(start: Longs, after: Ints, delivered: Whole, delay: Longs) -> Gates:
    """Return the gates of n transfers, each waiting for others.

    Transfer t waits for transfers ``after[start[t]:start[t + 1]]``: where ``delivered`` is not 0
    until they are delivered, else until they are sent. It starts ``delay[t]`` ps later.
    Gate t starts transfer t; the gates from n on pass on what several transfers wait for.
    """
    n = start.size - 1
    waits = np.repeat(np.arange(n, dtype=np.int32), np.diff(start))
    told = np.where(delivered != 0, n, 0) + after
    waits = waits[np.argsort(told, kind="stable")]
    successors = np.bincount(told, minlength=2 * n)
    begins = np.cumsum(successors) - successors
    several = successors > 1
    relays = np.cumsum(several) + n - 1
    alone = waits[np.minimum(begins, waits.size - 1)] if waits.size else np.zeros(2 * n, np.int32)
    signals = np.where(several, relays, np.where(successors == 1, alone, -1)).astype(np.int32)
    count = np.concatenate([np.diff(start), np.ones(several.sum(), np.int64)]).astype(np.int32)
    first = np.minimum(np.arange(count.size + 1), n).astype(np.int32)
    lists = np.concatenate([np.zeros(n + 1, np.int64), np.cumsum(successors[several])])
    then = waits[np.repeat(several, successors)]
    late = np.concatenate([delay, np.zeros(count.size - n, np.int64)])
    return Gates(count, first, lists.astype(np.int32), then, signals[:n], signals[n:], late)


def at_times(release: Longs) -> Gates:
    """Return the gates of transfers that start at given times (ps) and wait for nothing."""
    n = release.size
    none, own = np.full(n, -1, np.int32), np.arange(n + 1, dtype=np.int32)
    nothing = np.zeros(0, np.int32)
    return Gates(
        np.zeros(n, np.int32), own, np.zeros(n + 1, np.int32), nothing, none, none, release
    )


def joined(parts: list[Gates]) -> Gates:
    """Return the gates of several works as one; transfers and gates are numbered on."""
    parts = [listed(part) for part in parts]
    transfers = np.cumsum([0, *(part.sent.size for part in parts)])
    gates = np.cumsum([0, *(part.count.size for part in parts)])
    thens = np.cumsum([0, *(part.then.size for part in parts)])

    def shifted(name: str, offsets: Longs, *, starts: bool = False) -> Ints:
        found: list[Ints] = []
        for i, part in enumerate(parts):
            array: Ints = getattr(part, name)
            array = array[: array.size - 1] if starts else array
            found.append(np.where(array < 0, array, array + offsets[i]).astype(np.int32))
        if starts:
            found.append(offsets[-1:].astype(np.int32))
        return np.concatenate(found)

    zeros = [np.zeros(part.count.size, np.int64) for part in parts]
    delay = [zeros[i] if part.delay is None else part.delay for i, part in enumerate(parts)]
    return Gates(
        np.concatenate([part.count for part in parts]),
        shifted("first", transfers, starts=True),
        shifted("then_start", thens, starts=True),
        shifted("then", gates),
        shifted("sent", gates),
        shifted("delivered", gates),
        np.concatenate(delay),
    )


class Opener:
    """The twin of the gates of work.h; ``begin(transfer, time)`` starts a transfer."""

    def __init__(self, gates: Gates, begin: Callable[[int, int], None]) -> None:
        self.begin = begin
        self.count, self.first = gates.count.tolist(), gates.first.tolist()
        self.chain = gates.chain
        self.then_start = gates.then_start.tolist()
        self.then: list[int] = gates.then.tolist()
        self.sent, self.delivered = gates.sent.tolist(), gates.delivered.tolist()
        self.delay = [0] * len(self.count) if gates.delay is None else gates.delay.tolist()
        self.opened = [0] * len(self.count)

    def open_roots(self) -> None:
        """Open the gates that wait for nothing."""
        for gate in [gate for gate, count in enumerate(self.count) if not count]:
            self.open(gate)

    def signal(self, gate: int, time: int) -> None:
        """Give ``gate`` (-1: none) a signal."""
        if gate >= 0 and self.last(gate, time):
            self.open(gate)

    def last(self, gate: int, time: int) -> bool:
        """Count a signal; return whether it was the last one missing."""
        self.opened[gate] = max(self.opened[gate], time)
        left = self.count[gate] = self.count[gate] - 1
        return not left

    def open(self, gate: int) -> None:
        """Open ``gate`` and whatever opens with it."""
        ready = [gate]
        while ready:
            gate = ready.pop()
            time = self.opened[gate] = self.opened[gate] + self.delay[gate]
            for transfer in range(self.first[gate], self.first[gate + 1]):
                self.begin(transfer, time)
            ready += [one for one in self.following(gate) if self.last(one, time)]

    def following(self, gate: int) -> Sequence[int]:
        """Return the gates that ``gate`` signals."""
        if self.chain:
            return range(gate + self.chain, min(gate + self.chain + 1, len(self.count)))
        return self.then[self.then_start[gate] : self.then_start[gate + 1]]

    def closed(self) -> Longs:
        """Return when each gate opened, -1: never."""
        times = np.array(self.opened, np.int64)
        times[np.array(self.count, np.int64) > 0] = -1
        return times
