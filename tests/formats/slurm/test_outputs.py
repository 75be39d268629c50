"""Slurm's topologies, ``sinfo``, ``scontrol`` and ``sacct``: values worked out by hand."""

from __future__ import annotations

import pytest

from artery.errors import InputError
from artery.formats.recognise import recognise
from artery.formats.slurm.words import duration, exit_code, gpus, memory, state
from artery.formats.text import Text
from tests.formats.readings import fields, reading, warned


def test_a_tree_with_keys_in_any_case() -> None:
    found = reading("slurm-topology/tree.conf")
    assert found.fields["hosts"] == 5 + 4
    assert found.fields["topology"] == "tree"
    assert [one["switches"] for one in found.fields["tiers"]] == [2, 1]
    assert warned(found, "LinkSpeed has no unit")


def test_two_leaves_without_a_root() -> None:
    found = reading("slurm-topology/no-root.conf")
    assert found.fields["islands"] == [3, 2]
    assert warned(found, "2 parts that no cable joins")


@pytest.mark.parametrize(
    ("name", "nodes", "each", "sizes"),
    [("blocks.conf", 36, 18, [18, 36]), ("topology.yaml", 8, 4, [4, 8])],
)
def test_blocks(name: str, nodes: int, each: int, sizes: list[int]) -> None:
    said = fields(f"slurm-topology/{name}")
    assert (said["topology"], said["block_count"], said["nodes"]) == ("block", 2, nodes)
    assert (said["nodes_per_block"], said["block_sizes"]) == ([each], sizes)


def test_a_host_list_that_runs_backwards() -> None:
    text = Text("t.conf", "BlockName=b Nodes=n[4-1]\n")
    with pytest.raises(InputError, match=r"t\.conf:1"):
        recognise(text)[0].read(text)


def test_sinfo_by_default() -> None:
    found = reading("slurm-sinfo/default.txt")
    assert found.fields["states_by_partition"]["train"] == {"down": 2, "mixed": 3, "inval": 1}
    assert found.fields["default_partition"] == "train"
    assert found.fields["not_responding"] == ["pine07", "pine08"]
    assert found.fields["groups"][0]["time_limit_s"] == 36 * 3600
    assert found.fields["groups"][3]["time_limit_s"] == 30 * 60
    assert warned(found, "inval (1): registered with less")


def test_sinfo_by_node_cuts_memory_and_reasons() -> None:
    found = reading("slurm-sinfo/per-node.txt")
    assert found.fields["groups"][1]["reason"] == "GPU 3 fell off the b"
    assert found.fields["groups"][0]["sockets_cores_threads"] == "2:48:2"
    assert warned(found, '"103200" may be the beginning')
    assert warned(found, "cuts reasons at 20 characters")


def test_sinfo_with_bars() -> None:
    said = fields("slurm-sinfo/bars.txt")
    assert said["gpus"] == 16
    assert said["groups"][0]["gpu_type"] == "h200"
    assert said["groups"][0]["memory_bytes"] == 1_032_000 * 2**20
    assert said["groups"][1]["gpus_per_node"] == 0


def test_sinfo_of_reasons() -> None:
    said = fields("slurm-sinfo/reasons.txt")
    assert said["reasons"] == [{"reason": "Not responding", "nodes": ["pine07", "pine08"]}]


def test_a_node_with_a_gpu_less() -> None:
    found = reading("slurm-scontrol/node.txt")
    (node,) = found.fields["nodes"]
    assert (node["state"], node["flags"]) == ("IDLE", ["DRAIN", "INVALID_REG"])
    assert (node["gpus"], node["gpu_type"], node["responding"]) == (8, "h200", False)
    assert node["configured"]["gres/gpu"] == "8"
    assert warned(found, "(7 < 8)")
    assert not warned(found, "CfgTRES")


def test_a_job_whose_gpus_are_not_in_its_tres() -> None:
    (job,) = fields("slurm-scontrol/job.txt")["jobs"]
    assert (job["nodes"], job["gpus"], job["gpu_type"]) == (2, 16, "h200")
    assert (job["run_s"], job["limit_s"]) == (3600, 86400)


def test_gpu_hours_count_allocations_only() -> None:
    said = fields("slurm-sacct/gpu.txt")
    assert said["gpu_s"] == 16 * 86400 + 2 * 600
    assert said["steps_not_counted"] == 2
    assert said["states"] == {"COMPLETED": 1, "CANCELLED": 1}
    assert said["jobs"][0]["hosts"] == ["pine01", "pine02"]


def test_sacct_in_columns_and_with_a_trailing_bar() -> None:
    found = reading("slurm-sacct/columns.txt")
    assert found.fields["jobs"][0]["exit_code"] == 127
    assert warned(found, "command not found")
    found = reading("slurm-sacct/trailing.txt")
    assert found.fields["trailing_pipe"]
    assert found.fields["jobs"][0]["elapsed_s"] == 90


@pytest.mark.parametrize(
    ("word", "seconds"),
    [("2-00:00:00", 172800), ("1-12", 129600), ("00:00:33", 33), ("10:30", 630), ("90", 5400),
     ("00:00:01.5", 1.5), ("infinite", None), ("UNLIMITED", None)],
)  # fmt: skip
def test_durations(word: str, seconds: float | None) -> None:
    assert duration(word) == seconds


def test_small_words() -> None:
    assert state("mix*") == ("mixed", ("not responding",))
    assert gpus("cpu=8,gres/gpu=4,gres/gpu:a100=4") == (4, "a100")
    assert gpus("gpu:a100:2,gpu:l4:1") == (3, None)
    assert memory("211488K") == 211488 * 1024
    assert exit_code("0:15") == (0, 15)
