"""How far the network cards are from the GPUs, and what a node gets out then."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.answers.diagnose import DiagnoseAnswer, diagnose

FOUR_NODES = """\
hardware: {chip: a100-80g, gpus_per_node: 8, nodes: 4, fabric: infiniband, nics_per_node: 8,
           nic_rate: 200 Gb/s MORE}
software: {SOFT}
workload: {collective: all_reduce}
measured: [{size: 8G, busbw: RATE GB/s}]
"""
FAR = """\
\tGPU0\tGPU1\tNIC0
GPU0\t X \tNV12\tCELL
GPU1\tNV12\t X \tSYS
NIC0\tCELL\tSYS\t X
"""


def found(
    tmp_path: Path, rate: float, more: str, soft: str = "", topo: str | None = None
) -> DiagnoseAnswer:
    path = tmp_path / "facts.yaml"
    told = FOUR_NODES.replace("RATE", str(rate)).replace("MORE", more).replace("SOFT", soft)
    path.write_text(told.replace("software: {}\n", ""))
    paths = [str(path)]
    if topo is not None:
        other = tmp_path / "topo.txt"
        other.write_text(FAR.replace("CELL", topo))
        paths.append(str(other))
    return diagnose(*paths, prove=False)


@pytest.mark.parametrize("path", ["SYS", "NODE", "PHB"])
def test_cards_behind_the_processor_give_what_a_node_gets_through_it(
    tmp_path: Path, path: str
) -> None:
    # About 16 GB/s a node, whatever its cards (NVIDIA/nccl issue 412).
    best = found(tmp_path, 16.5, f", nic_path: {path}").diagnosis.findings[0]
    assert best.cause.key == "far_cards"
    assert best.explanation.fits
    assert best.explanation.predicted == pytest.approx(16e9, rel=0.1)
    assert f"nic path = {path.lower()}" in best.evidence[0]


def test_near_cards_are_no_cause(tmp_path: Path) -> None:
    causes = found(tmp_path, 16.5, ", nic_path: PIX").diagnosis.findings
    assert "far_cards" not in [one.cause.key for one in causes]


def test_where_gpudirect_is_seen_the_path_explains_nothing(tmp_path: Path) -> None:
    told = found(tmp_path, 16.5, ", nic_path: SYS", "gpu_direct_rdma: true")
    assert told.diagnosis.findings[0].cause.key != "far_cards"


@pytest.mark.parametrize(("cell", "fact"), [("SYS", "sys"), ("PXB", "pxb"), ("NODE", "node")])
def test_the_path_is_read_from_a_topology(tmp_path: Path, cell: str, fact: str) -> None:
    assert found(tmp_path, 16.5, "", topo=cell).facts["nic_path"] == fact


def test_far_cards_alone_are_no_verdict_where_nothing_was_measured(tmp_path: Path) -> None:
    path = tmp_path / "topo.txt"
    path.write_text(FAR.replace("CELL", "SYS"))
    told = diagnose(str(path)).diagnosis
    assert told.verdict == "unknown"
    assert [one.cause.key for one in told.findings] == ["far_cards"]
    assert told.missing
