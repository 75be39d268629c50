"""One process of a measurement: joins the others, does its part of a job; the first one reports.

``python -m artery.answers.bench.worker JOB.json`` is what is started on this machine; under
torchrun, srun or mpirun the command line calls :func:`attend` in the processes that are there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from artery.answers.bench.job import LIBRARY, Case, Done, Job, Report
from artery.answers.bench.pairs import pairs_done
from artery.answers.bench.party import Party, about, joined, library_for, meeting_room
from artery.answers.systems import system_of
from artery.answers.telling import Heard
from artery.collective.schedules import schedule
from artery.core.schedule import Schedule, Step
from artery.errors import ArteryError, RunError
from artery.meter.clock import Times, repeated, slowest
from artery.runner.executor.pacer import Pacer
from artery.runner.executor.play import Player
from artery.runner.executor.transport import Buffer, collected, meet, texts, told
from artery.runner.executor.values import fill, wrong
from artery.runner.launch import World, stay_only_while_watched, world
from artery.runner.ranks import end

_LOST = ("closed by peer", "reset by peer", "Connection refused", "Timed out", "timed out")
"""What gloo and NCCL say when a peer is gone or does not answer."""

REPORT = "report.json"
"""Where rank 0 writes, beside the job."""


def attend(job: Job, here: World | None, heard: Heard) -> Report | None:
    """Do this process's part of ``job``; return the report on rank 0, ``None`` elsewhere.

    On rank 0 ``heard`` gets a line for each case. Raises :class:`artery.errors.ArteryError`, where
    memory ends as well.
    """
    try:
        return _attended(job, here, heard)
    except (MemoryError, RuntimeError) as error:  # torch's ends of memory are RuntimeErrors
        rank = 0 if here is None else here.rank
        raise _told(error, rank) or error from error


def _told(error: MemoryError | RuntimeError, rank: int) -> RunError | None:
    """Return what an error means that comes from the machine, not from artery."""
    text = str(error).strip() or "no memory"
    first = text.splitlines()[0][:200]
    if isinstance(error, MemoryError) or "memory" in text.lower():
        return RunError(f"rank {rank} has no memory for this; use smaller sizes ({first})")
    if any(one in text for one in _LOST):
        return RunError(f"rank {rank} lost another rank, which may say why ({first})")
    return None


def _attended(job: Job, here: World | None, heard: Heard) -> Report | None:
    with joined(job, here, heard) as party:
        for ranks in sorted({c.ranks for c in job.cases if c.algorithm == LIBRARY}):
            party.libraries[ranks] = library_for(party.backend, ranks)
        if job.on is not None and job.pace is not None:
            system = system_of(job.on, job.overrides)
            party.gate = Pacer.of(system, range(party.transport.processes), job.pace)
        done = [_done(party, case) for case in job.cases]
        pairs = pairs_done(party, job.pairs, job.timeout) if job.pairs is not None else []
        everybody = range(party.transport.processes)
        told_ = texts(party.transport, everybody, json.dumps(about(party, here)))
        library = next(iter(party.libraries.values()), None) or library_for(
            party.backend, party.transport.processes
        )
        meet(party.transport, everybody, meeting_room(party.transport))
        if party.transport.process:
            return None
        processes = tuple(json.loads(one) for one in told_)
        finished = tuple(one for one in done if one is not None)
        return Report(party.backend, library.title, processes, party.locals_, finished,
                      tuple(pairs))  # fmt: skip


def _done(party: Party, case: Case) -> Done | None:
    """Do one case, and return on rank 0 what became of it."""
    plan = _plan(case)
    members = party.members(case, plan)
    transport = party.transport
    if transport.process not in members:
        return None
    buffers, run, settle = _ready(party, case, plan)
    count = None
    if case.check:
        fill(transport, plan, buffers, case.elements, case.dtype)
        run()
        settle()
        transport.finish()
        bad = wrong(transport, plan, buffers, case.elements, case.dtype)
        count = int(sum(one[0] for one in collected(transport, members, np.array([float(bad)]))))
    times = _timed(party, case, members, run)
    if transport.process:
        return None
    party.heard(f"{case.collective} {case.algorithm} {case.elements}")
    return Done(times.seconds if times is not None else (), count)


def _timed(party: Party, case: Case, members: Sequence[int], run: Any) -> Times | None:  # noqa: ANN401 - a call
    """Return, on rank 0, the times of the slowest rank; all ranks do equally many repeats."""
    if not case.repeats:
        return None
    transport = party.transport
    ready = partial(meet, transport, members, meeting_room(transport))
    once = repeated(run, warmup=0, repeats=1, before=ready, after=transport.finish)
    fits = told(transport, members, case.most / max(once.least, 1e-9))
    repeats = max(1, min(case.repeats, int(min(fits, case.repeats))))
    warmup = min(case.warmup, repeats)
    times = repeated(run, warmup=warmup, repeats=repeats, before=ready, after=transport.finish)
    of_all = collected(transport, members, np.array(times.seconds))
    # A switch is no rank, but its part of the work is: the slowest process counts.
    return slowest([one.tolist() for one in of_all]) if of_all else None


def _plan(case: Case) -> Schedule:
    """Return the schedule of a case; for the library's own, an empty one with its layout."""
    if case.algorithm != LIBRARY:
        return schedule(case.algorithm, case.collective, case.ranks, **case.shape)
    chunks = case.ranks**2 if case.collective == "alltoall" else case.ranks

    def nothing(k: int) -> Step:
        raise IndexError(k)

    return Schedule(LIBRARY, case.collective, case.ranks, chunks, 0, nothing, 0.0)


def _ready(party: Party, case: Case, plan: Schedule) -> tuple[dict[int, Buffer], Any, Any]:
    """Return the buffers of this process, what runs the case, and what settles its result."""
    transport = party.transport
    player = Player(plan, case.elements, transport, case.dtype, party.gate)
    if case.algorithm != LIBRARY:
        return player.buffers, player.run, lambda: None
    buffer = player.buffers[transport.process]
    # Filled before it is made ready: an all-gather keeps a copy of what it sends.
    fill(transport, plan, player.buffers, case.elements, case.dtype)
    operation = party.libraries[case.ranks].prepare(case.collective, buffer)
    return {transport.process: buffer}, operation.run, operation.settle


def _say(text: str, stream: TextIO) -> None:
    stream.write(text + "\n")
    stream.flush()


def main(arguments: Sequence[str]) -> int:
    """Do the job in the file that is named, and write the report beside it on rank 0."""
    stay_only_while_watched()
    file = Path(arguments[0])
    try:
        job = Job.of(file.read_text("utf-8"))
        report = attend(job, world(), partial(_say, stream=sys.stdout))
    except ArteryError as error:
        _say(str(error), sys.stderr)
        return error.exit_code
    if report is not None:
        file.with_name(REPORT).write_text(report.text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    end(partial(main, sys.argv[1:]))
