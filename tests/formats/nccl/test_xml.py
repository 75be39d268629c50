"""NCCL's and RCCL's topologies and graphs."""

from __future__ import annotations

import pytest

from artery.errors import InputError
from artery.formats.nccl.topology_xml import FORMAT
from artery.formats.text import Text
from tests.formats.readings import fields, reading, warned


def test_a_dump_is_a_system() -> None:
    """Four A100 on NVSwitch (12 links of 25 GB/s each); 16 lanes at 16 GT/s are 24 GB/s."""
    found = reading("nccl-topology-xml/switched.xml")
    said = found.fields
    assert (said["gpus"], said["nics"], said["cpus"]) == (4, 1, 2)
    assert said["pcie_switches"] == 2
    assert said["link_entries"] == {"nvlink": 4}
    assert said["slot_bytes_per_s"] == [24e9]
    assert said["nic_list"][0]["rate_bytes_per_s"] == 25e9
    assert said["in_network_reduction"] is True
    assert said["template"] is False
    assert found.system is not None
    assert found.system.chip.name == "a100-80g"
    assert found.system.tiers[0].bandwidth == pytest.approx(300e9)
    assert [(one.count, one.why) for one in found.ignored] == [(2, "<rail> is not known")]
    assert warned(found, "NUMA node 1")


def test_a_template_is_called_one() -> None:
    """Eight lanes at 32 GT/s are 8 x 240 / 80 = 24 GB/s; no width and no speed say nothing."""
    found = reading("nccl-topology-xml/template.xml")
    assert found.fields["template"] is True
    assert found.fields["slot_bytes_per_s"] == [24e9]
    assert found.fields["virtual_switches"] == 1
    assert found.system is None
    assert found.table is not None
    with pytest.raises(InputError, match="template"):
        found.table("h100-sxm")


def test_a_graph_is_no_topology() -> None:
    found = fields("nccl-graph-xml/two.xml")
    first, second = found["graphs"]
    assert (first["pattern_name"], first["channels"], first["intra_bytes_per_s"]) == (
        "ring",
        1,
        20e9,
    )
    assert first["order"] == [{"gpus": ["0", "1"], "nets": ["0", "0"]}]
    assert first["crosses_nics"] is True
    assert second["intra_type"] == "SYS"
    assert warned(reading("nccl-graph-xml/two.xml"), "graph 1 (SYS)")


@pytest.mark.parametrize(
    "text",
    [
        '<system version="1"><cpu numaid="0"><pci busid=</cpu></system>',
        '<!DOCTYPE s [<!ENTITY a "aaaa">]><system version="1"><cpu>&a;</cpu></system>',
        '<system version="1"><cpu>' + "<pci>" * 100 + "</pci>" * 100 + "</cpu></system>",
        '<system version="1"><cpu numaid="0"/></system>',
    ],
    ids=["broken", "entities", "deep", "empty"],
)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        FORMAT.read(Text("bad.xml", text))
