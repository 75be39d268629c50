"""Where the time of a run goes: a log of phases, one JSON object a line, and its account.

Every process appends whole lines to one file, so that whoever is killed leaves what it wrote.
``rank`` -1 is the supervisor. A line::

    {"schema": "artery.phases/1", "ts": 1790000000.0, "seconds": 0.012, "rank": 0, "attempt": 1,
     "phase": "step", "step": 17}

``ts`` is when the phase began (seconds since 1970), ``seconds`` how long it took; ``step`` counts
steps done at its end. docs/recovery.md lists the phases.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from artery.cloud.accounting import covered
from artery.formats.artery_phases import BESIDE, SCHEMA

SUPERVISOR: Final = -1

WORK: Final = ("step", "first_step", "save", "copy", "evaluate", "load", "rendezvous")
"""What ranks do one after the other."""

AROUND: Final = ("detect", "teardown", "reform", "pause", "start", "finish")
"""What the supervisor sees, between the attempts."""


def _said(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - who has nobody to tell


class PhaseLog:
    """Writes phases to ``path`` (``None``: nowhere) for one rank.

    A log never ends a run: where it cannot be written (a full disk), ``warn`` is called once and
    nothing more is written.
    """

    def __init__(
        self,
        path: str | Path | None,
        rank: int = SUPERVISOR,
        attempt: int = 0,
        warn: Callable[[str], None] = _said,
    ) -> None:
        self.rank = rank
        self.attempt = attempt
        self._warn = warn
        self._file: int | None = None
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        if path is not None:
            try:
                self._file = os.open(path, flags, 0o644)
            except OSError as error:
                self._given_up(error.strerror or str(error))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            file, self._file = self._file, None
            with suppress(OSError):  # some file systems tell only here that the disk is full
                os.close(file)

    def _given_up(self, why: str) -> None:
        self.close()
        who = "" if self.rank == SUPERVISOR else f" by rank {self.rank}"
        self._warn(f"the log of phases is not written any more{who}: {why}")

    def write(
        self, phase: str, ts: float, seconds: float, step: int | None = None, **more: object
    ) -> None:
        """Append one phase that began at ``ts`` and took ``seconds``."""
        if self._file is None:
            return
        row: dict[str, object] = {
            "schema": SCHEMA,
            "ts": round(ts, 6),
            "seconds": round(seconds, 6),
            "rank": self.rank,
            "attempt": self.attempt,
            "phase": phase,
        }
        if step is not None:
            row["step"] = step
        text = (json.dumps({**row, **more}) + "\n").encode()
        try:
            written = os.write(self._file, text)
        except OSError as error:
            self._given_up(error.strerror or str(error))
            return
        if written < len(text):
            self._given_up("a line was cut off")

    @contextmanager
    def timed(self, phase: str, step: int | None = None, **more: object) -> Iterator[None]:
        """Append what happens inside as one phase, if it ends well."""
        ts, start = time.time(), time.perf_counter()
        yield
        self.write(phase, ts, time.perf_counter() - start, step, **more)


@dataclass(frozen=True, slots=True)
class Account:
    """Seconds of a run by phase. ``lost_work``: of them, on steps that had to be done again."""

    total: float
    phases: Mapping[str, float]
    lost_work: float
    unexplained: float

    @property
    def unexplained_share(self) -> float:
        """The share of the whole time that no phase covers."""
        return self.unexplained / self.total if self.total > 0.0 else 0.0


def read(path: str | Path) -> list[dict[str, Any]]:
    """Return the rows of a log; a last line that was cut off is left out."""
    rows: list[dict[str, Any]] = []
    for text in Path(path).read_text("utf-8").splitlines():
        try:
            row = json.loads(text)
        except ValueError:
            continue
        if isinstance(row, dict) and row.get("schema") == SCHEMA:
            rows.append(row)
    return rows


def account(rows: Iterable[Mapping[str, Any]]) -> Account:
    """Return where the time went between the first row's begin and the last row's end.

    Each moment counts once: for what rank 0 does, else for what the supervisor sees.
    """
    rows = list(rows)
    spans: list[tuple[float, float, tuple[int, str]]] = []
    for row in rows:
        phase, rank = row["phase"], row["rank"]
        if phase not in BESIDE and rank in (0, SUPERVISOR):
            order = 0 if rank == 0 else 1
            spans.append((row["ts"], row["ts"] + row["seconds"], (order, phase)))
    if not spans:
        return Account(0.0, {}, 0.0, 0.0)
    total = max(end for _, end, _ in spans) - min(start for start, _, _ in spans)
    shares = covered(spans)
    return Account(total, shares, _lost(rows), max(0.0, total - sum(shares.values())))


def _lost(rows: Iterable[Mapping[str, Any]]) -> float:
    """Return the seconds that rank 0 spent on steps that were done again later."""
    spent: dict[int, dict[int, float]] = defaultdict(dict)
    total = 0.0
    for row in rows:
        if row["phase"] in ("step", "first_step") and row["rank"] == 0:
            spent[row["step"]][row["attempt"]] = row["seconds"]
        elif row["phase"] == "lost_work":
            for step in range(row["step"] + 1, row["step"] + row["steps"] + 1):
                before = [one for one in spent.get(step, {}) if one < row["attempt"]]
                total += spent[step][max(before)] if before else 0.0
    return total
