"""``train``: a real data-parallel run that survives failures, predicted beside measured."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, Final

from artery.answers.telling import Heard, nobody
from artery.answers.train.alone import HEARD, check_of_use
from artery.answers.train.compare import TrainComparison, compare_training
from artery.answers.train.request import Request, read_request
from artery.cloud.accounting import Account, account
from artery.cloud.machine.policy import Policy
from artery.errors import InputError, Problem, RunError
from artery.formats.own.phase_rows import Row
from artery.formats.own.phases import read_rows, spans_of
from artery.runner.checkpoint.folder import Folder
from artery.runner.extra import installed
from artery.runner.phases import NO_MORE
from artery.runner.probing.measured import Run
from artery.runner.settings import Settings
from artery.runner.supervisor.control import Supervisor
from artery.runner.supervisor.fleet import Fleet
from artery.runner.supervisor.home import check, taken
from artery.runner.supervisor.hosts import EVERYWHERE
from artery.runner.supervisor.lifeline import abandoned
from artery.runner.supervisor.result import RunResult

_RANKS: Final = "the ranks of a run"

_JOIN: Final = 0.4
"""The share of the time for gathering in which an agent must have joined (assumed): a second one
may then still come in time."""

_TEMPORARY: Final = "artery-train-"

_LEFT: Final = "left"
"""Marks a temporary folder that was left with checkpoints, once that has been said."""

_KEPT: Final = "preempted", "failed"
"""Outcomes after which a temporary folder stays: the run can go on from it."""


@dataclass(frozen=True, slots=True)
class Steps:
    """What rank 0 measured of the steps of a run: medians, in seconds; ``None`` without a step.

    ``compute_s`` is what it computed on its own before it met the others.
    """

    step_s: float | None
    compute_s: float | None
    samples_per_s: float | None


@dataclass(frozen=True, slots=True)
class TrainAnswer:
    """A run: what was asked, how it ended, where its time went, what was predicted of its step.

    ``account`` is that of ``artery goodput --log``; ``None`` if no log could be written.

    ``folder`` is where its checkpoints and logs are, ``None`` if they were temporary.
    """

    asked: Request
    result: RunResult
    account: Account | None
    steps: Steps
    comparison: TrainComparison | None
    folder: Path | None

    @property
    def interrupted(self) -> bool:
        """Whether it was Ctrl-C that told it so."""
        return self.preempted and self.result.reason.partition(";")[0] == "SIGINT"

    @property
    def preempted(self) -> bool:
        """Whether the run was told to go and can go on later."""
        return self.result.outcome == "preempted"


class RunFailedError(RunError):
    """A run that could not go on; the message says why, ``answer`` what it came to."""

    exit_code = 4

    def __init__(self, message: str, answer: TrainAnswer | None = None) -> None:
        super().__init__(message)
        self.answer = answer


class RepeatedError(RunFailedError):
    """The model or the data failed the same way at the same step twice: to retry is in vain."""

    exit_code = 3


class UnkeptError(RunFailedError):
    """A run that is done, but of which something that was asked for could not be written."""


def train(
    model: str,
    *,
    note: Heard = nobody,
    progress: Callable[[int, int], None] = lambda _, __: None,
    **options: Any,  # noqa: ANN401 - the fields of Request and of Settings, typed there
) -> TrainAnswer:
    """Train ``model`` on this machine (and on hosts that join) and return what it came to.

    ``options`` are the fields of :class:`artery.answers.train.request.Request` and of
    :class:`artery.runner.settings.Settings`. ``note`` is called with what a person should know
    while it runs, ``progress`` with the steps done and to do.

    Raises ``UsageError`` and ``InputError`` for what cannot be, :class:`RunFailedError` for a run
    that could not go on, :class:`UnkeptError` for one that is done but not saved.
    """
    asked = read_request(model, options)
    installed("torch", _RANKS)
    settings = asked.settings
    with _folder(asked.directory, note) as (run, keep), taken(run, settings):
        supervisor = Supervisor(
            settings,
            _fleet(asked),
            _policy(asked),
            run,
            note=note,
            progress=lambda step: progress(step, settings.steps),
        )
        if asked.listen is not None:
            host, port = supervisor.hosts.address
            host = socket.gethostname() if host in EVERYWHERE else host
            note(f"others join with: ARTERY_TOKEN={supervisor.token} artery train --join "
                 f"{host}:{port}")  # fmt: skip
        result = supervisor.run()
        mine = _rows(run / "phases.jsonl", supervisor.began)
        uncopied = _copied(run / "phases.jsonl", asked.log, note)
        saved = max(Folder(run / "checkpoints").steps(), default=0)
        keep.append(result.outcome in _KEPT and saved > 0)
    kept = run if asked.directory is not None or any(keep) else None
    if result.outcome == "failed":
        answer = TrainAnswer(asked, result, _account(mine), _steps(mine, settings), None, kept)
        raise _failed(answer)
    if result.outcome == "preempted" and saved < result.steps:
        raise _unsaved(result.reason, result.steps, saved, kept)
    compared = _compared(asked, note) if asked.predict and result.outcome == "finished" else None
    steps = _steps(mine, settings)
    answer = TrainAnswer(asked, result, _account(mine), steps, compared, kept)
    if result.outcome == "finished" and (unkept := [*_unkept(answer, saved, uncopied)]):
        raise UnkeptError(f"the run is done, but {'; '.join(unkept)}", answer)
    return answer


def _unkept(answer: TrainAnswer, saved: int, uncopied: str) -> Iterator[str]:
    """Yield what a user who finds exit code 0 would take for written and is not."""
    asked, result = answer.asked, answer.result
    if asked.directory is not None and saved < result.steps:
        yield f"its last state is not saved: {_newest(saved, answer.folder)}"
    if uncopied:
        yield f"its log could not be copied to {asked.log}: {uncopied}"
    elif asked.log is not None and any(text.startswith(NO_MORE) for text in result.warnings):
        yield f"the log in {asked.log} is not whole"


def _failed(answer: TrainAnswer) -> RunFailedError:
    """Say why a run ended; where a rank's error came from is for ``--debug``."""
    kind = RepeatedError if answer.result.repeated else RunFailedError
    failed = kind(f"the run could not go on: {answer.result.reason}", answer)
    if answer.result.frames:
        failed.add_note(answer.result.frames)
    return failed


