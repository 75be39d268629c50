"""What is to be done. A driver carries actions out in their order; none waits for an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["finished", "preempted", "failed"]


@dataclass(frozen=True, slots=True)
class Start:
    """Start these members on a host."""

    host: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StartStore:
    """Start a store on a host, where ranks meet."""

    host: str


@dataclass(frozen=True, slots=True)
class Begin:
    """Begin an attempt: the place of a member in ``members`` is its rank.

    It goes on after ``step`` steps, from the memory of ``host`` (``None``: from the shared store;
    with ``step`` 0 from nothing).
    """

    attempt: int
    members: tuple[str, ...]
    step: int
    host: str | None


@dataclass(frozen=True, slots=True)
class Pause:
    """All finish one and the same step, keep their state in memory, then leave the attempt.

    ``save``: and into the shared store, whole, before they leave.
    """

    attempt: int
    save: bool


@dataclass(frozen=True, slots=True)
class Stop:
    """Leave the attempt at once; some member may be gone."""

    attempt: int


@dataclass(frozen=True, slots=True)
class Kill:
    """End one member."""

    member: str
    reason: str


@dataclass(frozen=True, slots=True)
class Expel:
    """A host is out: end whatever of it can still be reached."""

    host: str
    reason: str


@dataclass(frozen=True, slots=True)
class Dismiss:
    """A leaving host may go: nothing of it is needed any more."""

    host: str


@dataclass(frozen=True, slots=True)
class End:
    """The job is over; end what still runs."""

    outcome: Outcome
    reason: str


Action = Start | StartStore | Begin | Pause | Stop | Kill | Expel | Dismiss | End
