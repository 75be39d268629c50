"""Arithmetic on training runs; right values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.answers.diagnose import diagnose
from artery.answers.diagnose.training import training_facts
from artery.diagnoser.verdict import Diagnosis

GIB = 2.0**30


def of(tmp_path: Path, text: str) -> Diagnosis:
    path = tmp_path / "facts.yaml"
    path.write_text(text, encoding="utf-8")
    return diagnose(str(path)).diagnosis


def test_adam_keeps_sixteen_bytes_per_parameter() -> None:
    # 6e9 · 16 B = 96e9 B against 80 GiB = 85.9e9 B
    facts = {"parameters": 6e9, "memory_per_gpu": 80 * GIB}
    assert training_facts(facts, [])["states_over_memory"] == pytest.approx(96e9 / (80 * GIB))


@pytest.mark.parametrize(("stage", "kept"), [(1, 2 + 2 + 12 / 8), (2, 2 + 14 / 8), (3, 16 / 8)])
def test_a_stage_of_zero_shares_out_what_it_names(stage: float, kept: float) -> None:
    facts = {"parameters": 1e9, "memory_per_gpu": 1e9, "zero": float(stage), "ranks": 8.0}
    assert training_facts(facts, [])["states_over_memory"] == pytest.approx(kept)


def test_tensor_and_pipeline_parallel_split_everything() -> None:
    facts = {"parameters": 1e9, "memory_per_gpu": 1e9, "tp": 4.0, "pp": 2.0, "ranks": 8.0}
    assert training_facts(facts, [])["states_over_memory"] == pytest.approx(2)


@pytest.mark.parametrize(("asked", "width"), [(12.0e9, 4.0), (6.0e9, 2.0)])
def test_an_allocation_that_is_a_whole_copy_is_known_by_its_size(
    asked: float, width: float
) -> None:
    assert training_facts({"parameters": 3e9}, [{"memory": asked}])["copy_bytes"] == width
    assert "copy_bytes" not in training_facts({"parameters": 3e9}, [{"memory": asked * 1.2}])


def test_utilisation_is_against_the_dense_peak() -> None:
    # H100 SXM: 989.4 TFLOP/s dense in bf16 (datasheet: 1,979 with sparsity)
    found = training_facts({"chip": "h100-sxm"}, [{"flops_per_gpu": 494.7e12, "mfu": 0.25}])
    assert found["mfu_dense"] == pytest.approx(0.5)
    assert found["mfu_of_sparse_peak"] is True


def test_efficiency_is_throughput_per_gpu_over_that_of_the_smallest_run() -> None:
    rows = [
        {"ranks": 1.0, "nodes": 1.0, "samples_per_s": 100.0},
        {"ranks": 8.0, "nodes": 1.0, "samples_per_s": 600.0},
        {"ranks": 16.0, "nodes": 2.0, "samples_per_s": 600.0},
    ]
    found = training_facts({}, rows)
    assert found["efficiency_in_node"] == pytest.approx(0.75)
    assert found["efficiency_across"] == pytest.approx(0.5)


def test_a_longer_step_on_more_nodes_implies_a_network() -> None:
    # 2 (k-1)/k · 1e9 · 2 B = 2e9 B for k = 2, in one second more
    rows = [{"nodes": 1.0, "step_time": 0.5}, {"nodes": 2.0, "step_time": 1.5}]
    assert training_facts({"parameters": 1e9}, rows)["implied_network_rate"] == 2e9


CASES = [
    (
        (
            "hardware: {chip: a100-40g, nodes: 1, gpus_per_node: 1}\n"
            "workload: {parameters: 3.0e9}\nmeasured: out of memory\n"
        ),
        ("faulty", "states_do_not_fit"),
    ),
    (
        (
            "hardware: {chip: v100, gpus_per_node: 4}\nworkload: {parameters: 3.0e9}\n"
            "software: {zero: 3}\nmeasured: {memory: 12 GB}\n"
        ),
        ("faulty", "whole_copy"),
    ),
    (
        (
            "hardware: {chip: h100-sxm}\nworkload: a dense model\n"
            "measured: {flops_per_gpu: 500 TFLOP/s, mfu: 25%}\n"
        ),
        ("healthy", "sparse_peak"),  # 500 of 989 TFLOP/s dense is half of the peak
    ),
    (
        (
            "hardware: {chip: a100-80g, gpus_per_node: 8}\nworkload: a vision model\n"
            "measured:\n- {samples_per_s: 800, nodes: 1}\n- {samples_per_s: 500, nodes: 2}\n"
        ),
        ("degraded", "network_bound_training"),
    ),
    (
        (
            "hardware: {chip: a100-80g}\nworkload: images/s of a CNN\n"
            "measured:\n- {samples_per_s: 100, ranks: 1}\n- {samples_per_s: 350, ranks: 8}\n"
        ),
        ("degraded", "input_pipeline"),
    ),
]


@pytest.mark.parametrize(
    ("text", "right"), CASES, ids=lambda case: case[1] if len(case) == 2 else ""
)
def test_a_facts_file_leads_to_verdict_and_cause(
    text: str, right: tuple[str, str], tmp_path: Path
) -> None:
    found = of(tmp_path, text)
    assert (found.verdict, found.findings[0].cause.key) == right


def test_a_network_bound_run_asks_for_the_rate_of_the_network(tmp_path: Path) -> None:
    found = of(tmp_path, CASES[3][0])
    assert [one.fact for one in found.missing] == ["nic rate"]


def test_a_bandwidth_without_a_size_is_held_against_the_plateau(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        "hardware: {chip: a100-80g, nodes: 1, gpus_per_node: 8}\n"
        "workload: {collective: all_reduce}\nmeasured: {busbw: 232 GB/s}\n",
    )
    assert found.verdict == "healthy"


def test_a_ring_over_two_nodes_that_fills_the_cards_is_healthy(tmp_path: Path) -> None:
    # Four cards of 200 Gb/s carry 4 · 24 GB/s: 96 (NVIDIA/nccl-tests issue 319 has 24 a card).
    found = of(
        tmp_path,
        "hardware: {chip: a100-80g, nodes: 2, gpus_per_node: 8, fabric: infiniband, "
        "nics_per_node: 4, nic_rate: 200 Gb/s}\nsoftware: nccl-tests\n"
        "workload: {collective: all_reduce}\nmeasured: {size: 1G, busbw: 94 GB/s}\n",
    )
    assert found.verdict == "healthy"


def test_wrong_values_in_a_facts_file_are_refused(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        "hardware: {chip: a100-80g, nodes: 1, gpus_per_node: 8}\n"
        "workload: {collective: all_reduce}\nmeasured: {size: 1G, busbw: 232 GB/s, wrong: 3}\n",
    )
    assert found.verdict == "refused"
