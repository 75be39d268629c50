"""Writes checkpoints beside the training: it waits for a copy in memory, not for the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from artery.runner.checkpoint.folder import Folder
from artery.runner.checkpoint.state import packed
from artery.runner.faults import Faults
from artery.runner.phases import PhaseLog


class Writer:
    """Saves one state at a time in a thread; a save waits for the one before it.

    ``saved`` is called with the step once it is safe, ``failed`` with the step and the reason when
    it could not be written: the checkpoints before it are untouched, and training goes on.
    """

    def __init__(
        self,
        folder: Folder,
        log: PhaseLog,
        faults: Faults,
        saved: Callable[[int], None],
        failed: Callable[[int, str], None],
    ) -> None:
        self._folder = folder
        self._log = log
        self._faults = faults
        self._saved = saved
        self._failed = failed
        self._thread: threading.Thread | None = None

    def save(self, step: int, state: dict[str, Any], about: dict[str, Any]) -> None:
        """Write ``state``, which nobody changes any more, beside the training."""
        self.wait()
        self._thread = threading.Thread(target=self._write, args=(step, state, about))
        self._thread.start()

    def wait(self) -> None:
        """Return once nothing is being written."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _write(self, step: int, state: dict[str, Any], about: dict[str, Any]) -> None:
        data = packed(state)
        try:
            with self._log.timed("persist", step, bytes=len(data)):
                self._folder.write(
                    step,
                    data,
                    about,
                    target=self._faults.disk(step),
                    halfway=lambda: self._faults.at("save", step),
                )
        except OSError as error:
            self._failed(step, error.strerror or str(error))
            return
        self._faults.tear(step, self._folder.path)
        self._saved(step)
