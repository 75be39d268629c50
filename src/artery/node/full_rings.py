"""Rings over chips that are all joined to each other: every directed link in as many of them.

The complete directed graph on ``n`` vertices splits into ``n - 1`` Hamiltonian cycles for every
``n`` but 4 and 6 (Tillson, "A Hamiltonian decomposition of K*_2m, 2m ≥ 8", 1980). Over 4 and 6
every link is in two rings, each with half of it: NCCL's search, too, lets several channels share a
link (``src/graph/search.cc``: a channel takes its speed off the links that it crosses).
"""

from __future__ import annotations

from functools import cache

Cycle = tuple[int, ...]
"""Chips in the order of a ring, closed from the last to the first."""

UNSPLIT = (4, 6)
"""Numbers of chips for which there are no rings with a link each of their own."""

MOST = 10
"""Chips up to which the search ends at once: 151 steps for eight, 521 at most."""


@cache
def full_rings(chips: int) -> tuple[Cycle, ...]:
    """Return ``chips - 1`` rings that use every directed link once; over 4 and 6 twice as many.

    Those use it twice. None for fewer than three chips, and for more than ten.
    """
    if not 3 <= chips <= MOST:
        return ()
    if chips in UNSPLIT:
        return _shared_rings(chips)
    search = _Search(chips)
    return tuple(search.found) if search.next_ring() else ()


def full_ways(chips: int, mask: int = 1) -> tuple[Cycle, ...]:
    """Return ``chips`` ways through an even number of chips: from each to its number xor ``mask``.

    They take each link once each way (zigzags; Walecki's construction of 1892, by way of Alspach,
    "The wonderful Walecki construction", 2008), and are in the order of their first chip.
    """
    lower = [chip for chip in range(chips) if chip < chip ^ mask]
    named = [*lower, *(chip ^ mask for chip in lower)]
    half = chips // 2
    there = [tuple(named[(step + turn) % chips] for step in _zigzag(chips)) for turn in range(half)]
    return tuple(sorted((*there, *(way[::-1] for way in there))))


def _shared_rings(chips: int) -> tuple[Cycle, ...]:
    """Return the zigzags over all chips but the last, closed through it, both ways round.

    Turned by every number of places they take each distance twice, and end twice at each chip.
    """
    around = chips - 1
    found = [
        (*((step + turn) % around for step in _zigzag(around)), around) for turn in range(around)
    ]
    return (*found, *(ring[::-1] for ring in found))


def _zigzag(chips: int) -> list[int]:
    """Return 0, 1, -1, 2, -2, ...: every distance among that many chips, once or twice."""
    return [(step + 1) // 2 if step % 2 else -(step // 2) for step in range(chips)]


class _Search:
    """Depth first, the chip that is hardest to reach first."""

    def __init__(self, chips: int) -> None:
        self.found: list[Cycle] = []
        self._chips = chips
        self._free = [[one != other for other in range(chips)] for one in range(chips)]
        self._entries = [chips - 1] * chips

    def next_ring(self) -> bool:
        """Whether the links that are left split into rings; those are then in ``found``."""
        return len(self.found) == self._chips - 1 or self._extended([0])

    def _extended(self, path: list[int]) -> bool:
        """Whether a ring that begins with ``path`` leads to a solution."""
        last = path[-1]
        if len(path) == self._chips:
            return self._free[last][0] and self._closed(path)
        ahead = [chip for chip in range(self._chips) if self._free[last][chip] and chip not in path]
        for chip in sorted(ahead, key=lambda chip: (self._entries[chip], chip)):
            self._take(last, chip, 1)
            if self._extended([*path, chip]):
                return True
            self._take(last, chip, -1)
        return False

    def _closed(self, path: list[int]) -> bool:
        """Whether the links that are left after closing ``path`` split into rings too."""
        self._take(path[-1], 0, 1)
        self.found.append(tuple(path))
        if self.next_ring():
            return True
        self.found.pop()
        self._take(path[-1], 0, -1)
        return False

    def _take(self, one: int, other: int, many: int) -> None:
        """Take a link, or with -1 give it back."""
        self._free[one][other] = many < 0
        self._entries[other] -= many
