"""A short run that is measured: ``python -m artery.runner.probe``, one process per rank.

What to do stands in ``probe.json`` of the run's folder; each rank leaves ``rank-N.json`` there, and
its trace. Steps without and with exchange alternate in blocks, so that both meet the same weather
on a machine that others use as well.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any, Final

from artery.runner.launch import FOLDER, launched, run_folder
from artery.runner.measured import Run, Steps, Wanted

BLOCK: Final = 4
"""Steps of one kind before steps of the other; the first of a block is not counted."""

_REPEATS: Final = 7
"""All-reduces of each size that are timed (assumed)."""


def probe(wanted: Wanted, ranks: int, *, timeout: float = 300.0) -> Iterator[dict[str, Any]]:
    """Run a probe on ``ranks`` processes of this machine and yield what each rank found.

    Traces are read before the run's folder is gone: ``runs[].trace`` holds the fields of
    :mod:`artery.formats.kineto`.
    """
    from artery.runner.profile import read_trace

    environ = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    if sys.platform == "linux":
        environ["GLOO_SOCKET_IFNAME"] = os.environ.get("GLOO_SOCKET_IFNAME", "lo")
    with run_folder() as folder:
        (folder / "probe.json").write_text(json.dumps(asdict(wanted)), "utf-8")
        command = [sys.executable, "-m", "artery.runner.probe"]
        launched(command, ranks, folder=folder, timeout=timeout, environ=environ)
        found = []
        for rank in range(ranks):
            one = json.loads((folder / f"rank-{rank}.json").read_text("utf-8"))
            for run in one["runs"]:
                run["trace"] = read_trace(Path(run["trace"])) if run["trace"] else None
            found.append(one)
    yield from found


def main() -> None:
    """Do what ``probe.json`` says, as one rank."""
    import torch
    import torch.distributed as dist

    from artery.runner.launch import stay_only_while_watched, world

    stay_only_while_watched()
    torch.set_num_threads(1)
    here = world()
    if here is None:
        raise SystemExit("started by artery, not by hand")
    dist.init_process_group("gloo", init_method=here.meeting, rank=here.rank, world_size=here.size)
    folder = Path(os.environ[FOLDER])
    wanted = json.loads((folder / "probe.json").read_text("utf-8"))
    sweep = _sweep(wanted)
    timed = [list(_operators(Run(**run))) for run in wanted["operators"]]
    runs = [
        asdict(_steps(Run(**run), wanted, folder / f"{number}-{here.rank}.trace.json"))
        for number, run in enumerate(wanted["runs"])
    ]
    found = {"rank": here.rank, "sweep": sweep, "operators": timed, "runs": runs,
             "load": os.getloadavg()[0]}  # fmt: skip
    (folder / f"rank-{here.rank}.json").write_text(json.dumps(found), "utf-8")
    dist.barrier()
    dist.destroy_process_group()


def _sweep(wanted: dict[str, Any]) -> list[dict[str, Any]]:
    """Return, per type, size and number of ranks, the times of all-reduces in seconds."""
    import torch
    import torch.distributed as dist

    from artery.runner.exchange.compress import WIRE

    rows = []
    for ranks in wanted["groups"]:
        group = dist.new_group(list(range(ranks)))
        for kind in wanted["types"] if dist.get_rank() < ranks else ():
            type_ = WIRE.get(kind, torch.float32)
            for size in wanted["sweep"]:
                buffer = torch.ones(max(1, size // type_.itemsize), dtype=type_)
                times = []
                for _ in range(_REPEATS + 1):
                    dist.barrier(group)
                    start = perf_counter()
                    dist.all_reduce(buffer.fill_(1.0), group=group)
                    times.append(perf_counter() - start)
                rows.append(
                    {"ranks": ranks, "type": kind, "bytes": buffer.nbytes, "times": times[1:]}
                )
        dist.barrier()
    return rows


def _operators(run: Run) -> Iterator[dict[str, Any]]:
    """Yield the operators of one step, timed; all ranks do the same at the same time."""
    import torch.distributed as dist

    from artery.runner.operators import timed
    from artery.runner.tasks import find_task

    task = find_task(run.model, run.data, size=run.size)
    dist.barrier()
    yield from (asdict(one) for one in timed(task, run.batch).operators)


def _steps(run: Run, wanted: dict[str, Any], trace: Path) -> Steps:
    """Return the times of a run's steps; the last ones are traced, and not timed."""
    import torch.distributed as dist

    from artery.runner.profile import traced
    from artery.runner.stepping import Stepper

    steps = Steps()
    stepper = Stepper(run)
    for _ in range(wanted["blocks"]):
        for together in (False, True):
            dist.barrier()
            for number in range(BLOCK + 1):
                clocks = perf_counter(), thread_time(), process_time()
                parts = stepper.step(together=together)
                whole = perf_counter() - clocks[0]
                if number == 0:
                    continue
                if together:
                    steps.whole.append(whole)
                    steps.wait.append(parts["wait"])
                    steps.processor.append(process_time() - clocks[2])
                    continue
                steps.alone.append(whole)
                steps.thread.append(thread_time() - clocks[1])
                for name in ("forward", "backward", "optimizer"):
                    getattr(steps, name).append(parts[name])
    figures = stepper.exchange.figures()
    steps.bytes_sent = figures["bytes_sent"] / max(figures["steps"], 1)
    if wanted["traced"]:
        dist.barrier()
        traced(lambda: stepper.step(together=True), wanted["traced"], trace)
        steps.trace = str(trace)
    return steps


if __name__ == "__main__":
    main()
