"""A short run that is measured: ``python -m artery.runner.probing.probe``, one process per rank.

What to do stands in ``probe.json`` of the run's folder; each rank leaves ``rank-N.json`` there, and
its traces. All that is timed takes turns, a little of each in every round, so that all meet the
same weather on a machine that others use as well.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from artery.runner.launch import FOLDER, launched, run_folder
from artery.runner.probing.measured import Run, Wanted
from artery.runner.probing.rounds import Sweep, TimedOperators, TimedRun
from artery.runner.ranks import end, gather


def probe(
    wanted: Wanted,
    ranks: int,
    *,
    timeout: float = 300.0,
    heard: Callable[[str], None] | None = None,
) -> Iterator[dict[str, Any]]:
    """Run a probe on ``ranks`` processes of this machine and yield what each rank found.

    ``heard`` is called with each round that begins.

    Traces are read before the run's folder is gone: ``runs[].trace`` holds the fields of
    :mod:`artery.formats.pytorch.kineto`.
    """
    from artery.runner.probing.profile import read_trace

    environ = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    if sys.platform == "linux":
        environ["GLOO_SOCKET_IFNAME"] = os.environ.get("GLOO_SOCKET_IFNAME", "lo")
    with run_folder() as folder:
        (folder / "probe.json").write_text(json.dumps(asdict(wanted)), "utf-8")
        command = [sys.executable, "-m", "artery.runner.probing.probe"]
        launched(command, ranks, folder=folder, timeout=timeout, environ=environ, heard=heard)
        found = []
        for rank in range(ranks):
            one = json.loads((folder / f"rank-{rank}.json").read_text("utf-8"))
            for run in one["runs"]:
                run["trace"] = read_trace(Path(run["trace"])) if run["trace"] else None
            found.append(one)
    yield from found


def main() -> int:
    """Do what ``probe.json`` says, as one rank; return the exit code."""
    import torch
    import torch.distributed as dist

    from artery.runner.launch import stay_only_while_watched, world

    stay_only_while_watched()
    torch.set_num_threads(1)
    here = world()
    if here is None:
        raise SystemExit("started by artery, not by hand")
    gather("gloo", init_method=here.meeting, rank=here.rank, world_size=here.size)
    folder = Path(os.environ[FOLDER])
    wanted = json.loads((folder / "probe.json").read_text("utf-8"))
    sweep = Sweep(wanted["sweep"], wanted["groups"], wanted["types"])
    timers = [*_timers(wanted)]
    runs = [TimedRun(Run(**run)) for run in wanted["runs"]]
    for done in range(wanted["rounds"]):
        sys.stdout.write(f"round {done + 1} of {wanted['rounds']}\n")
        sys.stdout.flush()
        sweep.once()
        for timer in timers:
            dist.barrier()
            timer.once()
        for run in runs:
            run.once()
    if wanted["traced"]:
        for number, run in enumerate(runs):
            run.traced(wanted["traced"], folder / f"{number}-{here.rank}.trace.json")
    found = {
        "rank": here.rank,
        "sweep": sweep.rows(),
        "operators": [row for timer in timers for row in timer.rows()],
        "runs": [asdict(run.steps) for run in runs],
        "load": os.getloadavg()[0],
    }
    (folder / f"rank-{here.rank}.json").write_text(json.dumps(found), "utf-8")
    dist.barrier()
    dist.destroy_process_group()
    return 0


def _timers(wanted: dict[str, Any]) -> Iterator[TimedOperators]:
    """Yield what times the operators of the steps, and of the exchanges, that are wanted."""
    from artery.runner.probing.exchanged import ExchangeTimer
    from artery.runner.probing.operators import Timer
    from artery.runner.tasks import find_task

    exchanged = set()
    for asked in wanted["operators"]:
        run = Run(**asked)
        task = find_task(run.model, run.data, size=run.size)
        yield TimedOperators(Timer(task, run.batch, adding=run.accumulate > 1))
        for compress in wanted["exchanges"]:
            if (run.model, compress) not in exchanged:
                exchanged.add((run.model, compress))
                yield TimedOperators(ExchangeTimer(task.build(0), compress, run.powersgd_rank))


if __name__ == "__main__":
    end(main)
