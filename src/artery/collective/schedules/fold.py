"""Any number of ranks folded to a power of two.

Of the first 2r ranks, where r is what there is too much, the even ones hand their data to the
odd ones, sit out, and are handed the result (Thakur, Rabenseifner and Gropp, IJHPCA 2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from artery.collective.schedules.transfers import Steps, once, transfers
from artery.core.arrays import Ints


@dataclass(frozen=True, slots=True)
class Fold:
    """``core`` = 2^``bits`` members that take part, ``rest`` ranks that sit out."""

    core: int
    bits: int
    rest: int

    @classmethod
    def of(cls, ranks: int) -> Self:
        """Return the fold of ``ranks`` ranks to the largest power of two in them."""
        bits = ranks.bit_length() - 1
        return cls(1 << bits, bits, ranks - (1 << bits))

    def rank(self, member: Ints) -> Ints:
        """Return the rank of each member of the core."""
        return np.asarray(np.where(member < self.rest, 2 * member + 1, member + self.rest))

    @property
    def idle(self) -> Ints:
        """The ranks that sit out; the one after each stands in for it."""
        return 2 * np.arange(self.rest)

    def around(self, core: tuple[Steps, int], *, chunks: int) -> tuple[tuple[Steps, int], ...]:
        """Return the steps of an all-reduce over the core with those before and after them."""
        if not self.rest:
            return (core,)

        idle = self.idle
        before = once(lambda: transfers(idle, idle + 1, 0, chunks, reduce=True))
        after = once(lambda: transfers(idle + 1, idle, 0, chunks))
        return (before, core, after)


def reversed_bits(value: Ints, bits: int) -> Ints:
    """Return the lowest ``bits`` bits of each number in reverse order."""
    result = np.zeros_like(value)
    for bit in range(bits):
        result |= ((value >> bit) & 1) << (bits - 1 - bit)
    return result
