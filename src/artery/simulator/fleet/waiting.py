"""The queue: jobs in order, and the same jobs by size class for backfill to look through."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from heapq import heappop, heappush, merge

from artery.cloud.policies import DEPTH
from artery.simulator.fleet.job import Job

_Entry = tuple[tuple[int, int], Job]


def _key(entry: _Entry) -> tuple[int, int]:
    return entry[0]


class Waiting:
    """Jobs that wait, by priority, then by number. A class holds sizes up to a power of two."""

    __slots__ = ("_classes", "_order", "count")

    def __init__(self) -> None:
        self._order: list[tuple[tuple[int, int], int, Job]] = []
        self._classes: dict[int, list[_Entry]] = {}
        self.count = 0

    def __len__(self) -> int:
        return self.count

    def add(self, job: Job) -> None:
        """Let ``job`` wait (again)."""
        job.listed = True
        job.version += 1
        heappush(self._order, (job.key, job.version, job))
        insort(self._classes.setdefault(job.asked.bit_length(), []), (job.key, job), key=_key)
        self.count += 1

    def remove(self, job: Job) -> None:
        """``job`` waits no longer."""
        job.listed = False
        same = self._classes[job.asked.bit_length()]
        del same[bisect_left(same, job.key, key=_key)]
        self.count -= 1

    def head(self) -> Job:
        """Return the first job; there must be one."""
        order = self._order
        while not order[0][2].listed or order[0][1] != order[0][2].version:
            heappop(order)
        return order[0][2]

    def candidates(self, chips: int) -> Iterator[Job]:
        """Yield the first jobs of every class that has some of up to ``chips``, in order."""
        few = [
            entries[: DEPTH + 1]
            for width, entries in self._classes.items()
            if entries and 1 << (width - 1) <= chips
        ]
        return (entry[1] for entry in merge(*few, key=_key))