def _account(rows: Sequence[Row]) -> Account | None:
    spans = spans_of(rows)
    return account(spans) if any(span.end > span.start for span in spans) else None


def _rows(log: Path, began: float) -> list[Row]:
    """Return the phases since ``began``, none without a log."""
    with suppress(OSError):  # that it could not be written was said
        return [row for row in read_rows(log) if row["ts"] >= began]
    return []


def _copied(log: Path, copy: str | None, note: Heard) -> str:
    """Copy the log to where that was asked; return why it could not be, empty if it was."""
    if copy is None:
        return ""
    try:
        shutil.copyfile(log, copy)
    except shutil.SameFileError:
        return ""
    except OSError as error:
        why = error.strerror or str(error)
        note(f"the log of phases could not be copied: {why}")
        return why
    return ""


def _unsaved(reason: str, steps: int, saved: int, kept: Path | None) -> RunFailedError:
    """Say that a run that was told to go has steps that no checkpoint holds."""
    return RunFailedError(
        f"told to go ({reason}): {steps} steps done, but not saved: {_newest(saved, kept)}"
    )


def _newest(saved: int, kept: Path | None) -> str:
    """Say what the newest checkpoint is."""
    where = f" in {kept}" if saved and kept is not None else ""
    return (
        f"the newest checkpoint is of step {saved}" if saved else "there is no checkpoint"
    ) + where


@contextmanager
def _folder(directory: str | None, note: Heard) -> Iterator[tuple[Path, list[bool]]]:
    """Give the run's folder; a temporary one goes unless the list says that it is to stay."""
    keep: list[bool] = []
    if directory is not None:
        yield Path(os.path.realpath(directory)), keep
        return
    root = Path(tempfile.gettempdir())
    for old in abandoned(root, _TEMPORARY):
        _swept(old, note)
    run = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=root))
    try:
        yield run, keep
    finally:
        if any(keep):
            with suppress(OSError):
                (run / _LEFT).touch()
        else:
            shutil.rmtree(run, ignore_errors=True)


def _swept(old: Path, note: Heard) -> None:
    """Remove the temporary folder of a run that was killed, unless it can be gone on from."""
    step = max(Folder(old / "checkpoints").steps(), default=0)
    if not step:
        shutil.rmtree(old, ignore_errors=True)
    elif not (old / _LEFT).exists():
        note(f"a run before this one left {old} (step {step}): go on from it with --dir, or "
             "remove it")  # fmt: skip
        with suppress(OSError):
            (old / _LEFT).touch()


