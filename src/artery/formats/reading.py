"""``Reading``: what a foreign file turned out to be, and what was understood of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from artery.cloud.accounting import Span
from artery.core.cabling import Cabling
from artery.core.system import System
from artery.core.term import Measurement
from artery.core.workload import Workload
from artery.formats.jobs.rows import JobRow
from artery.formats.text import Text

Kind = Literal["system", "measurement", "workload", "trace", "log", "jobs", "state"]


Progress = Callable[[int], None]
"""Told the bytes that were read so far, every few MiB."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """Lines that were passed over: from ``line`` on (counted from 1), ``count`` of them, why."""

    line: int
    count: int
    why: str


@dataclass(frozen=True, slots=True)
class Reading:
    """One file as read.

    ``format`` and ``kind`` are the names of the design; ``summary`` says in up to five lines what
    the file says; ``fields`` is everything understood, as JSON values in SI units; ``warnings``
    are what an expert would remark; ``ignored`` what was not understood. A reading may also be a
    ``system``, and ``measurements``.

    ``cabling`` is what a file tells of a network, cable by cable: with a node for its hosts it is a
    system as well (:func:`artery.catalog.systems.on_cables.on_cables`).

    ``table`` gives, for the catalog's name of the chip (``None``: the one that the file names),
    the same system as a file of ours would describe it (:mod:`artery.catalog.systems.schema`). It
    raises ``InputError`` where a fact is missing, which ``fields["missing_facts"]`` names;
    ``system`` is ``None`` then.

    A file that describes a run gives its ``workload``, if it says enough of the model, and in
    ``given`` what it says of the plan, by the names of :class:`artery.core.plan.Plan`; what is
    not in there, the file does not say. ``spans`` say when a run did what, if the file tells times.
    ``jobs`` are all jobs of a list or a trace of jobs.
    """

    format: str
    kind: Kind
    summary: tuple[str, ...]
    fields: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    system: System | None = None
    measurements: tuple[Measurement, ...] = ()
    table: Callable[[str | None], dict[str, Any]] | None = None
    cabling: Cabling | None = None
    workload: Workload | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    spans: tuple[Span, ...] = ()
    jobs: tuple[JobRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Format:
    """A foreign format: how it is recognised and read.

    ``recognise`` returns how sure it is that a text is of this format, from 0 (no) to 1
    (certain). ``tested`` is false where no real sample was at hand. ``table`` says that its files
    may be CSV with names of columns: no other format is asked about such files.

    ``read`` raises ``InputError`` for a file of the format that says nothing usable. ``stream``,
    if given, reads a file of any size by its path and is told the first part's claim only.
    A file that no format knows is read, and told what is wrong with it, by the one whose ``ending``
    its name has.
    """

    name: str
    kind: Kind
    recognise: Callable[[Text], float]
    read: Callable[[Text], Reading]
    tested: bool = True
    table: bool = False
    notes: tuple[str, ...] = field(default_factory=tuple)
    stream: Callable[[str, Progress | None], Reading] | None = None
    ending: str | None = None
