"""Odd situations that people ask about, and what somebody who knows the field would answer."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest

from artery.answers.diagnose import DiagnoseAnswer, diagnose
from artery.cli import main
from artery.report.diagnose import diagnose_drawing
from artery.report.drawing.terminal import draw
from tests.formats.readings import FIXTURES


def told(tmp_path: Path, content: str, *, prove: bool = False) -> DiagnoseAnswer:
    path = tmp_path / "facts.yaml"
    path.write_text(content)
    return diagnose(str(path), prove=prove)


def page(found: DiagnoseAnswer) -> str:
    text = StringIO()
    draw(diagnose_drawing(found, "en"), file=text, width=100)
    return " ".join(text.getvalue().split())


def causes(found: DiagnoseAnswer) -> list[str]:
    return [one.cause.key for one in found.diagnosis.findings]


def test_a_tree_over_two_nodes_shows_more_than_the_cards_carry(tmp_path: Path) -> None:
    # Four cards of 200 Gb/s carry 96 GB/s; a tree shows up to twice that.
    found = told(tmp_path, "hardware: {chip: A100, gpus_per_node: 8, nodes: 2, fabric: infiniband, "
                 "nics_per_node: 4, nic_rate: 200 Gb/s}\nworkload: {collective: all_reduce}\n"
                 "measured: [{size: 4G, busbw: 172 GB/s}]\n")  # fmt: skip
    assert found.diagnosis.verdict == "healthy"
    assert "two_nodes" in found.notes
    assert found.wire == pytest.approx(172e9 / 15)


def test_nvls_above_the_rate_of_the_links_is_right_and_said(tmp_path: Path) -> None:
    # 450 GB/s a direction; 480 with NVLS (NVIDIA/nccl-tests issue 212).
    found = told(tmp_path, "hardware: {chip: H100, gpus_per_node: 8}\n"
                 "measured: [{collective: all_reduce, size: 8G, busbw: 481 GB/s}]\n")  # fmt: skip
    assert found.diagnosis.verdict == "healthy"
    assert "above_link" in found.notes
    ring = told(tmp_path, "hardware: {chip: A100, gpus_per_node: 8}\n"
                "measured: [{collective: all_reduce, size: 8G, busbw: 232 GB/s}]\n")  # fmt: skip
    assert "above_link" not in ring.notes


def test_an_average_is_compared_with_nothing(tmp_path: Path) -> None:
    average = "{busbw: 53 GB/s, average: true}"
    head = "hardware: {system: aws-p5, nodes: 2}\nworkload: {collective: all_reduce}\n"
    found = told(tmp_path, f"{head}measured: [{average}]\n").diagnosis
    assert found.verdict == "unknown"
    assert [one.fact for one in found.missing] == ["measured"]
    assert "average" in found.missing[0].why
    beside = told(tmp_path, f"{head}measured: [{average}, {{size: 16G, busbw: 487 GB/s}}]\n")
    assert beside.diagnosis.verdict == "healthy"  # 487.26 GB/s (awsome-distributed-training)


def test_the_sparse_peak_makes_a_good_run_look_bad(tmp_path: Path) -> None:
    # 415 of 989 TFLOP/s dense is 42 %; of 1979 with sparsity 21 %.
    found = told(tmp_path, "hardware: {chip: H100, gpus_per_node: 8, nodes: 4}\n"
                 "measured: [{flops_per_gpu: 415 TFLOP/s, mfu: 21%}]\n")  # fmt: skip
    assert found.diagnosis.verdict == "healthy"
    assert causes(found)[0] == "sparse_peak"
    assert any("41.9 %" in line for line in found.diagnosis.findings[0].evidence)
    chip = re.search(r"artery catalog show (\S+)", page(found))
    assert chip is not None
    assert main(["catalog", "show", chip[1]]) == 0


def test_all_experts_counted_is_more_than_the_chip_can_do(tmp_path: Path) -> None:
    # 3.3 of 30.5 billion parameters are active: a ninth of what was counted.
    found = told(tmp_path, "hardware: {chip: H100, gpus_per_node: 8, nodes: 8}\n"
                 "workload: {model: qwen3-30b-a3b}\n"
                 "measured: [{flops_per_gpu: 1400 TFLOP/s, mfu: 141%}]\n")  # fmt: skip
    assert found.diagnosis.verdict == "refused"
    assert causes(found)[0] == "more_than_peak"
    assert found.facts["mfu_of_active_parameters"] == pytest.approx(1.415 * 3.3 / 30.5, rel=0.03)


def test_an_allocation_that_is_a_whole_copy_is_said_in_numbers(tmp_path: Path) -> None:
    found = told(tmp_path, "hardware: {chip: V100, gpus_per_node: 8, memory_per_gpu: 31.75 GiB}\n"
                 "software: {zero: 2}\nworkload: {model: some-7b}\n"
                 "measured:\n  - 'CUDA out of memory. Tried to allocate 26.08 GiB'\n")  # fmt: skip
    assert causes(found)[0] == "whole_copy"
    line = "26.08 GiB is a whole fp32 copy of 7e+09 parameters"
    assert any(line in one for one in found.diagnosis.findings[0].evidence)
    # ZeRO-2 over eight GPUs: 2 + (12 + 2)/8 bytes a parameter, which do fit.
    assert found.facts["states_over_memory"] == pytest.approx(7e9 * 3.75 / (31.75 * 2**30))
    assert "states_do_not_fit" not in causes(found)


def test_a_card_without_nvlink_has_none_that_is_down(tmp_path: Path) -> None:
    found = told(tmp_path, "hardware: {chip: rtx4090, gpus_per_node: 8, all_pairs_far: true}\n"
                 "software: {p2p_disabled: true}\n"
                 "measured: [{collective: all_reduce, size: 1G, busbw: 6 GB/s}]\n")  # fmt: skip
    assert causes(found) == ["no_peer_to_peer"]
    assert [one.fact for one in found.diagnosis.missing] == ["system"]
    assert "rtx4090" in found.diagnosis.missing[0].why


VIRTUAL = """\
hardware: {chip: A100, gpus_per_node: 8, nodes: 2, fabric: infiniband, nics_per_node: 8,
           nic_rate: 200 Gb/s, virtual_machine: true}
