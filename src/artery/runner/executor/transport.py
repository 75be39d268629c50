"""``Transport``: how the processes of a run exchange messages; one file per way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

Buffer = Any
"""A flat array of elements that slices share with: a torch tensor or a numpy array."""

CARRIED: Final = {
    "torch": ("int8", "uint8", "int32", "int64", "half", "float", "double", "bfloat16"),
    "mpi": ("int8", "uint8", "int32", "uint32", "int64", "uint64", "float", "double"),
}
"""Types of elements that torch, and MPI, can add, by nccl-tests' names."""

LONGEST: Final = 8192
"""Bytes of a text that processes tell each other (assumed)."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """Elements to send to process ``peer``, or room for what comes from it.

    Parcels between two processes that bear the same ``tag`` arrive in the order of sending.
    """

    view: Buffer
    peer: int
    tag: int = 0


class Work(Protocol):
    """A message under way."""

    def wait(self) -> object:
        """Return once the message has arrived, or has left and its room may be written again."""
        ...


class Transport(Protocol):
    """What the processes of a run share."""

    @property
    def process(self) -> int:
        """This process."""
        ...

    @property
    def processes(self) -> int:
        """How many there are."""
        ...

    def empty(self, elements: int, dtype: str) -> Buffer:
        """Return a buffer of ``elements`` of a type, by nccl-tests' name of the type.

        Raises :class:`artery.errors.UsageError` for a type that it does not carry.
        """
        ...

    def filled(self, buffer: Buffer, values: Any) -> None:  # noqa: ANN401 - a numpy array
        """Write the numpy array ``values``, exact in the buffer's type, into the buffer."""
        ...

    def read(self, buffer: Buffer) -> Any:  # noqa: ANN401 - a numpy array
        """Return the buffer as a numpy array: of its integer type, or float64."""
        ...

    def post(
        self, sends: Sequence[Parcel], receives: Sequence[Parcel]
    ) -> tuple[list[Work], list[Work]]:
        """Begin all of these at once; one :class:`Work` per parcel, in the same order."""
        ...

    def progress(self) -> None:
        """Let messages under way get on, where that needs somebody's time."""
        ...

    def finish(self) -> None:
        """Return once everything that was begun on the device is done."""
        ...


def meet(transport: Transport, members: Sequence[int], room: Sequence[Buffer]) -> None:
    """Return once all ``members`` have come: log2 rounds, each hears from the one 2^k before.

    ``room`` are two buffers of one element. Hensgen, Finkel and Manber, "Two algorithms for
    barrier synchronization", 1988 (dissemination).
    """
    place, count = members.index(transport.process), len(members)
    distance = 1
    while distance < count:
        to, of = members[(place + distance) % count], members[(place - distance) % count]
        left, come = transport.post([Parcel(room[0], to)], [Parcel(room[1], of)])
        for work in (*come, *left):
            work.wait()
        distance *= 2
    transport.finish()


def collected(transport: Transport, members: Sequence[int], values: Any) -> list[Any]:  # noqa: ANN401
    """Return, on the first of ``members``, the float64 arrays of all, in their order; else none.

    All give arrays of one length.
    """
    first = members[0]
    room = transport.empty(len(values), "double")
    if transport.process != first:
        transport.filled(room, values)
        left, _ = transport.post([Parcel(room, first)], [])
        left[0].wait()
        transport.finish()
        return []
    rooms = [transport.empty(len(values), "double") for _ in members[1:]]
    parcels = [Parcel(one, peer) for one, peer in zip(rooms, members[1:], strict=True)]
    _, come = transport.post([], parcels)
    for work in come:
        work.wait()
    transport.finish()
    return [values, *(transport.read(one) for one in rooms)]


def told(transport: Transport, members: Sequence[int], value: float) -> float:
    """Return the ``value`` of the first of ``members``, on all of them."""
    room = transport.empty(1, "double")
    if transport.process == members[0]:
        transport.filled(room, np.array([value]))
        left, _ = transport.post([Parcel(room, peer) for peer in members[1:]], [])
        works = left
    else:
        _, works = transport.post([], [Parcel(room, members[0])])
    for work in works:
        work.wait()
    transport.finish()
    return float(transport.read(room)[0])


def texts(transport: Transport, members: Sequence[int], text: str) -> list[str]:
    """Return, on the first of ``members``, the texts of all, in their order; else none.

    A text is cut after :data:`LONGEST` bytes.
    """
    letters = np.zeros(LONGEST)
    data = np.frombuffer(text.encode("utf-8")[:LONGEST], np.uint8)
    letters[: len(data)] = data
    return [
        one.astype(np.uint8).tobytes().rstrip(b"\0").decode("utf-8", errors="ignore")
        for one in collected(transport, members, letters)
    ]