def _fleet(asked: Request) -> Fleet:
    most = max(asked.ranks, asked.least)
    return Fleet(
        agents=asked.agents,
        places=-(-most // asked.agents),
        listen=asked.listen or ("127.0.0.1", 0),
        warm=asked.warm,
        hang=asked.hang_after,
        slow=asked.slow_factor,
        beat=asked.lost_after,
        join=_JOIN * asked.start_limit,
        signals=asked.signals,
    )


def _policy(asked: Request) -> Policy:
    return Policy(
        min_ranks=asked.least,
        max_ranks=asked.most,
        first=asked.ranks,
        spares=asked.spares if asked.warm else 0,
        grace=asked.grace,
        pause=asked.pause_limit,
        start=asked.start_limit,
        settle=asked.settle,
        begin=asked.begin_limit,
        fruitless=asked.fruitless,
        replace_slow=asked.replace_slow,
    )


def _steps(rows: Sequence[Row], settings: Settings) -> Steps:
    mine = [row for row in rows if row["phase"] == "step" and row["rank"] == 0]
    if not mine:
        return Steps(None, None, None)
    whole = median(row["seconds"] for row in mine)
    own = median(row["compute_s"] for row in mine)
    return Steps(whole, own, settings.global_batch / whole)


def _compared(asked: Request, note: Heard) -> TrainComparison:
    """Predict the step of this run from a calibration of this machine, and measure it."""
    settings = asked.settings
    batch = max(1, settings.global_batch // asked.ranks // settings.accumulate)
    run = Run(
        settings.model,
        settings.data,
        settings.size,
        batch,
        compress=settings.compress,
        powersgd_rank=settings.powersgd_rank,
        accumulate=settings.accumulate,
    )
    compared = compare_training(run, asked.ranks, progress=note)
    other = [
        text
        for text, holds in (
            ("--sync leaves out most exchanges", settings.sync not in {"every", 1}),
            ("--consistent sums in a fixed order, which takes longer", bool(settings.consistent)),
        )
        if holds
    ]
    said = tuple(f"predicted and measured with an exchange per step; {text}" for text in other)
    return replace(compared, warnings=(*compared.warnings, *said))


def joined(address: str, places: int) -> None:
    """Join a run at ``HOST:PORT`` as one more host, until it ends.

    Raises ``InputError`` if there is none, or if it does not know the token, and
    :class:`RunFailedError` if it ended or went on without this host.
    """
    from artery.answers.train.request import endpoint
    from artery.runner.supervisor import agent

    installed("torch", _RANKS)
    host, port = endpoint(address)
    rule, fix = "a run started with --listen must be there", "copy the command that it printed"
    try:
        code = agent.main([host, str(port), str(places)])
    except OSError as error:
        found = error.strerror or str(error)
        raise InputError(Problem(field="--join", found=found, rule=rule, fix=fix)) from error
    if code == agent.GIVEN_UP:
        raise RunFailedError(f"the run at {address} ended or went on without this host: join again")
    if code:
        found = "the run did not take this host"
        rule = "ARTERY_TOKEN must hold the run's token"
        raise InputError(Problem(field="--join", found=found, rule=rule, fix=fix))


def launched(
    model: str, options: dict[str, Any], flags: dict[str, str] | None = None
) -> dict[str, Any] | None:
    """Train as the one rank that torchrun or srun gave this process; ``None`` if none did.

    ``flags`` are the options that somebody asked for, as they are spelled. Returns what that rank
    has to say: ``kind`` ``done`` or ``left`` (told to go, and saved). Raises ``UsageError`` for
    flags that one rank has no use for.
    """
    from artery.runner.launch import world

    mine = world(os.environ)
    if mine is None:
        return None
    check_of_use(flags or {}, mine.size, options.get("ranks"))
    installed("torch", _RANKS)
    from artery.runner.worker.standalone import Alone, train_alone

    asked = read_request(
        model,
        {name: value for name, value in options.items() if name in HEARD} | {"ranks": mine.size},
    )
    link = Alone(asked.signals)
    run = Path(os.path.realpath(asked.directory or "artery-run"))
    check(run, asked.settings)
    try:
        said = train_alone(asked.settings, mine, run, link)
    except InputError:
        raise
    except RunError as error:
        failed = RunFailedError(str(error))
        for frames in getattr(error, "__notes__", ()):
            failed.add_note(frames)
        raise failed from error
    saved = max(Folder(run / "checkpoints").steps(), default=0)
    if said["kind"] == "left" and saved < said["step"]:
        raise _unsaved(said["told"] or "by another rank", said["step"], saved, run)
    if said["kind"] == "done" and mine.rank == 0 and saved < said["step"]:  # rank 0 saves
        newest = _newest(saved, run)
        raise UnkeptError(f"the run is done, but its last state is not saved: {newest}")
    return {**said, "rank": mine.rank, "ranks": mine.size}
