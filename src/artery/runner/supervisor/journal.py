"""``recovery.jsonl``: what happened in a run and what was done about it, line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TextIO


class Journal:
    """Writes whole lines to ``path``, each call at once to the file.

    It never ends a run: where it cannot be written (a full disk), ``warn`` is called once and
    nothing more is written.
    """

    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._file: TextIO | None = None
        try:
            self._file = path.open("w", encoding="utf-8")
        except OSError as error:
            self._given_up(error)

    def write(self, lines: Iterable[str]) -> None:
        """Append ``lines``."""
        if self._file is None:
            return
        try:
            self._file.writelines(text + "\n" for text in lines)
            self._file.flush()
        except OSError as error:
            self._given_up(error)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            file, self._file = self._file, None
            with suppress(OSError):  # what is still held back finds the disk full once more
                file.close()

    def _given_up(self, error: OSError) -> None:
        self.close()
        self._warn(f"recovery.jsonl is not written any more: {error.strerror or error}")
