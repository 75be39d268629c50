"""A rank that somebody else started: torchrun, or srun in a Slurm job.

There is no supervisor here: who started the ranks starts them again, all of them, and they go on
from the newest good checkpoint. A signal makes all ranks finish the step, save and leave.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from artery.runner.faults import Faults, read_faults
from artery.runner.launch import World
from artery.runner.settings import Settings
from artery.runner.tasks import find_task
from artery.runner.worker.attempt import Attempt, Place, disband
from artery.runner.worker.link import GO_ON, SAVE, Assignment
from artery.runner.worker.progress import Progress


class _Alone:
    """The other side of a rank without an agent: signals alone tell it something."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.told = ""
        self.warnings: list[str] = []
        for name in names:
            signal.signal(signal.Signals[name], self._hear)

    def _hear(self, number: int, _: object) -> None:
        self.told = self.told or signal.Signals(number).name

    def send(self, kind: str, **fields: object) -> None:
        if kind == "warning":
            self.warnings.append(str(fields["text"]))

    def wish(self, _: int) -> int:
        return SAVE if self.told else GO_ON

    def stopped(self, _: int) -> bool:
        return False


def train_alone(
    settings: Settings, mine: World, run: Path, signals: tuple[str, ...]
) -> dict[str, Any]:
    """Train as one rank of a world; return what came out, ``kind`` ``done`` or ``left``."""
    import torch

    torch.set_num_threads(1)
    link = _Alone(signals)
    run.mkdir(parents=True, exist_ok=True)
    place = Place(run / "checkpoints", None, run / "phases.jsonl")
    progress = Progress(run / f"progress-{mine.rank}")
    task = find_task(settings.model, settings.data, size=settings.size)
    faults = Faults(read_faults(settings.faults), run / "faults")
    faults.rank = mine.rank
    given = Assignment(
        attempt=int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) + 1,
        rank=mine.rank,
        ranks=mine.size,
        store=None,
        step=0,
        source=0,
        memory=False,
        leader=False,
        meeting=mine.meeting,
    )
    attempt = Attempt(
        task, settings, given, place=place, link=link, faults=faults, progress=progress
    )
    try:
        return {**attempt.run(), "warnings": link.warnings, "told": link.told}
    finally:
        disband()
        (run / f"progress-{mine.rank}").unlink(missing_ok=True)
