"""``artery train`` as a job of a real Slurm: preempted, requeued, gone on with."""

from __future__ import annotations

import os
import re
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from artery.runner.checkpoint.folder import Folder
from tests.formats.slurm.slurm_cluster import Cluster, cluster
from tests.runner.hurry import HURRY
from tests.runner.remains import MARK, none_left

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("nothing_left", "in_repository")]

PREEMPTING: Final = """\
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmctldParameters=preempt_send_user_signal
PartitionName=low Nodes=n[1-4] MaxTime=INFINITE State=UP PriorityTier=1 GraceTime=90
PartitionName=high Nodes=n[1-4] MaxTime=INFINITE State=UP PriorityTier=9 PreemptMode=OFF
"""

SCRIPT: Final = """\
#!/bin/bash
#SBATCH --partition=low --nodes={nodes} --ntasks-per-node=1 --exclusive
#SBATCH --requeue --open-mode=append --signal={signal}
#SBATCH --output={folder}/out
export {hurry}={folder}/preempted
export MASTER_ADDR=127.0.0.1 MASTER_PORT={port} GLOO_SOCKET_IFNAME=lo
{trap}
{launcher} {train} --dir {folder}/run {more} &
wait $!
code=$?
while kill -0 $! 2>/dev/null; do wait $!; code=$?; done
echo "attempt ${{SLURM_RESTART_COUNT:-0}} ended with $code"
if [ $code = 75 ]; then scontrol requeue $SLURM_JOB_ID; sleep 60; fi
exit $code
"""
"""The job puts itself back into the queue: Slurm takes one that leaves by itself for done."""

TRAIN: Final = (
    f"{sys.executable} -m artery train tests.runner.tiny:mlp --size 8 --save-every 1000 "
    "--steps {steps}"
)
STEPS: Final = 1500


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster whose jobs carry a mark."""
    folder = tmp_path_factory.mktemp("slurm")
    mark = os.environ[MARK] = uuid.uuid4().hex
    try:
        with cluster(folder, PREEMPTING) as running:
            yield running
            running.run("scancel", "--full", "--signal=KILL", "--user=root")  # of failed tests
            until(lambda: not running.run("squeue", "-h"), running.logs)
        assert none_left(mark)
    finally:
        del os.environ[MARK]


def until(true: Callable[[], object], what: Callable[[], str], seconds: float = 120.0) -> None:
    limit = time.monotonic() + seconds
    while not true():
        if time.monotonic() > limit:
            raise AssertionError(what())
        time.sleep(0.1)


def stepped(run: Path) -> int:
    """Return the last step that the log of a run tells."""
    log = run / "phases.jsonl"
    text = log.read_text("utf-8") if log.exists() else ""
    return max(
        (int(step) for step in re.findall(r'"phase": "step", "step": (\d+)', text)), default=0
    )


def preempted(slurm: Cluster, folder: Path, port: int, **parts: str) -> str:
    """Train in a job, preempt it after some steps, and return what it wrote in all."""
    script = folder / "job"
    train = TRAIN.format(steps=STEPS)
    asked = {"hurry": HURRY, "folder": folder, "train": train, "port": port, **parts}
    script.write_text(SCRIPT.format(**asked), "utf-8")
    job = slurm.run("sbatch", "--parsable", str(script)).strip()
    out, run = folder / "out", folder / "run"

    def said() -> str:
        return f"{out.read_text('utf-8') if out.exists() else ''}\n{slurm.logs()}"

    until(lambda: stepped(run) > 20, said)
    other = slurm.run("sbatch", "--parsable", "--partition=high", "--nodes=4", "--exclusive",
                      "--output=/dev/null", "--wrap", "sleep 1").strip()  # fmt: skip
    until(lambda: "ended with 75" in out.read_text("utf-8"), said)
    (folder / "preempted").touch()
    saved = Folder(run / "checkpoints").steps()
    assert saved, "told to go, and nothing is saved"
    assert 20 < saved[-1] < STEPS
    until(lambda: other not in slurm.run("squeue", "-h", "-o", "%i").split(), said)
    until(lambda: job not in slurm.run("squeue", "-h", "-o", "%i").split(), said)
    text = out.read_text("utf-8")
    assert "attempt 1 ended with 0" in text, text
    assert Folder(run / "checkpoints").steps()[-1] == STEPS
    return text


def test_ranks_of_srun_on_two_nodes_are_preempted_and_go_on(
    slurm: Cluster, tmp_path: Path, free_port: int, undisturbed: Callable[..., str]
) -> None:
    """Slurm signals the steps: every rank hears it."""
    said = preempted(slurm, tmp_path, free_port, nodes="2", signal="USR1@60", trap="",
                     launcher="srun", more="")  # fmt: skip
    assert f"weights {undisturbed(2, steps=STEPS, save_every=1000)}" in said


def test_a_supervised_run_on_one_node_is_preempted_and_goes_on(
    slurm: Cluster, tmp_path: Path, free_port: int, undisturbed: Callable[..., str]
) -> None:
    """Slurm signals the batch shell alone (``B:``), which passes it on to the supervisor."""
    said = preempted(slurm, tmp_path, free_port, nodes="1", signal="B:USR1@60",
                     trap="trap 'kill -USR1 $!' USR1", launcher="", more="--ranks 2")  # fmt: skip
    assert undisturbed(2, steps=STEPS, save_every=1000) in said
