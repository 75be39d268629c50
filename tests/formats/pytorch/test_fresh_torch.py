"""Fresh files of a real torchrun with gloo: its log and the ranks' traces are read right."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from artery.formats.recognise import read

pytestmark = pytest.mark.real

SCRIPT = """\
import os, sys
import torch
import torch.distributed as dist
from torch.profiler import ProfilerActivity, profile

dist.init_process_group("gloo")
rank = dist.get_rank()
weights = torch.randn(256, 256)
with profile(activities=[ProfilerActivity.CPU]) as trace:
    for _ in range(5):
        gradients = weights @ weights
        dist.all_reduce(gradients)
trace.export_chrome_trace(os.path.join(sys.argv[1], f"rank{rank}.json"))
dist.barrier()

def failed(*error):  # gloo's threads may abort the interpreter's end
    told(*error)
    sys.stderr.flush()
    os._exit(1)

told, sys.excepthook = sys.excepthook, failed
if rank == 1:
    raise RuntimeError("CUDA out of memory. Tried to allocate 26.08 GiB")
dist.all_reduce(gradients)
"""


class Run(NamedTuple):
    log: Path
    traces: list[Path]
    code: int


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two ranks that reduce five times; then rank 1 fails while rank 0 waits for it."""
    folder = tmp_path_factory.mktemp("torchrun")
    script = folder / "train.py"
    script.write_text(SCRIPT, "utf-8")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2",
               "--tee=3", str(script), str(folder)]  # fmt: skip
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    log = folder / "torchrun.log"
    with log.open("wb") as out:
        done = subprocess.run(
            command, env=environment, stdout=out, stderr=out, timeout=300, check=False
        )
    return Run(log, sorted(folder.glob("rank*.json")), done.returncode)


def test_the_log_says_which_rank_failed_and_why(run: Run) -> None:
    assert run.code == 1
    found = read(str(run.log))
    assert (found.format, found.kind) == ("torchrun", "log")
    assert found.fields["root_cause_rank"] == 1, run.log.read_text("utf-8")[-4000:]
    assert found.fields["root_cause"] == "out of memory"
    assert found.fields["exit_code"] == 1
    assert found.fields["world_size"] in (None, 2)


def test_the_traces_say_who_wrote_them_and_that_gloo_talked(run: Run) -> None:
    assert [path.name for path in run.traces] == ["rank0.json", "rank1.json"]
    for rank, path in enumerate(run.traces):
        found = read(str(path))
        assert (found.format, found.kind) == ("kineto", "trace")
        said = found.fields
        assert (said["backend"], said["rank"], said["world_size"]) == ("gloo", rank, 2)
        assert said["annotated_collectives"] == {"gloo:all_reduce": 5}
        spent = said["processor"]
        assert spent["communication_s"] > 0
        assert spent["compute_s"] > 0
        assert spent["span_s"] >= spent["busy_s"] >= spent["compute_s"]
