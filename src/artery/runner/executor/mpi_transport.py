"""Messages through MPI (mpi4py), buffers in numpy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from artery.errors import UsageError
from artery.runner.executor.transport import Buffer, Parcel, Work

TYPES: Final = {
    "int8": np.int8, "uint8": np.uint8, "int32": np.int32, "uint32": np.uint32,
    "int64": np.int64, "uint64": np.uint64, "float": np.float32, "double": np.float64,
}  # fmt: skip
"""Types of elements that MPI knows, by nccl-tests' names; it has none of 16 bits for floats."""


def type_of(dtype: str) -> Any:  # noqa: ANN401 - a numpy type
    """Return numpy's type; raises ``UsageError`` for one that MPI does not know."""
    if dtype not in TYPES:
        raise UsageError(f"MPI adds no {dtype}; use one of {', '.join(TYPES)}")
    return TYPES[dtype]


class _Request:
    """A request of MPI under the name that a :class:`Work` has."""

    def __init__(self, request: Any) -> None:  # noqa: ANN401 - mpi4py's
        self._request = request

    def wait(self) -> object:
        return self._request.Wait()


class MpiTransport:
    """Point-to-point messages of ``MPI.COMM_WORLD``."""

    def __init__(self) -> None:
        from mpi4py import MPI

        self._mpi = MPI
        self._world = MPI.COMM_WORLD
        self.process = self._world.Get_rank()
        self.processes = self._world.Get_size()

    def empty(self, elements: int, dtype: str) -> Buffer:
        """Return an array; see :class:`Transport`."""
        return np.empty(elements, dtype=type_of(dtype))

    def filled(self, buffer: Buffer, values: np.ndarray) -> None:
        """Write ``values`` into the array."""
        buffer[...] = values

    def read(self, buffer: Buffer) -> np.ndarray:
        """Return the array; floats of every kind become float64."""
        array: np.ndarray = buffer
        return array.astype(np.float64) if array.dtype.kind == "f" else array

    def post(
        self, sends: Sequence[Parcel], receives: Sequence[Parcel]
    ) -> tuple[list[Work], list[Work]]:
        """Begin all at once."""
        world = self._world
        come: list[Work] = [_Request(world.Irecv(one.view, one.peer, one.tag)) for one in receives]
        left: list[Work] = [_Request(world.Isend(one.view, one.peer, one.tag)) for one in sends]
        return left, come

    def progress(self) -> None:
        """Look for messages: MPI moves them while it is called, and only then."""
        self._world.Iprobe(self._mpi.ANY_SOURCE, self._mpi.ANY_TAG)

    def finish(self) -> None:
        """Do nothing: everything waited for is done."""
