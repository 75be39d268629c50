"""What processes are asked to measure together, and what they answer: as JSON between them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from artery.core.pricing import Collective

Backend = Literal["auto", "gloo", "nccl", "mpi"]

LIBRARY = "library"
"""The algorithm that stands for the library's own collective."""


@dataclass(frozen=True, slots=True)
class Case:
    """One collective to be run ``repeats`` times over the first ``ranks`` processes.

    ``algorithm`` is ``library`` or the name of a schedule, of the given ``shape``; ``elements``
    counts the buffer as nccl-tests counts bytes. ``most`` seconds are spent on it at most, but one
    repeat is done. ``check`` runs it once first and holds the result to the exact sum.
    """

    collective: Collective
    algorithm: str
    ranks: int
    elements: int
    dtype: str = "float"
    shape: Mapping[str, Any] = field(default_factory=dict)
    warmup: int = 0
    repeats: int = 0
    check: bool = True
    most: float = float("inf")


@dataclass(frozen=True, slots=True)
class PairCase:
    """All pairs of the first ``ranks`` processes, by ``tool`` (``auto`` or ``ucx``)."""

    ranks: int
    size: int
    warmup: int
    repeats: int
    together: bool
    tool: str


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that one start of the processes measures.

    ``on`` is the system whose links ``paced`` sends follow, with the ``overrides``; ``pace`` is
    the file that the processes of this machine share for it.
    """

    backend: Backend
    timeout: float
    cases: tuple[Case, ...] = ()
    pairs: PairCase | None = None
    on: str | None = None
    overrides: tuple[str, ...] = ()
    pace: str | None = None

    def text(self) -> str:
        """Return the job as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the job that :meth:`text` wrote."""
        table = json.loads(text)
        cases = tuple(Case(**one) for one in table.pop("cases"))
        pairs = table.pop("pairs")
        table["overrides"] = tuple(table["overrides"])
        return cls(**table, cases=cases, pairs=None if pairs is None else PairCase(**pairs))


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a case: seconds of each repeat by its slowest rank, and elements wrong.

    ``wrong`` is ``None`` if nothing was checked.
    """

    seconds: tuple[float, ...]
    wrong: int | None


@dataclass(frozen=True, slots=True)
class PairDone:
    """One pair: latencies one way (s), and the best bandwidths in both directions (B/s)."""

    source: int
    target: int
    latency: tuple[float, ...]
    onward: float
    back: float


@dataclass(frozen=True, slots=True)
class Report:
    """What rank 0 writes: one :class:`Done` per case, the pairs, and who took part.

    ``processes`` holds the surroundings of each process, ``library`` what the backend calls
    itself, ``locals_`` how many processes share a host.
    """

    backend: str
    library: str
    processes: tuple[Mapping[str, Any], ...]
    locals_: int
    done: tuple[Done, ...] = ()
    pairs: tuple[PairDone, ...] = ()

    def text(self) -> str:
        """Return the report as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the report that :meth:`text` wrote."""
        table = json.loads(text)
        done = tuple(Done(tuple(one["seconds"]), one["wrong"]) for one in table.pop("done"))
        pairs = tuple(
            PairDone(**{**one, "latency": tuple(one["latency"])}) for one in table.pop("pairs")
        )
        processes = tuple(table.pop("processes"))
        return cls(**table, processes=processes, done=done, pairs=pairs)
