"""Fresh outputs of a real Slurm on this machine, read right: nodes, jobs, topology, drains."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from artery.answers.simulate import simulate
from artery.formats.reading import Reading
from artery.formats.recognise import read
from tests.formats.slurm.slurm_cluster import GPUS, NODES, Cluster, cluster

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("slurm") / "own") as found:
        yield found


def reading(folder: Path, text: str) -> Reading:
    file = folder / "output.txt"
    file.write_text(text, "utf-8")
    return read(str(file))


def test_nodes_by_state_and_what_drains_one(slurm: Cluster, tmp_path: Path) -> None:
    slurm.run("scontrol", "update", "nodename=n4", "state=drain", "reason=IB link flapping")
    try:
        states = reading(tmp_path, slurm.run("sinfo"))
        assert (states.format, states.kind) == ("slurm-sinfo", "state")
        assert states.fields["states_by_partition"]["main"] == {"idle": 3, "drained": 1}
        assert states.fields["default_partition"] == "main"
        why = reading(tmp_path, slurm.run("sinfo", "-R"))
        assert why.fields["reasons"][0]["reason"] == "IB link flapping"
        bars = reading(tmp_path, slurm.run("sinfo", "-o", "%P|%D|%T|%G|%N"))
        assert {one["gpus_per_node"] for one in bars.fields["groups"]} == {GPUS}
    finally:
        slurm.run("scontrol", "update", "nodename=n4", "state=resume")
        slurm.wait_idle()


def test_a_node_and_a_job_that_runs_on_it(slurm: Cluster, tmp_path: Path) -> None:
    job = slurm.run(
        *("sbatch", "--parsable", "-N2", f"--gres=gpu:{GPUS}", "--output=/dev/null"),
        *("--job-name=pretrain", "--wrap", "sleep 60"),
    ).strip()
    try:
        _wait_running(slurm, job)
        told = reading(tmp_path, slurm.run("scontrol", "show", "job", job))
        assert (told.format, told.kind) == ("slurm-scontrol", "jobs")
        (one,) = told.fields["jobs"]
        assert (one["id"], one["name"], one["state"]) == (job, "pretrain", "RUNNING")
        assert one["nodes"] == 2
        node = reading(tmp_path, slurm.run("scontrol", "show", "node", "n1")).fields["nodes"][0]
        assert (node["name"], node["gpus"]) == ("n1", GPUS)
        assert "MIXED" in str(node["state"])
    finally:
        slurm.run("scancel", job)
        slurm.wait_idle()


def _wait_running(slurm: Cluster, job: str) -> None:
    until = time.monotonic() + 120
    while slurm.run("squeue", "-h", "-j", job, "-o", "%T").strip() != "RUNNING":
        assert time.monotonic() < until, slurm.logs()
        time.sleep(0.2)


@pytest.mark.parametrize("source", ["the file", "scontrol"])
def test_the_topology_is_a_network(source: str, slurm: Cluster, tmp_path: Path) -> None:
    """Four nodes under two leaves and a spine, as a file and as the controller prints it."""
    text = slurm.topology.read_text("utf-8")
    if source == "scontrol":
        text = slurm.run("scontrol", "show", "topology")
    found = reading(tmp_path, text)
    assert (found.format, found.kind) == ("slurm-topology", "system")
    assert found.fields["hosts"] == NODES
    assert [one["switches"] for one in found.fields["tiers"]] == [2, 1]
    answer = simulate("all_reduce", str(tmp_path / "output.txt"), overrides=("node=dgx-h100",),
                      size="1M", links=0)  # fmt: skip
    assert answer.ranks == 8 * NODES


def test_finished_jobs(slurm: Cluster, tmp_path: Path) -> None:
    """Without a database sacct reads the file of completed jobs (-c)."""
    slurm.run("srun", "-N4", "-n4", "--job-name=probe", "hostname")
    log = slurm.folder / "log" / "jobcomp.txt"
    until = time.monotonic() + 120
    while "=probe " not in (log.read_text("utf-8") if log.exists() else ""):
        assert time.monotonic() < until, slurm.logs()
        time.sleep(0.1)
    printed = slurm.run("sacct", "-c", "-P", "-f", str(log))
    found = reading(tmp_path, printed)
    assert (found.format, found.kind) == ("slurm-sacct", "jobs")
    names = {one["name"]: one for one in found.fields["jobs"]}
    assert names["probe"]["state"] == "COMPLETED"
    assert names["probe"]["nodes"] in (4, ["n1", "n2", "n3", "n4"])
