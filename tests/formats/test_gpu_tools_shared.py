"""Real outputs of the shared folder: each assertion stands for words of its ``expected``."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from artery.formats.reading import Reading
from artery.formats.recognise import read
from tests.conftest import shared_folder

Check = tuple[str, Callable[[Any], bool]]
"""Words of ``expected`` in the index, and what they mean for the fields of the reading."""

US, GB = 1e-6, 1e9


def near(value: float | None, right: float, share: float = 1e-3) -> bool:
    return value is not None and abs(value - right) <= share * right


def last(fields: Any, side: str = "out_of_place") -> Any:
    return fields["rows"][-1][side]


CASES: dict[str, tuple[str, str, list[Check]]] = {
    "topo/04-a100-8-nv12-condensed.txt": ("nvidia-smi-topo", "system", [
        ("8 GPUs all NV12", lambda f: f["gpus"] == 8 and f["links"] == {"NV12": 28}),
        ("numa 0/1", lambda f: f["numa_nodes"] == [0, 1]),
    ]),
    "topo/09-c4140-4xv100-nv2.txt": ("nvidia-smi-topo", "system", [
        ("4 GPUs fully connected NV2", lambda f: f["gpus"] == 4 and f["links"] == {"NV2": 6}),
        ("comma list without ranges", lambda f: f["cpu_affinity"]["GPU0"] == "0,2,4,6,8,10"),
        ("mlx5_0 NODE", lambda f: all(d == {"mlx5_0": "NODE"} for d in f["nic_distance"].values())),
    ]),
    "topo/12-2x5090-phb-plus-p2p-matrix.txt": ("nvidia-smi-topo", "system", [
        ("First matrix = topology", lambda f: f["links"] == {"PHB": 1} and f["matrices"] == 1),
        ("GNS", lambda f: f["p2p"]["pairs"] == {"GNS": 1}),
        ("no P2P", lambda f: f["p2p"]["all_ok"] is False),
    ]),
    "topo/13-gb10-single-gpu.txt": ("nvidia-smi-topo", "system", [
        ("One GPU", lambda f: f["gpus"] == 1),
        ("no peers", lambda f: f["pairs"] == []),
        ("says nothing about links", lambda f: f["links"] == {}),
    ]),
    "topo/15-h100-8-nic-on-even-gpus.txt": ("nvidia-smi-topo", "system", [
        ("Only GPU0,2,4,6 have a NIC",
         lambda f: f["gpus_with_own_nic"] == ["GPU0", "GPU2", "GPU4", "GPU6"]),
        ("(PIX)", lambda f: [f["nic_distance"][f"GPU{g}"][f"NIC{n}"]
                             for g, n in ((0, 0), (2, 1), (4, 2), (6, 3))] == ["PIX"] * 4),
        ("odd GPUs have none", lambda f: "GPU1" not in f["gpus_with_own_nic"]
         and set(f["nic_distance"]["GPU1"].values()) == {"SYS"}),
    ]),
    "topo/19-dgx-a100-nps4-12nic.txt": ("nvidia-smi-topo", "system", [
        ("12 NICs", lambda f: len(f["nics"]) == 12),
        ("8 of them in pairs behind the PXB switch of a GPU pair",
         lambda f: f["nearest_nics"]["GPU2"] == f["nearest_nics"]["GPU3"] == ["NIC2", "NIC3"]
         and f["nic_distance"]["GPU2"]["NIC2"] == "PXB"),
        ("4 (storage) SYS to all", lambda f: len(f["nics_far_from_all"]) == 4),
        ("8 NUMA nodes (NPS4)", lambda f: max(f["numa_nodes"]) == 7 and len(f["numa_nodes"]) == 4),
    ]),
    "topo/20-dgx2-16xv100-10mlx.txt": ("nvidia-smi-topo", "system", [
        ("16 GPUs NV6", lambda f: f["gpus"] == 16 and f["links"] == {"NV6": 120}),
        ("GPU10..15 need two-digit names", lambda f: f["gpu_names"][15] == "GPU15"),
        ("CPU Affinity only",
         lambda f: f["cpu_affinity"]["GPU15"] == "24-47,72-95" and f["numa"] == {}),
    ]),
    "topo/21-v100-8-hybrid-cube-2ib.txt": ("nvidia-smi-topo", "system", [
        ("Two NICs both near GPU2/3 only (PIX)",
         lambda f: f["gpus_with_own_nic"] == ["GPU2", "GPU3"] and len(f["nics"]) == 2),
        ("a dual port card", lambda f: f["nics_side_by_side"] == [["mlx5_0", "mlx5_1"]]),
        ("GPU4-7 cross the socket (SYS)", lambda f: all(
            set(f["nic_distance"][f"GPU{g}"].values()) == {"SYS"} for g in range(4, 8))),
    ]),
    "topo/22-rocm-mi308x-8-xgmi.txt": ("rocm-smi-topo", "system", [
        ("8 GPUs fully connected XGMI", lambda f: f["gpus"] == 8 and f["fully_connected"]),
        ("1 hop", lambda f: f["hops"] == {"1": 28}),
        ("weight 15", lambda f: f["weight"] == {"15": 28}),
        ("NUMA 0/1", lambda f: f["numa_nodes"] == [0, 1]),
    ]),
    "topo/24-rocm-2xmi100-pcie.txt": ("rocm-smi-topo", "system", [
        ("Only the link-type section", lambda f: f["sections"] == ["link_type"]),
        ("2 GPUs, PCIE", lambda f: f["gpus"] == 2 and f["link_type"] == {"PCIE": 1}),
    ]),
    "topo/25-rocm-single.txt": ("rocm-smi-topo", "system", [
        ("One GPU", lambda f: f["gpus"] == 1),
        ("One GPU", lambda f: f["link_type"] == {}),
    ]),
    "nccl-xml/01-azure-ndv2.xml": ("nccl-topology-xml", "system", [
        ("8 GPU (class 0x030200) 4 per cpu", lambda f: f["gpus_per_numa"] == {"0": 4, "1": 4}
         and f["gpu_list"][0]["class"] == "0x030200"),
        ("1 NIC 0x020700 on numa 0", lambda f: f["nics_per_numa"] == {"0": 1}),
        ("NO pci switches", lambda f: f["pcie_switches"] == 0),
        ("NO <gpu>/<nvlink> (template", lambda f: f["template"] and not f["link_entries"]),
    ]),
    "nccl-xml/02-azure-ndv4.xml": ("nccl-topology-xml", "system", [
        ("4 cpus (numa 0-3)", lambda f: f["cpus"] == 4),
        ("each 1 switch ffff:ff:0N.0", lambda f: f["virtual_switches"] == f["pcie_switches"] == 4),
        ("2 GPU + 2 IB NIC", lambda f: set(f["gpus_per_numa"].values()) == {2}
         and set(f["nics_per_numa"].values()) == {2}),
        ("16 GT/s x16 = 24 GB/s", lambda f: f["slot_bytes_per_s"] == [24 * GB]),
        ("busid order 0001..000e not GPU order",
         lambda f: f["gpu_list"][0]["busid"].startswith("0003:")),
    ]),
    "nccl-xml/03-azure-ndv5.xml": ("nccl-topology-xml", "system", [
        ("8 GPU / 8 NIC", lambda f: f["gpus"] == f["nics"] == 8),
        ("one NIC per GPU", lambda f: [g["behind"] for g in f["gpu_list"]]
         == [n["behind"] for n in f["nic_list"]]),
    ]),
    "nccl-xml/05-azure-ncv4-graph.xml": ("nccl-graph-xml", "state", [
        ("3 graphs", lambda f: len(f["graphs"]) == 3),
        ("(id 0 ring pattern 4, id 1 pattern 1, id 2 pattern 3)", lambda f: [
            (g["id"], g["pattern"]) for g in f["graphs"]] == [("0", "4"), ("1", "1"), ("2", "3")]),
        ("speedintra 12", lambda f: {g["intra_bytes_per_s"] for g in f["graphs"]} == {12 * GB}),
    ]),
    "nccl-xml/08-aws-p4de.xml": ("nccl-topology-xml", "system", [
        ("As p4d", lambda f: (f["gpus"], f["nics"], f["template"]) == (8, 4, True)),
        ("As p4d", lambda f: f["virtual_switches"] == 4 and f["gpus_per_numa"] == {"0": 4, "1": 4}),
    ]),
    "nccl-xml/09-rccl-8p-940.xml": ("nccl-topology-xml", "system", [
        ("system version=2", lambda f: f["version"] == "2"),
        ("gpu has gcn/arch attributes", lambda f: f["gpu_list"][0]["gcn"] == "gfx942"),
        ("7 <xgmi count=1> per GPU: full mesh", lambda f: all(
            [link["count"] for link in g["links"]] == [1] * 7 for g in f["gpu_list"])),
        ("class 0x120000", lambda f: f["gpu_list"][0]["class"] == "0x120000"),
        ('link_speed "32.0 GT/s PCIe"', lambda f: f["slot_bytes_per_s"] == [48 * GB]),
    ]),
    "nccl-xml/11-rccl-8p6l-4nic.xml": ("nccl-topology-xml", "system", [
        ("8 GPUs with 6 xgmi peers each (48 entries)",
         lambda f: f["gpus"] == 8 and f["link_entries"] == {"xgmi": 48}),
        ("4 NICs speed=200000 Mb/s gdr=1", lambda f: f["gdr"] is True and [
            n["rate_bytes_per_s"] for n in f["nic_list"]] == [25 * GB] * 4),
        ("GPU class 0x038000", lambda f: f["gpu_list"][0]["class"] == "0x038000"),
    ]),
    "nccl-xml/16-rccl-collnet-n1.xml": ("nccl-topology-xml", "system", [
        ('coll="1" on the net: in-network reduction', lambda f: f["in_network_reduction"] is True),
        ("4 numa, 8 GPUs", lambda f: (f["cpus"], f["gpus"]) == (4, 8)),
        ("2 hives", lambda f: f["hives"] == 2),
    ]),
    "nccl-tests/01-old-allreduce-a100.log": ("nccl-tests", "measurement", [
        ("8xA100-40GB one process", lambda f: f["ranks"] == 8 and f["chip"] == "a100-40g"),
        ("zero-size rows first", lambda f: [r["size_bytes"] for r in f["rows"][:3]] == [0, 0, 4]),
        ("error column N/A", lambda f: last(f)["wrong"] is None),
        ("8589934592 2147483648 float sum", lambda f: (
            f["rows"][-1]["size_bytes"], f["rows"][-1]["count"], f["rows"][-1]["reduction"]
        ) == (8589934592, 2147483648, "sum")),
        ("63896 134.44 235.26", lambda f: near(last(f)["time_s"], 63896 * US)
         and near(last(f)["busbw_bytes_per_s"], 235.26 * GB)),
        ("63959 134.30", lambda f: near(last(f, "in_place")["algbw_bytes_per_s"], 134.30 * GB)),
    ]),
    "nccl-tests/04-old-broadcast-a100.log": ("nccl-tests", "measurement", [
        ("8xA100-40GB one process", lambda f: f["ranks"] == 8 and f["nodes"] == 1),
        ("8589934592 2147483648 float 0 36896 232.81 232.81",
         lambda f: f["collective"] == "broadcast" and f["rows"][-1]["root"] == 0
         and near(last(f)["time_s"], 36896 * US)
         and near(last(f)["busbw_bytes_per_s"], 232.81 * GB)),
        ("36599 234.70", lambda f: near(last(f, "in_place")["busbw_bytes_per_s"], 234.70 * GB)),
    ]),
    "nccl-tests/05-old-reduce-a100.log": ("nccl-tests", "measurement", [
        ("8xA100-40GB one process", lambda f: f["ranks"] == 8 and f["collective"] == "reduce"),
        ("float sum 0 37613 228.38 228.38",
         lambda f: f["rows"][-1]["reduction"] == "sum" and near(last(f)["time_s"], 37613 * US)
         and near(last(f)["busbw_bytes_per_s"], 228.38 * GB)),
        ("37539", lambda f: near(last(f, "in_place")["time_s"], 37539 * US)),
    ]),
    "nccl-tests/09-p5-eks-mpi-prefix.log": ("nccl-tests", "measurement", [
        ("Avg bus bandwidth 52.9753",
         lambda f: near(f["average_busbw_bytes_per_s"], 52.9753 * GB, 1e-6)),
        ("NOT the peak (437.79)", lambda f: near(last(f)["busbw_bytes_per_s"], 437.79 * GB)
         and f["peak_busbw_bytes_per_s"] >= 437.79 * GB),
        ('a "..." elision', lambda f: f["row_count"] == 7),
    ]),
    "nccl-tests/10-a100-edited-4col.log": ("nccl-tests", "measurement", [
        ("Sizes with underscores", lambda f: f["rows"][0]["size_bytes"] == 32768),
        ("only size/time/algbw/busbw", lambda f: f["rows"][0]["in_place"] is None),
        ("8 GPUs (from -g 8)", lambda f: f["ranks"] == 8),
        ("Peak 234.89", lambda f: near(f["peak_busbw_bytes_per_s"], 234.89 * GB)),
    ]),
    "nccl-tests/12-h100-1gpu-per-node-4nic-tree.log": ("nccl-tests", "measurement", [
        ("2 ranks", lambda f: (f["ranks"], f["nodes"]) == (2, 2)),
        ("algbw==busbw (factor 1)", lambda f: all(
            r["out_of_place"]["algbw_bytes_per_s"] == r["out_of_place"]["busbw_bytes_per_s"]
            for r in f["rows"])),
    ]),
    "nccl-tests/16-p4d-1-2-3-4-nodes-table.log": ("nccl-tests", "measurement", [
        ("Extra leading column = node count", lambda f: [r["extra"] for r in f["rows"]]
         == [[1], [2], [3], [4]]),
        ("n=8,16,24,32", lambda f: [r["ranks"] for r in f["rows"]] == [8, 16, 24, 32]),
        ("1 node 230.8 good", lambda f: near(
            f["rows"][0]["out_of_place"]["busbw_bytes_per_s"], 230.8 * GB)),
        ("2 nodes 57", lambda f: near(
            f["rows"][1]["out_of_place"]["busbw_bytes_per_s"], 57 * GB, 0.01)),
    ]),
    "nccl-tests/17-wrong-nonzero-failed.log": ("nccl-tests", "measurement", [
        ("#wrong in scientific notation", lambda f: all(
            near(r["out_of_place"]["wrong"], 2 * r["count"], 1e-4) for r in f["rows"])),
        ("wrong at every size", lambda f: len(f["wrong_rows"]) == len(f["rows"]) == 7),
        ("INVALID", lambda f: f["valid"] is False),
    ]),
    "nccl-tests/18-wrong-few-slingshot.log": ("nccl-tests", "measurement", [
        ("validation failed", lambda f: f["valid"] is False and f["out_of_bounds"] == 4),
        ("in one row, not shown here", lambda f: f["wrong_rows"] == []),
        ("times have 2 decimals even >1000", lambda f: near(
            f["rows"][4]["out_of_place"]["time_s"], 1587.57 * US, 1e-9)),
    ]),
    "nccl-tests/19-old-error-1e00-failed.log": ("nccl-tests", "measurement", [
        ("multiples of 12 ranks x 4 B", lambda f: f["ranks"] == 12
         and all(r["size_bytes"] % 48 == 0 for r in f["rows"])),
        ("count is PER RANK", lambda f:
         f["rows"][0]["count"] * 4 * 12 == f["rows"][0]["size_bytes"]),
        ("S/t = 78.12", lambda f: near(
            f["rows"][0]["out_of_place"]["algbw_recomputed_bytes_per_s"], 78.12 * GB)),
        ("old convention", lambda f: f["old_columns"] is True),
        ("Sizes >= 4 GiB report error", lambda f: f["wrong_rows"] == [4294967280, 8589934560]),
    ]),
    "nccl-tests/20-rccl-old-colon-header.log": ("nccl-tests", "measurement", [
        ('"nThread: 1" with colons', lambda f: "colons" in f["generation"]),
        ("device names with brackets",
         lambda f: f["devices"][0]["name"] == "Vega 10 XT [Radeon RX Vega 64]"),
        ("all_gather", lambda f: f["collective"] == "all_gather" and f["ranks"] == 4),
        ("2.835 GB/s", lambda f: near(
            f["rows"][0]["out_of_place"]["algbw_recomputed_bytes_per_s"], 2.835 * GB)),
        ("both columns already carry (n-1)/n", lambda f: near(f["old_share"], 0.75, 0.005)),
    ]),
    "nccl-tests/21-interleaved-rank-tags.log": ("nccl-tests", "measurement", [
        ("24 ranks", lambda f: f["ranks"] == 24),
        ("injected in the middle of lines", lambda f: f["row_count"] == 10),
        ("29.5 -> 5.3 GB/s", lambda f: near(
            f["rows"][5]["out_of_place"]["busbw_bytes_per_s"], 29.5 * GB)
         and near(f["rows"][6]["out_of_place"]["busbw_bytes_per_s"], 5.27 * GB)),
    ]),
    "nccl-tests/24-new-2.17-header-fragment.log": ("nccl-tests", "measurement", [
        ("New header (2.17+): version line", lambda f: f["version"] == "2.17.6"),
        ("bus ids [dddd:bb:dd]", lambda f: f["devices"][0]["bus"] == "0000:1d:00"),
        ("no data rows", lambda f: f["row_count"] == 0),
        ("2 nodes x 4", lambda f: (f["nodes"], f["ranks"]) == (2, 8)),
    ]),
    "nccl-tests/26-sendrecv-wrong-na.log": ("nccl-tests", "measurement", [
        ("in-place #wrong is N/A", lambda f: last(f, "in_place")["wrong"] is None),
        ("out-of-place is a number", lambda f: last(f)["wrong"] == 0),
    ]),
    "nccl-tests/28-bench-a100-4node-gbps.log": ("nccl-tests", "measurement", [
        ("32 ranks", lambda f: f["ranks"] == 32),
        ("busbw ~40.49 Gbps = 5.06 GB/s",
         lambda f: near(f["peak_busbw_bytes_per_s"], 40.49 * GB / 8, 2e-3)),
    ]),
    "nccl-debug/02-a100-32gpu-opa.log": ("nccl-debug", "log", [
        ("32 ranks on 4 nodes", lambda f: (f["ranks"], f["nodes"]) == (32, 4)),
        ("4 HFIs", lambda f: [d["name"] for d in f["ib_devices"]]
         == ["hfi1_1", "hfi1_0", "hfi1_2", "hfi1_3"]),
        ("no GDRDMA suffix on NET/IB", lambda f: f["gpu_direct_rdma"] is False
         and "NET/IB" in f["transports"]),
    ]),
    "nccl-debug/05-socket-fallback-k8s.log": ("nccl-debug", "log", [
        ("lo listed first", lambda f: f["socket_interfaces"] == ["lo", "eth0"]),
        ("no IB device in the pod", lambda f: f["ib_missing"] is True),
        ("NET/Socket", lambda f: f["network"] == "Socket"),
    ]),
    "nccl-debug/06-socket-fallback-no-libibverbs.log": ("nccl-debug", "log", [
        ("libibverbs missing", lambda f: "libibverbs" in f["warning_lines"][0]["text"]),
        ("TCP sockets", lambda f: f["network"] == "Socket"),
        ("very old (2.3)", lambda f: f["version"].startswith("2.3.")),
    ]),
    "nccl-debug/08-system-topology-print-rccl.log": ("nccl-debug", "log", [
        ("3 XGMI links x24", lambda f: f["graph"][0]["links"]["XGMI"] == 3
         and f["graph"][0]["widths"]["XGMI"] == 24 * GB),
        ("72 total", lambda f: f["graph"][0]["total_bytes_per_s"] == 72 * GB),
        ("maxWidth 12.5", lambda f: f["graph"][0]["max_bytes_per_s"] == 12.5 * GB),
    ]),
    "nccl-debug/09-path-table-4090.log": ("nccl-debug", "log", [
        ("dev (hops/bw/type)", lambda f: {"from": "GPU/CE000", "to": "GPU/0-4e000", "hops": 5,
                                          "bytes_per_s": 10 * GB, "type": "SYS"} in f["paths"]),
        ("cross-socket 10.0 GB/s", lambda f: {
            p["bytes_per_s"] for p in f["paths"] if p["type"] == "SYS"} == {10 * GB}),
    ]),
    "nccl-debug/11-efa-newstyle-nvls.log": ("nccl-debug", "log", [
        ("no host prefix", lambda f: f["hosts"] == [] and f["ranks"] == 8),
        ("Using network <plugin>", lambda f: f["network"] == "AWS Libfabric"),
        ("NVLS comm", lambda f: f["nvls_used"] is True),
    ]),
    "nccl-debug/12-old-2.4-tree-net.log": ("nccl-debug", "log", [
        ("tolerant parser must not fail", lambda f: f["ranks"] == 16),
        ("documentation-style log", lambda f: f["transports"] == {"NET/IB/GDRDMA": 2}),
    ]),
    "nccl-debug/13-watchdog-timeout.log": ("torch-watchdog", "log", [
        ("the reporting rank is a victim", lambda f: f["reporting_ranks"] == [118]),
        ("the one NOT at 2398459", lambda f: f["sequence"] == 2398459
         and f["last_completed"] == 2398458),
        ("30 min lost", lambda f: f["timeout_s"] == 1800),
    ]),
    "mpi-bench/01-imb-allreduce-n2.txt": ("imb", "measurement", [
        ("t_min/t_max/t_avg", lambda f: near(f["rows"][1]["time_min_s"], 0.72 * US)),
        ("0-byte row", lambda f: f["rows"][0]["size_bytes"] == 0),
        ("some rows 10-100x too slow", lambda f: {64, 128} <= set(f["noisy_sizes"])),
    ]),
    "mpi-bench/05-osu-full-ucc.txt": ("osu", "measurement", [
        ("16 MiB in 8630 us", lambda f: f["rows"][0]["size_bytes"] == 2**24
         and near(f["rows"][0]["time_s"], 8630 * US)),
        ("1.94 GB/s algbw", lambda f: near(f["rows"][0]["algbw_bytes_per_s"], 1.944 * GB)),
    ]),
    "mpi-bench/06-osu-cloud-spiky.txt": ("osu", "measurement", [
        ('v7.x prints "# Datatype"', lambda f: f["version"] == "7.5"
         and f["datatype"] == "MPI_INT"),
        ("non-monotonic (32 KiB 3214 us", lambda f: f["spikes"] == [32768]),
        ("64 KiB 160 us)", lambda f: near(
            next(r["time_s"] for r in f["rows"] if r["size_bytes"] == 65536), 160.17 * US)),
    ]),
    "kineto/07-triton-1kernel.json.gz": ("kineto", "trace", [
        ("kernels: 1", lambda f: f["kernels"] == 1),
        ("span_us: 1.8", lambda f: near(f["span_s"], 1.8 * US, 0.03)),
        ("comm_us: 0", lambda f: f["communication_s"] == 0),
    ]),
    "kineto/08-cpu-only-300rank-pgconfig.json.gz": ("kineto", "trace", [
        ("backend gloo, rank 34, world 300",
         lambda f: (f["backend"], f["rank"], f["world_size"]) == ("gloo", 34, 300)),
        ("10 process groups", lambda f: f["process_groups"] == 10),
        ("no kernels", lambda f: f["kernels"] == 0),
    ]),
}  # fmt: skip

MEASURED = {
    "kineto/01-dlrm-128rank-r0.json.gz":
        (1154, 1222818.0, 547303.0, 396199.0, 210320.0, 59216.0, 336983.0, 55.2),
    "kineto/02-dlrm-128rank-r1.json.gz":
        (1104, 1231182.0, 575496.0, 379053.0, 271973.0, 75530.0, 303523.0, 53.3),
}  # fmt: skip
"""Kernels, then span, busy, comm, compute, overlap, exposed_comm in us, idle in percent."""


def folder() -> Path:
    return shared_folder() / "cases"


def index() -> dict[str, dict[str, str]]:
    with (folder() / "INDEX.csv").open(encoding="utf-8") as lines:
        return {row["file"]: row for row in csv.DictReader(lines)}


@pytest.mark.parametrize("name", CASES)
def test_a_real_file(name: str) -> None:
    format_name, kind, checks = CASES[name]
    expected = index()[name]["expected"]
    found: Reading = read(str(folder() / name))
    assert (found.format, found.kind) == (format_name, kind)
    assert len(checks) >= 2
    for words, holds in checks:
        assert words in expected
        assert holds(found.fields), words


@pytest.mark.parametrize("name", MEASURED)
def test_a_real_trace(name: str) -> None:
    found = read(str(folder() / name)).fields
    expected = index()[name]["expected"]
    keys = ("span", "busy", "communication", "compute", "overlap", "exposed_communication")
    kernels, *times, idle = MEASURED[name]
    assert f"kernels: {kernels}" in expected
    assert f"exposed_comm_us: {times[-1]}" in expected
    assert found["kernels"] == kernels
    assert [found[f"{key}_s"] for key in keys] == pytest.approx([time * US for time in times])
    assert 100 * found["idle_fraction"] == pytest.approx(idle, abs=0.05)


@pytest.mark.parametrize(
    "group", ["topo", "nccl-xml", "nccl-tests", "nccl-debug", "kineto", "mpi-bench"]
)
def test_no_file_is_forgotten(group: str) -> None:
    present = {f"{group}/{path.name}" for path in (folder() / group).iterdir()}
    assert present <= {*CASES, *MEASURED}
