"""The collectives of an MPI library, through mpi4py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from artery.core.pricing import Collective
from artery.meter.collectives import Buffer, Operation, columns, row

Flat = NDArray[Any]


class MpiLibrary:
    """The first ``ranks`` processes of the world; all processes make it at the same time."""

    def __init__(self, ranks: int) -> None:
        from mpi4py import MPI

        self._mpi = MPI
        self.rank, self.ranks = MPI.COMM_WORLD.Get_rank(), ranks
        self._ranks = MPI.COMM_WORLD.Split(0 if self.rank < ranks else 1, self.rank)

    @property
    def title(self) -> str:
        """``Open MPI 5.0.11``."""
        name, numbers = self._mpi.get_vendor()
        return f"{name} {'.'.join(map(str, numbers))}"

    def prepare(self, collective: Collective, buffer: Buffer) -> Operation:
        """Return ``collective`` over ``buffer``; see :class:`artery.meter.collectives.Library`."""
        made: dict[Collective, Callable[[Flat], Operation]] = {
            "all_reduce": self._all_reduce,
            "all_gather": self._all_gather,
            "reduce_scatter": self._reduce_scatter,
            "alltoall": self._alltoall,
            "broadcast": lambda flat: Operation(lambda: self._ranks.Bcast(flat, 0)),
            "reduce": self._reduce,
            "sendrecv": self._sendrecv,
        }
        return made[collective](buffer)

    def _all_reduce(self, flat: Flat) -> Operation:
        return Operation(lambda: self._ranks.Allreduce(self._mpi.IN_PLACE, flat))

    def _all_gather(self, flat: Flat) -> Operation:
        return Operation(lambda: self._ranks.Allgather(self._mpi.IN_PLACE, flat))

    def _reduce_scatter(self, flat: Flat) -> Operation:
        place = row(flat, self.rank, self.ranks)
        out = np.empty_like(place)

        def settle() -> None:
            place[...] = out

        return Operation(lambda: self._ranks.Reduce_scatter_block(flat, out), settle)

    def _reduce(self, flat: Flat) -> Operation:
        if self.rank == 0:
            return Operation(lambda: self._ranks.Reduce(self._mpi.IN_PLACE, flat))
        return Operation(lambda: self._ranks.Reduce(flat, None))

    def _alltoall(self, flat: Flat) -> Operation:
        mine = row(flat, self.rank, self.ranks)
        out = np.empty_like(mine)

        def settle() -> None:
            blocks = np.split(out, self.ranks)
            for place, block in zip(columns(flat, self.rank, self.ranks), blocks, strict=True):
                place[...] = block

        return Operation(lambda: self._ranks.Alltoall(mine, out), settle)

    def _sendrecv(self, flat: Flat) -> Operation:
        after, before = (self.rank + 1) % self.ranks, (self.rank - 1) % self.ranks
        mine, theirs = row(flat, self.rank, self.ranks), row(flat, before, self.ranks)
        return Operation(lambda: self._ranks.Sendrecv(mine, after, recvbuf=theirs, source=before))
