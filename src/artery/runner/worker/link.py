"""Whom a rank reports to, and what it may be told while it trains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

GO_ON, PAUSE, SAVE = 0, 1, 2
"""What the ranks agree on between two steps: nothing, to leave, to save and leave."""

PEER: Final = "a peer is gone"
"""The reason of a rank whose collective failed: somebody else's end."""

UNMET: Final = 76
"""The exit code of a worker whose ranks did not come together: a new one takes its place."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A rank in an attempt.

    ``store`` is where the ranks meet (host, port), ``None`` for ranks that others started: they
    meet at ``meeting``, an init method of torch. ``step`` is what to go on from; ``source`` is the
    rank that has that state: in the memory of its host if ``memory``, else in the folder of
    checkpoints. ``leader``: this rank writes its host's copies. ``address``: where the others reach
    this rank, empty if nobody knows better than gloo.
    """

    attempt: int
    rank: int
    ranks: int
    store: tuple[str, int] | None
    step: int
    source: int
    memory: bool
    leader: bool
    meeting: str = ""
    address: str = ""


class Stopped(Exception):  # noqa: N818 - it is no error: the attempt is over
    """This rank is to leave the attempt at once."""


class Link(Protocol):
    """The other side of a worker: its agent, or nobody."""

    def send(self, kind: str, **fields: object) -> None:
        """Report something; called by any thread."""

    def wish(self, attempt: int) -> int:
        """Return what this rank is told to do between two steps of ``attempt``."""

    def stopped(self, attempt: int) -> bool:
        """Whether ``attempt`` is over."""
