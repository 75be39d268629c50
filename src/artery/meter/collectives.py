"""A library's own collectives over one flat buffer, laid out as the schedules lay theirs out.

For all-gather and reduce-scatter the buffer is that of all ranks; for all-to-all and send/receive
the buffers of all ranks lie one behind the other: block s of rank s is what it sends, and what it
receives comes to lie where the sender had it. So one check serves both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from artery.core.pricing import Collective
from artery.meter.clock import nothing

Buffer = Any
"""A flat torch tensor or numpy array."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One collective made ready: ``run`` does it; ``settle`` puts what came where it belongs."""

    run: Callable[[], object]
    settle: Callable[[], object] = nothing


class Library(Protocol):
    """A communication library with the ranks that take part; ``title`` is what tables call it."""

    @property
    def title(self) -> str:
        """The name and version of the library."""
        ...

    def prepare(self, collective: Collective, buffer: Buffer) -> Operation:
        """Return ``collective`` over ``buffer``, whose length all ranks divide; the root is 0.

        Raises :class:`artery.errors.UsageError` if the library has no such collective.
        """
        ...


def whole_elements(collective: Collective, elements: int, ranks: int) -> int:
    """Return ``elements``, rounded up to what the blocks of all ranks divide."""
    if collective in {"all_gather", "reduce_scatter", "alltoall"}:
        return -(-elements // ranks) * ranks
    return elements


def columns(buffer: Buffer, rank: int, ranks: int) -> list[Buffer]:
    """Return, of an all-to-all's buffer, the blocks that ``rank`` receives, by sender."""
    block = len(buffer) // ranks**2
    starts = ((sender * ranks + rank) * block for sender in range(ranks))
    return [buffer[start : start + block] for start in starts]


def row(buffer: Buffer, rank: int, ranks: int) -> Buffer:
    """Return the part of ``buffer`` that belongs to ``rank``."""
    part = len(buffer) // ranks
    return buffer[rank * part : (rank + 1) * part]
