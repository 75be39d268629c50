"""Chips of other vendors get their own names and tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.answers.diagnose import diagnose
from tests.answers.diagnose.test_evidence import FAR, best, facts, written
from tests.answers.diagnose.test_odd import page

NVIDIA_ONLY = ("NVLink", "nvidia-smi", "Xid", "NVSwitch", "fabricmanager")
GPUS = [f"GPU{number}" for number in range(8)]
PCIE_ONLY = "\n".join(
    (
        f"{'=' * 28} ROCm System Management Interface {'=' * 28}",
        f"{'=' * 31} Link Type between two GPUs {'=' * 31}",
        "       " + " ".join(f"{name:12}" for name in GPUS),
        *(
            f"{one:6} " + " ".join(f"{'0' if one == other else 'PCIE':12}" for other in GPUS)
            for one in GPUS
        ),
        f"{'=' * 34} End of ROCm SMI Log {'=' * 35}",
        "",
    )
)


@pytest.mark.parametrize("busbw", [20.0, 150.0, 250.0])
def test_amd_gets_xgmi_and_its_own_tools(tmp_path: Path, busbw: float) -> None:
    found = diagnose(facts(tmp_path, busbw, "chip: mi300x, gpus_per_node: 8, nodes: 1"))
    told = page(found)
    assert "xGMI" in told
    assert "rocm-smi --showtopo" in told
    assert not [word for word in NVIDIA_ONLY if word in told]


def test_pairs_over_pcie_alone_are_xgmi_that_is_down(tmp_path: Path) -> None:
    topology = written(tmp_path, "topo.txt", PCIE_ONLY)
    found = diagnose(
        topology, facts(tmp_path, 40.0, "chip: mi300x, gpus_per_node: 8, nodes: 1"), prove=False
    )
    assert best(found) == "no_nvlink"
    assert found.diagnosis.findings[0].cause.en == "xGMI down: PCIe instead"
    assert "amd-smi xgmi" in found.diagnosis.findings[0].cause.next


def test_other_vendors_get_neutral_words(tmp_path: Path) -> None:
    path = facts(tmp_path, 60.0, "nodes: 1, gpus_per_node: 4")
    told = page(diagnose(path, on="tpu-v5p-pod:4", prove=False))
    assert "causes" in told
    assert not [word for word in (*NVIDIA_ONLY, "xGMI", "rocm-smi", "amd-smi") if word in told]


def test_nodes_of_the_named_system_are_told(tmp_path: Path) -> None:
    content = (
        "workload: {collective: all_reduce}\nmeasured: [{size: 8G, busbw: 100 GB/s, ranks: 16}]\n"
    )
    found = diagnose(written(tmp_path, "facts.yaml", content), on="aws-p5:16", prove=False)
    assert "16 ranks on 2 node" in page(found)


def test_confidence_is_written_in_one_style(tmp_path: Path) -> None:
    path = facts(tmp_path, 12.0, "chip: h100-sxm, gpus_per_node: 8, nodes: 1")
    told = page(diagnose(FAR, path, prove=False))
    assert "(> 99 % likely)" in told
