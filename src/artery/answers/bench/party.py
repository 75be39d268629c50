"""The processes of a measurement: how they find each other, and what each runs on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np

from artery.answers.bench.gpus import check_gpus, gpus
from artery.answers.bench.job import Backend, Case, Job
from artery.answers.bench.meeting import check_meeting, meeting_of, unmet
from artery.answers.telling import Heard
from artery.core.schedule import Schedule
from artery.meter.collectives import Library
from artery.meter.surroundings import surroundings
from artery.runner.executor.pacer import Pacer
from artery.runner.executor.transport import Buffer, Transport
from artery.runner.launch import World
from artery.runner.ranks import gather


@dataclass(slots=True)
class Party:
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


@contextmanager
def joined(job: Job, here: World | None, heard: Heard) -> Iterator[Party]:
    """Yield the party once all processes have found each other, and leave it afterwards."""
    if job.backend == "mpi":
        from artery.runner.executor.mpi_transport import MpiTransport

        transport = MpiTransport()
        locals_ = here.local_size if here is not None else transport.processes
        meeting = "" if here is None else here.meeting
        yield Party(transport, "mpi", locals_, heard, meeting)
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
        gather(
            backend,
            init_method=place.meeting,
            rank=place.rank,
            world_size=place.size,
            timeout=timedelta(seconds=job.timeout),
        )
    except (RuntimeError, ValueError, OSError) as error:  # torch's errors of the network are these
        raise unmet(place, str(error).splitlines()[0][:200]) from error
    try:
        yield Party(TorchTransport(), backend, place.local_size, heard, meeting_of(place))
    finally:
        dist.destroy_process_group()


def _backend(asked: Backend, here: World) -> str:
    """Return the backend: NCCL if every process of the host has a GPU of its own, else gloo."""
    if asked == "nccl":
        check_gpus(here.local_size)
    if asked != "auto":
        return asked
    return "nccl" if gpus() >= here.local_size else "gloo"


def about(party: Party, here: World | None) -> dict[str, Any]:
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


def library_for(backend: str, ranks: int) -> Library:
    """Return the collectives of MPI or of torch over so many ranks."""
    if backend == "mpi":
        from artery.meter.mpi_library import MpiLibrary

        return MpiLibrary(ranks)
    from artery.meter.torch_library import TorchLibrary

    return TorchLibrary(ranks)


def meeting_room(transport: Transport) -> list[Buffer]:
    """Return the two buffers that processes exchange to meet."""
    rooms = [transport.empty(1, "float") for _ in range(2)]
    for one in rooms:
        transport.filled(one, np.zeros(1))
    return rooms
