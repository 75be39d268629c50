"""Facts that follow by arithmetic, and what is assumed where nobody counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.answers.diagnose import DiagnoseAnswer, diagnose
from artery.answers.diagnose.sizing import sizing_facts


def told(tmp_path: Path, text: str) -> DiagnoseAnswer:
    path = tmp_path / "facts.yaml"
    path.write_text(text, encoding="utf-8")
    return diagnose(str(path), prove=False)


def first(found: DiagnoseAnswer) -> list[str]:
    return [one.cause.key for one in found.diagnosis.findings[:2]]


def test_what_the_cards_of_a_node_carry() -> None:
    facts = dict(sizing_facts({"nic_rate": 50e9, "nics_per_node": 8.0, "fabric": "infiniband"}, []))
    assert facts["network_plateau"] == pytest.approx(8 * 50e9 * 0.96)  # 384 GB/s for NDR


def test_memory_and_gpus_of_a_training() -> None:
    # 13e9 parameters: 208 GB of states; 18 x 1.5 x 13e9 = 351 GB over 80 GB less context and 6 %.
    facts = dict(sizing_facts({"parameters": 13e9, "memory_per_gpu": 80e9}, []))
    assert facts["memory_needed"] == pytest.approx(208e9)
    assert facts["gpus_needed"] == 5


def test_scaling_that_has_stopped_falling_is_told_from_one_that_goes_on() -> None:
    def flat(*rates: float) -> object:
        rows = [{"ranks": 4.0**i, "samples_per_s": rate} for i, rate in enumerate(rates)]
        return dict(sizing_facts({}, rows)).get("efficiency_flat")

    assert flat(10, 22, 86) is True  # per GPU 10, 5.5, 5.4
    assert flat(10, 24, 50) is False  # per GPU 10, 6, 3.1
    assert flat(10, 39, 155) is None  # nothing lost
    assert flat(10, 30) is None


def test_the_release_is_a_number() -> None:
    assert dict(sizing_facts({"nccl": "2.7.8+cuda10.2"}, []))["nccl_minor"] == 7.0
    assert not dict(sizing_facts({"nccl": "unknown"}, []))


def test_whole_nodes_are_assumed_and_said_where_nobody_counted_ranks(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        "hardware: {nodes: 4, nics_per_node: 8, nic_rate: 400 Gb/s, fabric: infiniband}\n"
        "workload: {collective: all_reduce, size: 8G}\n"
        "measured: [{busbw: 370 GB/s}]\n",
    )
    assert found.diagnosis.verdict == "healthy"
    assert found.system == "dgx-h100:32"
    assert any("all 8 chips of a node take part" in line for line in found.assumed)
    assert any("servers of h100-sxm" in line for line in found.assumed)


def test_inside_one_node_the_chip_is_asked_for(tmp_path: Path) -> None:
    text = "hardware: {nodes: 1}\nworkload: {collective: all_reduce}\nmeasured: [{busbw: 9 GB/s}]\n"
    found = told(tmp_path, text)
    assert found.diagnosis.verdict == "unknown"
    assert found.diagnosis.missing


def test_two_bandwidths_at_one_size_are_two_runs(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        "hardware: {chip: h100-sxm, gpus_per_node: 8, nodes: 4, fabric: infiniband,"
        " nics_per_node: 8, nic_rate: 400 Gb/s}\n"
        "workload: {collective: all_reduce, size: 4G}\n"
        "measured:\n"
        "  - {busbw: 31 GB/s, note: with 2.18.3 it was fine and 2.19.1 is slow}\n"
        "  - {busbw: 366 GB/s}\n",
    )
    assert found.diagnosis.curve is not None
    assert found.diagnosis.curve.last.busbw == 31e9
    assert first(found)[0] == "version_regression"


KINDS = {
    "old_release": """
hardware: {chip: a100-80g, gpus_per_node: 8, nodes: 4, fabric: roce, nics_per_node: 8,
           nic_rate: 200 Gb/s}
software: {nccl: 2.8.4}
workload: {collective: all_reduce, size: 1G}
measured: [{busbw: 125 GB/s}]
""",
    "kernel_tcp": """
hardware: {chip: a100-80g, gpus_per_node: 8, nodes: 4, fabric: ethernet, nics_per_node: 1,
           nic_rate: 100 Gb/s}
software: {transport: tcp}
workload: {collective: all_reduce, size: 1G}
measured: [{busbw: 1.3 GB/s}]
""",
    "proxy_step": """
hardware: {chip: h200, gpus_per_node: 8, nodes: 4, fabric: infiniband, nics_per_node: 8,
           nic_rate: 400 Gb/s}
workload: {collective: all_reduce, size: 1G}
measured: [{busbw: 150 GB/s}, {network_rate: 396 Gb/s}]
""",
    "shared_slot": """
hardware: {chip: l40s, gpus_per_node: 8, nodes: 1}
workload: {collective: all_reduce, size: 1G}
measured: [{busbw: 20 GB/s}]
""",
    "link_overhead": """
hardware: {words: the datasheet says 900 GB/s and I get 370}
workload: {collective: all_gather}
""",
    "load_imbalance": """
workload: {words: object detection on images of all sizes}
measured: [{ranks: 1, samples_per_s: 8}, {ranks: 8, samples_per_s: 36},
           {ranks: 64, samples_per_s: 280}]
""",
    "separate_pods": """
hardware: {words: eight GPUs and one pod for each}
workload: {words: eight pods are slower than one}
""",
    "pipeline_moves_little": """
workload: {words: inference with pipeline parallel over two hosts}
measured: [{note: with twice the network there is no change}]
""",
}


@pytest.mark.parametrize("cause", KINDS)
def test_kinds_of_cases_are_told_by_their_facts(tmp_path: Path, cause: str) -> None:
    assert cause in first(told(tmp_path, KINDS[cause].lstrip()))
