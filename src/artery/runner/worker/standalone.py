"""A rank that somebody else started: torchrun, or srun in a Slurm job.

There is no supervisor here: who started the ranks starts them again, all of them, and they go on
from the newest good checkpoint. A signal makes all ranks finish the step, save and leave.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from artery.errors import RunError
from artery.runner.faults import Faults, read_faults
from artery.runner.launch import World
from artery.runner.settings import Settings
from artery.runner.worker.link import GO_ON, PEER, SAVE, Assignment
from artery.runner.worker.progress import Progress

if TYPE_CHECKING:
    from artery.runner.worker.attempt import Attempt


class Alone:
    """The other side of a rank without an agent: signals alone tell it something.

    Made before torch is imported: a signal that comes meanwhile is kept until there is a step.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self.told = ""
        self.warnings: list[str] = []
        for name in names:
            signal.signal(signal.Signals[name], self._hear)

    def _hear(self, number: int, _: object) -> None:
        self.told = self.told or signal.Signals(number).name

    def send(self, kind: str, **fields: object) -> None:
        """Keep warnings; nobody hears the rest."""
        if kind in ("warning", "diverged"):
            self.warnings.append(str(fields["text"]))

    def wish(self, _: int) -> int:
        """Return whether a signal told this rank to save and leave."""
        return SAVE if self.told else GO_ON

    def stopped(self, _: int) -> bool:
        """Nobody ends an attempt from outside."""
        return False


def train_alone(settings: Settings, mine: World, run: Path, link: Alone) -> dict[str, Any]:
    """Train as one rank of a world; return what came out, ``kind`` ``done`` or ``left``.

    Raises:
        RunError: the ranks did not meet, one of them is gone, or the model or the data failed.
    """
    import torch

    from artery.runner.tasks import find_task
    from artery.runner.worker.attempt import Attempt, Place, disband

    torch.set_num_threads(1)
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
    except Exception as error:
        raise _failed(error, attempt, mine) from error
    finally:
        disband()
        (run / f"progress-{mine.rank}").unlink(missing_ok=True)


def _failed(error: Exception, attempt: Attempt, mine: World) -> RunError:
    """Say what ended a rank: whoever started it sees its exit code, people its words."""
    from artery.runner.worker.failing import last_frames, reason

    if not attempt.met:
        where = mine.meeting if mine.origin != "torchrun" else _master()
        seconds = f"{attempt.settings.timeout:g} s"
        return RunError(
            f"rank {mine.rank} of {mine.size} did not meet the others at {where} within {seconds} "
            f"({str(error).splitlines()[0][:200]}): set MASTER_ADDR and MASTER_PORT to where rank "
            "0 can be reached, or --timeout"
        )
    why = reason(error)
    if why == PEER:
        return RunError(f"rank {mine.rank} stops after step {attempt.step}: {PEER}")
    failed = RunError(f"rank {mine.rank} stops after step {attempt.step}: {why}")
    failed.add_note(last_frames(error))
    return failed


def _master() -> str:
    return f"{os.environ.get('MASTER_ADDR', '?')}:{os.environ.get('MASTER_PORT', '?')}"
