"""One process of a measurement: joins the others, does its part of a job; the first one reports.

``python -m artery.answers.bench.worker JOB.json`` is what is started on this machine; under
torchrun, srun or mpirun the command line calls :func:`attend` in the processes that are there.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from artery.answers.bench.job import LIBRARY, Backend, Case, Done, Job, PairCase, PairDone, Report
from artery.answers.bench.meeting import (
    apart,
    check_meeting,
    meeting_of,
    own_address,
    reached,
    unmet,
)
from artery.answers.bench.run import Heard, check_gpus, gpus
from artery.answers.systems import system_of
from artery.collective.schedules import schedule
from artery.core.schedule import Schedule, Step
from artery.errors import ArteryError, RunError
from artery.meter.clock import Times, repeated, slowest
from artery.meter.collectives import Library
from artery.meter.surroundings import surroundings
from artery.runner.executor.pacer import Pacer
from artery.runner.executor.play import Player
from artery.runner.executor.transport import Buffer, Parcel, Transport, collected, meet, texts, told
from artery.runner.executor.values import fill, wrong
from artery.runner.launch import World, stay_only_while_watched, world

_LOST = ("closed by peer", "reset by peer", "Connection refused", "Timed out", "timed out")
"""What gloo and NCCL say when a peer is gone or does not answer."""

REPORT = "report.json"
"""Where rank 0 writes, beside the job."""


@dataclass(slots=True)
class _Party:
    """The processes of a job as this one sees them."""

    transport: Transport
    backend: str
    locals_: int
    heard: Heard
    meeting: str
    libraries: dict[int, Library] = field(default_factory=dict)
    gate: Pacer | None = None

    def members(self, case: Case, plan: Schedule) -> list[int]:
        """Return the processes that a case needs: its ranks, and the one with the switches."""
        switch = self.transport.processes - 1
        extra = [switch] if plan.switches and switch >= case.ranks else []
        return [*range(case.ranks), *extra]


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
    with _joined(job, here, heard) as party:
        for ranks in sorted({c.ranks for c in job.cases if c.algorithm == LIBRARY}):
            party.libraries[ranks] = _library(party.backend, ranks)
        if job.on is not None and job.pace is not None:
            system = system_of(job.on, job.overrides)
            party.gate = Pacer.of(system, range(party.transport.processes), job.pace)
        done = [_done(party, case) for case in job.cases]
        pairs = _pairs(party, job.pairs, job.timeout) if job.pairs is not None else []
        everybody = range(party.transport.processes)
        told_ = texts(party.transport, everybody, json.dumps(_about(party, here)))
        library = next(iter(party.libraries.values()), None) or _library(
            party.backend, party.transport.processes
        )
        meet(party.transport, everybody, _room(party.transport))
        if party.transport.process:
            return None
        processes = tuple(json.loads(one) for one in told_)
        finished = tuple(one for one in done if one is not None)
        return Report(party.backend, library.title, processes, party.locals_, finished,
                      tuple(pairs))  # fmt: skip


def _about(party: _Party, here: World | None) -> dict[str, Any]:
    """Return what this process runs on: its surroundings, and its chip as nccl-tests prints it."""
    around = surroundings()
    local = here.local_rank if here is not None else 0
    chip = {"device": local, "bus": "0x00", "chip": around["processor"] or "CPU"}
    if party.backend == "nccl":
        import torch

        found = torch.cuda.get_device_properties(torch.cuda.current_device())
        bus = getattr(found, "pci_bus_id", 0)
        chip |= {"bus": f"0x{bus:02x}", "chip": found.name}
    return {**around, "pid": os.getpid(), **chip}


@contextmanager
def _joined(job: Job, here: World | None, heard: Heard) -> Iterator[_Party]:
    """Yield the party once all processes have found each other, and leave it afterwards."""
    if job.backend == "mpi":
        from artery.runner.executor.mpi_transport import MpiTransport

        transport = MpiTransport()
        locals_ = here.local_size if here is not None else transport.processes
        meeting = "" if here is None else here.meeting
        yield _Party(transport, "mpi", locals_, heard, meeting)
        return
    import torch
    from torch import distributed as dist

    from artery.runner.executor.torch_transport import TorchTransport

    place = here or World(0, 1, 0, 1, "", "artery")
    backend = _backend(job.backend, place)
    if backend == "nccl":
        torch.cuda.set_device(place.local_rank)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS") or 1))
    check_meeting(place)
    try:
        dist.init_process_group(
            backend,
            init_method=place.meeting,
            rank=place.rank,
            world_size=place.size,
            timeout=timedelta(seconds=job.timeout),
        )
    except (RuntimeError, ValueError, OSError) as error:  # torch's errors of the network are these
        raise unmet(place, str(error).splitlines()[0][:200]) from error
    try:
        yield _Party(TorchTransport(), backend, place.local_size, heard, meeting_of(place))
    finally:
        dist.destroy_process_group()


def _backend(asked: Backend, here: World) -> str:
    """Return the backend: NCCL if every process of the host has a GPU of its own, else gloo."""
    if asked == "nccl":
        check_gpus(here.local_size)
    if asked != "auto":
        return asked
    return "nccl" if gpus() >= here.local_size else "gloo"


def _library(backend: str, ranks: int) -> Library:
    if backend == "mpi":
        from artery.meter.mpi_library import MpiLibrary

        return MpiLibrary(ranks)
    from artery.meter.torch_library import TorchLibrary

    return TorchLibrary(ranks)


def _done(party: _Party, case: Case) -> Done | None:
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


def _timed(party: _Party, case: Case, members: Sequence[int], run: Any) -> Times | None:  # noqa: ANN401 - a call
    """Return, on rank 0, the times of the slowest rank; all ranks do equally many repeats."""
    if not case.repeats:
        return None
    transport = party.transport
    ready = partial(meet, transport, members, _room(transport))
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


def _ready(party: _Party, case: Case, plan: Schedule) -> tuple[dict[int, Buffer], Any, Any]:
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


def _room(transport: Transport) -> list[Buffer]:
    rooms = [transport.empty(1, "float") for _ in range(2)]
    for one in rooms:
        transport.filled(one, np.zeros(1))
    return rooms


class _Channel:
    """Bytes from process to process over a transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def room(self, size: int) -> Buffer:
        room = self._transport.empty(size, "uint8")
        room[...] = 0
        return room

    def send(self, buffers: Sequence[Buffer], peer: int) -> None:
        left, _ = self._transport.post([Parcel(one, peer) for one in buffers], [])
        for work in left:
            work.wait()
        self._transport.finish()

    def receive(self, buffers: Sequence[Buffer], peer: int) -> None:
        _, come = self._transport.post([], [Parcel(one, peer) for one in buffers])
        for work in come:
            work.wait()
        self._transport.finish()


