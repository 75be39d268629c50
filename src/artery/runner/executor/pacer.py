"""``Pacer``: holds sends back so that rates follow the links of a system, on any operating system.

Each directed link is a token bucket without burst: a piece of b bytes takes b/rate on every link of
its path, after what was there before, and arrives the path's latency later. All processes of one
machine share the buckets through a small file. Nothing is shaped outside of artery's own sends:
results are to be called paced.
"""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from artery.cluster.routing import Network, network, paths
from artery.core.system import System
from artery.errors import InputError, Problem

PICOSECONDS = 1e-12

BEHIND = 0.25
"""Seconds. Assumed: a rank that is later than this behind its links is slow itself, which must
show; one that is less late has only been kept waiting by the operating system and may catch up."""

STEPS = 8
"""Steps of which arrivals are kept. Assumed: no rank is so many steps ahead of another."""


@dataclass(slots=True)
class Pacer:
    """Token buckets of the links that some ranks use, shared by the processes of one machine.

    ``chips`` is the chip of each rank, and ``free`` says when each directed link of the system has
    passed all that was given to it (monotonic clock, seconds).
    """

    system: System
    chips: tuple[int, ...]
    free: NDArray[np.float64]
    _arrivals: NDArray[np.float64]
    _links: Network
    _handle: int
    _routing: str
    _seed: int
    _paths: dict[tuple[int, int], NDArray[np.int64]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        system: System,
        chips: Sequence[int],
        file: str | Path,
        *,
        routing: str = "hash",
        seed: int = 0,
    ) -> Self:
        """Return the pacer of ranks that sit on ``chips`` of ``system``.

        ``file`` is the same for all processes of a run, and new; whoever comes first makes it.
        ``routing`` and ``seed`` are those of :func:`artery.cluster.routing.paths`.
        Raises :class:`artery.errors.InputError` for a chip that is not there.
        """
        for chip in chips:
            if not 0 <= chip < system.chips:
                rule = f"{system.name} has {system.chips} chips, numbered from 0"
                fix = f"take a system of at least {max(chips) + 1} chips"
                raise InputError(Problem(found=f"chip {chip}", rule=rule, fix=fix, field="chips"))
        links = network(system)
        ranks, count = len(chips), len(links.rate)
        size = 8 * (count + ranks * ranks * STEPS)
        handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(handle, size)  # zeros: free since long ago; the same by whoever comes first
        shared = np.frombuffer(mmap.mmap(handle, size), np.float64)
        free, arrivals = shared[:count], shared[count:].reshape(ranks, ranks, STEPS)
        return cls(system, tuple(chips), free, arrivals, links, handle, routing, seed)

    def reserve(
        self, source: int, target: int, size: int, ready: float, step: int = 0
    ) -> tuple[float, float]:
        """Return when ``size`` bytes from rank to rank have left, and when they arrive.

        ``ready`` is when the first of them may leave: now (``time.monotonic()``), or when what had
        to come before has left or arrived. Links serve pieces in the order in which they are
        reserved. ``step`` is for :meth:`arrived`.
        """
        path = self._path(source, target)
        ready = max(ready, time.monotonic() - BEHIND)
        left = ready
        if len(path):
            with _locked(self._handle):
                done = np.maximum(self.free[path], ready) + size / self._links.rate[path]
                self.free[path] = done
            left = float(done.max())
        arrives = left + float(self._links.latency[path].sum()) * PICOSECONDS
        self._arrivals[source, target, step % STEPS] = arrives
        return left, arrives

    def arrived(self, source: int, target: int, step: int) -> float:
        """Return when the last piece of ``step`` arrives at rank ``target`` from ``source``."""
        return float(self._arrivals[source, target, step % STEPS])

    def close(self) -> None:
        """Let go of the shared file."""
        os.close(self._handle)

    def _path(self, source: int, target: int) -> NDArray[np.int64]:
        """Return the directed links from rank to rank."""
        if (source, target) not in self._paths:
            ends = (np.array([self.chips[rank]]) for rank in (source, target))
            found = paths(self.system, self._links, *ends, policy=self._routing, seed=self._seed)
            self._paths[source, target] = found.link.astype(np.int64)
        return self._paths[source, target]


class _locked:  # noqa: N801 - reads as a word where it is used
    """Holds a file's lock: nobody else of the machine reserves in the meantime."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __enter__(self) -> None:
        if os.name == "nt":
            import msvcrt

            os.lseek(self._handle, 0, os.SEEK_SET)
            msvcrt.locking(self._handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(self._handle, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        if os.name == "nt":
            import msvcrt

            os.lseek(self._handle, 0, os.SEEK_SET)
            msvcrt.locking(self._handle, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(self._handle, fcntl.LOCK_UN)
