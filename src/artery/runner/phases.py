"""Where the time of a run goes: a log of phases, one JSON object a line.

Every process appends whole lines to one file, so that whoever is killed leaves what it wrote.
``rank`` -1 is the supervisor. A line::

    {"schema": "artery.phases/1", "ts": 1790000000.0, "seconds": 0.012, "rank": 0, "attempt": 1,
     "phase": "step", "step": 17}

``ts`` is when the phase began (seconds since 1970), ``seconds`` how long it took; ``step`` counts
steps done at its end. docs/recovery.md lists the phases; :mod:`artery.formats.own.phases` reads
them.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from artery.formats.own.phases import SCHEMA

SUPERVISOR: Final = -1

NO_MORE: Final = "the log of phases is not written any more"
"""How the warning begins that a log lacks what came later."""


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
        self._warn(f"{NO_MORE}{who}: {why}")

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