def _pairs(party: _Party, asked: PairCase, timeout: float) -> list[PairDone]:
    """Measure all pairs, round by round; return them on rank 0."""
    from artery.meter.links import measured, rounds

    transport = party.transport
    ranks = range(asked.ranks)
    found: list[PairDone] = []
    if transport.process not in ranks:
        return found
    room = _room(transport)
    for pairs in rounds(asked.ranks, together=asked.together):
        meet(transport, ranks, room)
        mine = next((pair for pair in pairs if transport.process in pair), None)
        one = None
        if mine is not None and asked.tool == "ucx":
            one = _by_ucx(party, mine, asked, timeout)
        elif mine is not None:
            pair = measured(
                _Channel(transport), transport.process, mine,
                size=asked.size, warmup=asked.warmup, repeats=asked.repeats,
            )  # fmt: skip
            if pair is not None:
                seconds = pair.latency.seconds
                one = PairDone(pair.source, pair.target, seconds, pair.onward, pair.back)
        if one is not None:
            found.append(one)
    rows = texts_of_pairs(transport, ranks, found)
    return rows if transport.process == 0 else []


def texts_of_pairs(
    transport: Transport, ranks: Sequence[int], found: Sequence[PairDone]
) -> list[PairDone]:
    """Return, on rank 0, the pairs of all ranks, of each latency its least and its median."""
    room = np.zeros((len(ranks), 6))
    for place, one in enumerate(found):
        times = Times(one.latency)
        room[place] = (one.source, one.target, times.least, times.median, one.onward, one.back)
    rows = [row for of_one in collected(transport, ranks, room.reshape(-1))
            for row in of_one.reshape(-1, 6).tolist() if row[5]]  # fmt: skip
    return [
        PairDone(int(source), int(target), (least, middle), onward, back)
        for source, target, least, middle, onward, back in sorted(rows)
    ]


def _by_ucx(
    party: _Party, pair: tuple[int, int], asked: PairCase, timeout: float
) -> PairDone | None:
    """Measure one pair with ``ucx_perftest``: the second serves, then the first does."""
    from artery.meter import ucx

    transport = party.transport
    me, results = transport.process, []
    room = _room(transport)
    here = own_address(party.meeting)
    for test, size in ((ucx.LATENCY, 8), (ucx.BANDWIDTH, asked.size)):
        for client, server in ((pair[0], pair[1]), (pair[1], pair[0])):
            names = [server, client]
            port = told(transport, names, float(ucx.free_port() if me == server else 0))
            theirs = _said(transport, server, client, here)
            theirs += _said(transport, client, server, here)  # each hears the other one only
            lan = apart(theirs, here)
            if me == server:
                process = ucx.served(int(port), lan=lan)
                try:
                    meet(transport, names, room)
                    results.append(told(transport, [client, server], 0.0))
                finally:
                    process.kill()
                    process.wait()
                continue
            meet(transport, names, room)
            got = ucx.tested(
                reached(theirs, here), int(port), test, size,
                warmup=asked.warmup, repeats=asked.repeats * 20, timeout=timeout, lan=lan,
            )  # fmt: skip
            value = got["latency_p50_s" if test == ucx.LATENCY else "bandwidth_bytes_per_s"]
            results.append(told(transport, [client, server], float(value)))
    if me != pair[0]:
        return None
    return PairDone(*pair, (min(results[:2]), max(results[:2])), results[2], results[3])


def _said(transport: Transport, of: int, to: int, text: str) -> str:
    """Return, on process ``to``, the text of process ``of``."""
    found = texts(transport, [to, of], text)
    return found[1] if found else ""


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
    sys.exit(main(sys.argv[1:]))
