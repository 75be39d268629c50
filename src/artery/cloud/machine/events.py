"""What may happen to a job. ``at`` is in seconds of any one clock that does not go back.

A *host* fails and leaves as a whole (a node, a rack). A *member* on it may take one rank; its name
comes from the machine's ``Start``. A simulation may let one member stand for a node. ``step`` is
the number of steps done: 0 before the first.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HostJoined:
    """A host offers ``places`` ranks."""

    at: float
    host: str
    places: int


@dataclass(frozen=True, slots=True)
class HostLeaving:
    """A host was told to go; its members still work."""

    at: float
    host: str


@dataclass(frozen=True, slots=True)
class HostLost:
    """A host is gone or out of reach, with all on it; ``step``: how far it came."""

    at: float
    host: str
    reason: str
    step: int = 0


@dataclass(frozen=True, slots=True)
class Ready:
    """A started member waits for a rank."""

    at: float
    member: str


@dataclass(frozen=True, slots=True)
class Lost:
    """A member is gone (``gone``), or is to be counted so: it hangs. ``step``: how far it came."""

    at: float
    member: str
    reason: str
    gone: bool = True
    step: int = 0


@dataclass(frozen=True, slots=True)
class Left:
    """A member left the attempt after ``step`` steps and waits; ``reason`` says why unasked."""

    at: float
    member: str
    attempt: int
    step: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Resumed:
    """The attempt has its state again: ``step`` steps are done."""

    at: float
    attempt: int
    step: int


@dataclass(frozen=True, slots=True)
class Stepped:
    """The first new step of the attempt is done by all."""

    at: float
    attempt: int
    step: int


@dataclass(frozen=True, slots=True)
class Done:
    """A member has done all steps."""

    at: float
    member: str
    attempt: int
    step: int


@dataclass(frozen=True, slots=True)
class Saved:
    """The state after ``step`` steps lies in the shared store, or in the memory of ``host``."""

    at: float
    step: int
    host: str | None = None


@dataclass(frozen=True, slots=True)
class Torn:
    """A saved state proved unusable."""

    at: float
    step: int
    host: str | None = None


@dataclass(frozen=True, slots=True)
class Stalled:
    """Nobody goes on, and nobody in particular is to blame: a network that vanished."""

    at: float
    attempt: int
    reason: str


@dataclass(frozen=True, slots=True)
class Slow:
    """A member computes ``factor`` times as long as the others."""

    at: float
    member: str
    factor: float


@dataclass(frozen=True, slots=True)
class Retiring:
    """A member was told to go; it still works."""

    at: float
    member: str


@dataclass(frozen=True, slots=True)
class StoreReady:
    """The store where ranks meet stands on ``host``."""

    at: float
    host: str


@dataclass(frozen=True, slots=True)
class StoreLost:
    """The store where ranks meet is gone."""

    at: float
    reason: str


@dataclass(frozen=True, slots=True)
class Preempted:
    """The whole job is told to save and go."""

    at: float
    reason: str


@dataclass(frozen=True, slots=True)
class Tick:
    """The machine's ``deadline`` has come."""

    at: float


Event = (
    HostJoined
    | HostLeaving
    | HostLost
    | Ready
    | Lost
    | Left
    | Resumed
    | Stepped
    | Done
    | Saved
    | Torn
    | Stalled
    | Slow
    | Retiring
    | StoreReady
    | StoreLost
    | Preempted
    | Tick
)
