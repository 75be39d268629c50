"""What is known of a case: measured curves, facts, and lines that somebody or something said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Fact = str | float | bool
"""A whole number is a float here; text is in lower case."""


def number(facts: Mapping[str, Fact], name: str) -> float | None:
    """Return the fact called ``name`` if it is known and a number."""
    value = facts.get(name)
    return value if isinstance(value, float) else None


def count(facts: Mapping[str, Fact], name: str) -> int | None:
    """Return the fact called ``name`` if it is known and can be a number of things."""
    value = facts.get(name)
    return int(value) if isinstance(value, float) and 1 <= value < 10_000_000 else None


@dataclass(frozen=True, slots=True)
class Point:
    """One size in bytes and its bus bandwidth in B/s."""

    size: int
    busbw: float


@dataclass(frozen=True, slots=True)
class Curve:
    """Bus bandwidth of one collective by size, sizes rising.

    ``ranks`` and ``nodes`` are ``None`` where nobody said; ``source`` is the file it is from,
    ``hosts`` the nodes that took part, as far as they are named; ``sized`` is false where nobody
    said of which size the bandwidth is.
    """

    collective: str | None
    ranks: int | None
    nodes: int | None
    points: tuple[Point, ...]
    source: str
    hosts: tuple[str, ...] = ()
    sized: bool = True

    @property
    def last(self) -> Point:
        """The largest size."""
        return self.points[-1]

    @property
    def best(self) -> Point:
        """The largest bandwidth, wherever it is reached."""
        return max(self.points, key=lambda point: point.busbw)


@dataclass(frozen=True, slots=True)
class Share:
    """What somebody says a bandwidth is of the expected one, who does not say either.

    ``size`` in bytes, ``ranks`` and ``nodes`` are ``None`` where nobody said.
    """

    collective: str
    ranks: int | None
    nodes: int | None
    size: int | None
    part: float
    source: str


@dataclass(frozen=True, slots=True)
class Said:
    """A line that was read, or what a reader remarked, and the file it is from.

    ``person`` says that somebody wrote it to describe the case.
    """

    text: str
    source: str
    person: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why no number of a file counts: a stable ``reason``, the words, and what would fix it."""

    reason: str
    text: str
    fix: str


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that is known. ``origins`` says which file each of the ``facts`` is from.

    ``notes`` are names of conventions by which something was taken as known. ``doubts`` are
    contradictions between files and what was named: what is compared may be something else.
    """

    curves: tuple[Curve, ...] = ()
    facts: Mapping[str, Fact] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    said: tuple[Said, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    shares: tuple[Share, ...] = ()
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