workload: {collective: all_reduce}
measured: [{size: 8G, busbw: 95 GB/s}]
"""


def test_a_proof_does_not_choose_among_causes_of_the_same_world(tmp_path: Path) -> None:
    found = told(tmp_path, VIRTUAL, prove=True)
    assert set(causes(found)[:2]) == {"flattened_topology", "pcie_access_control"}
    assert found.proof is not None
    assert found.proof.lands
    assert "which of the causes changes it, that does not tell" in page(found)


def test_where_nothing_fits_the_page_says_so(tmp_path: Path) -> None:
    found = told(tmp_path, "hardware: {chip: H100, gpus_per_node: 8, nodes: 4, nics_per_node: 8, "
                 "nic_rate: 400 Gb/s, fabric: infiniband}\nworkload: {collective: alltoall}\n"
                 "measured: [{size: 1G, busbw: 44 GB/s}]\n")  # fmt: skip
    assert found.diagnosis.verdict == "degraded"
    assert "No cause that is known gives this number" in page(found)


def test_a_hang_names_the_rank_that_is_missing_and_no_victim() -> None:
    # Ranks 1 and 2 completed number 41, rank 0 number 40.
    found = diagnose(str(FIXTURES / "torch-watchdog/three-ranks.log"))
    assert causes(found) == ["rank_behind"]
    assert found.diagnosis.verdict == "faulty"
    assert any("rank 0" in one for one in found.diagnosis.findings[0].evidence)


def test_a_log_above_the_peak_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    lines = (f"iter {step}: loss 3.2, time 250.1ms, mfu 138.2%\n" for step in range(10, 20))
    path.write_text("".join(lines))
    found = diagnose(str(path))
    assert found.diagnosis.verdict == "refused"
    assert causes(found) == ["more_than_peak"]


@pytest.mark.parametrize(("model", "experts"), [("llama2-7b", False), ("qwen3-30b-a3b", True)])
def test_low_utilisation_is_of_experts_only_where_there_are_some(
    model: str, experts: bool, tmp_path: Path
) -> None:
    found = told(tmp_path, f"hardware: {{chip: H100}}\nworkload: {{model: {model}}}\n"
                 "measured: [{mfu: 14%}]\n")  # fmt: skip
    assert ("small_experts" in causes(found)) is experts


def test_a_killed_process_threw_no_exception(tmp_path: Path) -> None:
    path = tmp_path / "torchrun.log"
    path.write_text(
        "E1130 11:12:11.201000 4242 torch/distributed/elastic/multiprocessing/api.py:874] failed "
        "(exitcode: -9) local_rank: 1 (pid: 4244) of binary: /usr/bin/python3\n"
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
        "train.py FAILED\nRoot Cause (first observed failure):\n[0]:\n"
        "  time      : 2026-11-30_11:12:09\n  host      : node7\n  rank      : 1 (local_rank: 1)\n"
        "  exitcode  : -9 (pid: 4244)\n  traceback : Signal 9 (SIGKILL) received by PID 4244\n"
    )
    found = diagnose(str(path))
    assert causes(found) == ["killed"]
    assert any("failed rank = 1" in one for one in found.diagnosis.findings[0].evidence)
