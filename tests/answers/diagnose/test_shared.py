"""Real logs of the shared folder, alone and with the system that was measured.

What is right is the words of ``expected`` in the folder's index, quoted here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.answers.diagnose import DiagnoseAnswer, diagnose


def of(shared: Path, name: str, on: str | None = None) -> DiagnoseAnswer:
    (path,) = (shared / "cases").glob(f"{name}*")
    return diagnose(str(path), on=on)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nccl-tests/17", "wrong_results"),  # "Bandwidth must be reported as INVALID"
        ("nccl-tests/18", "wrong_results"),  # "validation failed at small sizes"
        ("nccl-tests/24", "no_rows"),  # "no data rows: must say so, not crash"
    ],
)
def test_what_does_not_count_is_refused(shared: Path, name: str, reason: str) -> None:
    found = of(shared, name).diagnosis
    assert found.verdict == "refused"
    assert reason in [why.reason for why in found.refusals]


@pytest.mark.parametrize(
    ("name", "on"),
    [
        ("nccl-tests/01", None),  # "8xA100-40GB one process", 235.26 at 8 GiB
        ("nccl-tests/04", None),
        ("nccl-tests/05", None),
        ("nccl-tests/10", "dgx-a100"),  # "8 GPUs (from -g 8). Peak 234.89 = 78% of 300"
    ],
)
def test_machines_that_give_what_they_should(shared: Path, name: str, on: str | None) -> None:
    assert of(shared, name, on).diagnosis.verdict == "healthy"


def test_large_sizes_far_short_are_not_healthy_because_the_largest_is(shared: Path) -> None:
    """The index: "NOT the peak (437.79). Report the large-message value"; 256 MiB gives 167."""
    found = of(shared, "nccl-tests/09", "aws-p5:16").diagnosis
    assert found.verdict == "degraded"
    assert found.judged is not None
    assert found.judged.curve.last.busbw == pytest.approx(437.89e9, rel=1e-3)
    point = found.judged.curve.points[found.judged.place]
    assert point.size == 2**28
    assert point.busbw == pytest.approx(167.17e9, rel=1e-3)
    assert [one.fact for one in found.missing] == ["tuning"]


def test_a_run_over_shared_memory_is_not_one_over_the_network(shared: Path) -> None:
    """The index: "shared memory, 2-core machine": 4.6 GB/s are more than 10 Gb/s."""
    found = of(shared, "mpi-bench/01", "ethernet-10g:2").diagnosis
    assert found.verdict == "unknown"
    assert [one.fact for one in found.missing] == ["system"]


def test_four_ranks_of_osu_are_judged_by_the_system(shared: Path) -> None:
    """The index: "16 MiB in 8630 us = 1.94 GB/s algbw, 2.92 busbw: host-staged"."""
    found = of(shared, "mpi-bench/05", "dgx-a100:4").diagnosis
    assert found.verdict == "faulty"
    assert found.curve is not None
    assert found.curve.last.busbw == pytest.approx(2.92e9, rel=3e-3)


def test_a_trace_says_where_the_time_went(shared: Path) -> None:
    """The index: "exposed_comm_us: 336983.0, idle_pct: 55.2", compute_us 210320."""
    found = of(shared, "kineto/01")
    assert found.trace is not None
    assert found.trace.exposed == pytest.approx(0.336983)
    assert found.trace.compute == pytest.approx(0.210320)
    assert found.trace.idle / found.trace.span == pytest.approx(0.552, abs=1e-3)
    keys = [one.cause.key for one in found.diagnosis.findings]
    assert keys == ["idle_device", "exposed_communication"]


def test_one_gpu_per_node_is_limited_by_its_slot(shared: Path) -> None:
    """The index: "One GPU: ceiling is its PCIe Gen5 x16 (~50-55 GB/s), adding NICs cannot help"."""
    found = of(shared, "nccl-tests/12", "dgx-h100").diagnosis
    assert found.verdict == "healthy"
    assert "single_chip_per_node" in [one.cause.key for one in found.findings]


def test_a_curve_that_collapses_is_congestion_or_loss(shared: Path) -> None:
    """The index: "falls when the message grows = congestion/loss (RoCE, spine), not latency"."""
    found = of(shared, "nccl-tests/21").diagnosis
    assert (found.verdict, found.findings[0].cause.key) == ("faulty", "congestion")


def test_three_nodes_below_what_four_cards_give(shared: Path) -> None:
    """The index: "2 nodes 57 > 50 (two-node tree effect); 3-4 nodes ~30-32 GB/s"."""
    judged = of(shared, "nccl-tests/16", "aws-p4d").diagnosis.judged
    assert judged is not None
    assert judged.curve.nodes in {3, 4}
    assert judged.ratio == pytest.approx(0.6, abs=0.06)


def test_a_tenth_of_omni_path(shared: Path) -> None:
    """The index: "5.06 GB/s vs 4x100G=50 GB/s: 10%"."""
    judged = of(shared, "nccl-tests/28", "aws-p4d").diagnosis.judged
    assert judged is not None
    assert judged.curve.last.busbw == pytest.approx(5.06e9, rel=0.01)
    assert judged.ratio < 0.15


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("nccl-debug/02", "no_gpudirect"),
        ("nccl-debug/05", "sockets"),
        ("nccl-debug/06", "no_verbs_library"),
        ("nccl-debug/13", "waiting_rank"),
        ("topo/12", "no_peer_to_peer"),
        ("torchrun/01", "memory_of_one_rank"),
        ("torchrun/03", "rank_behind"),
    ],
)
def test_logs_alone_name_the_cause(shared: Path, name: str, cause: str) -> None:
    assert of(shared, name).diagnosis.findings[0].cause.key == cause


@pytest.mark.parametrize("name", ["nccl-xml/01", "nccl-xml/08", "mpi-bench/01", "topo/04", "ib/08"])
def test_files_without_a_fault_accuse_nothing(shared: Path, name: str) -> None:
    found = of(shared, name).diagnosis
    assert not found.findings
    wanted = "system" if name == "mpi-bench/01" else "measured"
    assert [one.fact for one in found.missing] == [wanted]
