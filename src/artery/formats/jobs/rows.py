"""Jobs of a trace, whatever its columns are called, and what is told of all of them."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Final

from artery.formats.syntax.numerals import number
from artery.formats.wording import counted, hours

MOST_LISTED: Final = 20_000
"""Jobs that are listed one by one in the fields; totals count all."""


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job: times in seconds since the epoch, or since the trace's own beginning.

    ``duration_s`` is how long it ran where start and end are not known; ``limit_s`` what its user
    asked for. ``told`` is what else a list says of it, by the names of its columns.
    """

    id: str
    submit_s: float | None
    start_s: float | None
    end_s: float | None
    gpus: float | None
    nodes: int | None
    state: str | None
    user: str | None = None
    gpu_type: str | None = None
    duration_s: float | None = None
    limit_s: float | None = None
    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def run_s(self) -> float | None:
        """How long it ran."""
        if self.duration_s is not None:
            return self.duration_s
        if self.start_s is None or self.end_s is None or self.end_s < self.start_s:
            return None
        return self.end_s - self.start_s

    @property
    def queue_s(self) -> float | None:
        """How long it waited."""
        if self.submit_s is None or self.start_s is None or self.start_s < self.submit_s:
            return None
        return self.start_s - self.submit_s


def seconds(word: object) -> float | None:
    """Return a time stamp in seconds; a date without a zone is taken as UTC. ``None``: none.

    >>> seconds("1970-01-02 00:00:00"), seconds("12.5"), seconds("None")
    (86400.0, 12.5, None)
    """
    plain = number(word)
    if plain is not None or not isinstance(word, str):
        return plain
    words = word.strip().removesuffix(" PDT").removesuffix(" PST").replace("Z", "+00:00")
    try:
        found = dt.datetime.fromisoformat(words)
        return (found if found.tzinfo else found.replace(tzinfo=dt.UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def job_fields(jobs: Sequence[JobRow]) -> dict[str, Any]:
    """Return the totals of ``jobs`` and the jobs themselves."""
    work = [(one.gpus or 0.0) * one.run_s for one in jobs if one.run_s is not None]
    runs = [one.run_s for one in jobs if one.run_s is not None]
    waits = [one.queue_s for one in jobs if one.queue_s is not None]
    sizes = Counter(one.gpus for one in jobs if one.gpus is not None)
    return {
        "job_count": len(jobs),
        "states": dict(Counter(one.state for one in jobs if one.state)),
        "gpu_s": sum(work),
        "median_run_s": median(runs) if runs else None,
        "median_queue_s": median(waits) if waits else None,
        "gpus_per_job": {f"{size:g}": count for size, count in sorted(sizes.items())},
        "jobs": [asdict(one) | {"run_s": one.run_s} for one in jobs[:MOST_LISTED]],
    }


def job_summary(fields: dict[str, Any]) -> Iterator[str]:
    """Yield what a trace says in a few lines."""
    states = ", ".join(f"{count} {word}" for word, count in list(fields["states"].items())[:6])
    yield counted(fields["job_count"], "job") + (f": {states}" if states else "")
    yield hours(fields["gpu_s"], "GPU hours")
    sizes = list(fields["gpus_per_job"].items())[:8]
    yield "GPUs per job: " + ", ".join(f"{count} of {size}" for size, count in sizes)
