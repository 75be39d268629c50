"""How far a rank is, written where its host can read it at any time, even after it was killed."""

from __future__ import annotations

import mmap
import os
import struct
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_FORM: Final = struct.Struct("<qqqqdd")


@dataclass(frozen=True, slots=True)
class Mark:
    """Steps done in an attempt, and whether the rank waits for the others (``meeting``).

    ``busy``: it does something long that is no step (evaluates, writes). ``computed``: seconds it
    computed on its own. ``at``: when the last step ended, in seconds since 1970.
    """

    attempt: int = 0
    step: int = 0
    meeting: bool = False
    busy: bool = False
    computed: float = 0.0
    at: float = 0.0


class Progress:
    """The mark of one rank, in a small file of a memory file system."""

    def __init__(self, path: Path) -> None:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.truncate(handle, _FORM.size)
            self._place = mmap.mmap(handle, _FORM.size)
        finally:
            os.close(handle)
        self.mark = Mark()

    def put(
        self,
        attempt: int,
        step: int,
        computed: float,
        *,
        meeting: bool = False,
        busy: bool = False,
        at: float | None = None,
    ) -> None:
        """Write a mark; the time of the last step stays unless ``at`` is given."""
        at = self.mark.at if at is None else at
        self.mark = Mark(attempt, step, meeting, busy, computed, at)
        self._place[:] = _FORM.pack(attempt, step, meeting, busy, computed, at)

    def touch(self, attempt: int, step: int) -> None:
        """Note that ``step`` steps are done now."""
        self.put(attempt, step, self.mark.computed, at=time.time())


def read_mark(path: Path) -> Mark:
    """Return the mark in ``path``; an empty one if there is none."""
    try:
        attempt, step, meeting, busy, computed, at = _FORM.unpack(path.read_bytes())
    except (OSError, struct.error):
        return Mark()
    return Mark(attempt, step, bool(meeting), bool(busy), computed, at)
