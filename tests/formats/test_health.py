"""Xid errors, DCGM, and counters of ports."""

from __future__ import annotations

from tests.formats.readings import fields, reading, warned


def test_xid_errors_by_gpu() -> None:
    found = reading("dmesg-xid/two.log")
    assert found.fields["by_xid"] == {"79": 1, "45": 1, "74": 1}
    assert found.fields["by_gpu"] == {"0000:3b:00": 2, "0000:5e:00": 1}
    assert found.fields["first"]["uptime_s"] == 12345.678901
    assert warned(found, "Xid 79 on 0000:3b:00: take the node out")
    assert warned(found, "Xid 74 on 0000:5e:00: check NVLink")


def test_metrics_of_dcgm() -> None:
    said = fields("dcgm/metrics.txt")
    assert said["gpu_count"] == 2
    assert said["gpus"]["1"]["DCGM_FI_DEV_GPU_TEMP"] == 44
    assert [one["gpu"] for one in said["faults"]] == ["1"]


def test_diagnostics_of_dcgm() -> None:
    found = reading("dcgm/diag.txt")
    assert found.fields["failed_tests"] == ["Memory"]
    assert warned(found, "Memory failed")


def test_ethernet_counters() -> None:
    found = reading("ethtool-counters/roce.txt")
    assert found.fields["ports"]["port"]["rx_packets"] == 1000
    assert found.fields["about"] == ["cable", "pause"]
    assert warned(found, "pause frames")


def test_rdma_counters() -> None:
    said = fields("ethtool-counters/rdma.txt")
    assert said["ports"]["mlx5_0/1"]["out_of_sequence"] == 33
    assert said["telling"]["mlx5_1/1"] == []


def test_infiniband_counters() -> None:
    said = fields("ib-counters/perfquery.txt")
    assert said["ports"]["lid 6 port 1"]["LinkDownedCounter"] == 2
    assert said["about"] == ["cable", "congestion"]
    said = fields("ib-counters/errors.txt")
    assert list(said["ports"]) == ["leaf01 port 5"]
    assert (said["nodes_checked"], said["bad_nodes"]) == (9, 1)
