"""``rocm-smi --showtopo``: four sections, each of which may be missing."""

from __future__ import annotations

import pytest

from artery.formats.gpus.rocm_smi_topo import FORMAT
from artery.formats.text import Text
from tests.formats.readings import reading, warned


def test_a_full_mesh_is_a_system() -> None:
    """Four MI300X, one xGMI link of 64 GB/s to each of three peers."""
    found = reading("rocm-smi-topo/mesh-of-four.txt")
    assert found.fields["link_type"] == {"XGMI": 6}
    assert found.fields["hops"] == {"1": 6}
    assert found.fields["weight"] == {"15": 6}
    assert found.fields["numa_nodes"] == [0, 1]
    assert found.fields["fully_connected"] is True
    assert warned(found, "low-power state")
    assert found.system is not None
    assert found.system.tiers[0].pair == pytest.approx(64e9)


def test_one_section_alone() -> None:
    text = "===== Link Type between two GPUs =====\n     GPU0  GPU1\nGPU0  0  PCIE\nGPU1  PCIE  0\n"
    found = FORMAT.read(Text("t", text))
    assert found.fields["sections"] == ["link_type"]
    assert warned(found, "no xGMI")
    assert found.fields["missing_facts"]
