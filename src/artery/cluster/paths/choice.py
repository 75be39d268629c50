"""How a path is chosen among equal ones: hashes for ECMP, digits for static routes and spraying."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from artery.core.arrays import Ints

Words = NDArray[np.uint64]

_NOTHING = np.zeros(1, dtype=np.int64)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def mix(words: Words) -> Words:
    """Return 64 well mixed bits for every word: splitmix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    mixed = words + _GOLDEN
    mixed ^= mixed >> np.uint64(30)
    mixed *= _FIRST
    mixed ^= mixed >> np.uint64(27)
    mixed *= _SECOND
    mixed ^= mixed >> np.uint64(31)
    return mixed


def key(source: Ints, target: Ints, entropy: NDArray[np.integer] | None, seed: int) -> Words:
    """Return what a switch hashes: the pair, the queue pair's ``entropy`` and the hash's seed."""
    words = source.astype(np.uint64) << np.uint64(32)
    words |= target.astype(np.uint64)
    words = mix(words ^ mix(np.array([seed], dtype=np.uint64)))
    return words if entropy is None else mix(words ^ entropy.astype(np.uint64))


class Choice:
    """The digits of a path, one after the other, for an array of paths.

    ``words`` are hashed anew for every digit (``None``: not hashed). ``turn`` counts through the
    combinations of digits, the first one fastest: 0, 1, 2, … visit every path once. Where both
    are given the later digits go on with every turn too, so that a few turns spread evenly over
    the values of each digit. ``longer`` asks for ways that are not the shortest, where the topology
    has such a rule.
    """

    def __init__(self, words: Words | None, turn: Ints | None, *, longer: bool = False) -> None:
        self._words = words
        self._turn = turn
        self._whole = turn
        self._before: Ints | int = 1
        self.longer = longer

    def __call__(self, count: Ints | int) -> Ints:
        """Return a digit below ``count`` for every path; one 0 if no path has a choice."""
        if isinstance(count, int) and count == 1:
            return _NOTHING
        digit = self._hashed(count)
        if self._turn is None:
            return digit
        step = self._turn
        if self._words is not None and self._whole is not None:
            # With every turn one on, and one more where that would come round to the same.
            place, before = step % count, self._before
            step = self._whole % before + place * before + place // (count // np.gcd(before, count))
            self._before = before * count
        digit = np.asarray((digit + step) % count)
        self._turn = np.asarray(self._turn // count)
        return digit

    @property
    def by_target(self) -> bool:
        """Whether paths are counted and not hashed: static routes, by their target."""
        return self._words is None and self._whole is not None

    def port(self, count: int, source: Ints) -> Ints:
        """Return which of ``count`` ports of a target counted paths lead to, by their ``source``.

        A target has an address for each port, so this uses no digit up: the switches above tell
        the targets apart by all of them. Sources ``count`` in a row change over together, so that a
        shift, in which the target goes on with the source, takes all ports too.
        """
        if count == 1 or self._whole is None:
            return _NOTHING
        return np.asarray((source // count + self._whole) % count)

    def among(self, windows: int) -> None:
        """Count on only among every ``windows``-th of what the digits left over count."""
        if self._turn is not None:
            self._turn = np.asarray(self._turn // windows)

    def down(self, count: Ints | int, every: int = 1) -> Ints:
        """Return a digit for a choice on the way down, among every so-manyth switch.

        Counted paths that are not hashed take the lowest digit again: it tells the targets under
        one leaf apart, which the digits left over do not. Those that lead to one switch above are
        ``every`` apart in it.
        """
        if self._words is not None or self._whole is None:
            return self(count)
        return np.asarray(self._whole // every % count)

    def part(self, rows: Ints) -> Choice:
        """Return the choice for some of the paths."""
        words = None if self._words is None else self._words[rows]
        turn = None if self._turn is None else self._turn[rows]
        found = Choice(words, turn, longer=self.longer)
        found._whole = None if self._whole is None else self._whole[rows]
        before = self._before
        found._before = before if isinstance(before, int) or len(before) == 1 else before[rows]
        return found

    def _hashed(self, count: Ints | int) -> Ints:
        if self._words is None:
            return _NOTHING
        self._words = mix(self._words)
        upper = self._words >> np.uint64(32)
        scaled: Words = upper * np.asarray(count).astype(np.uint64) >> np.uint64(32)
        return scaled.view(np.int64)
