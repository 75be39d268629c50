"""Real files of clusters, jobs and simulators: assertions stand for words of ``expected``."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from artery.errors import InputError
from artery.formats.recognise import read
from tests.conftest import shared_folder

Check = tuple[str, Callable[[Any], bool]]
"""Words of ``expected`` in the index, and what they mean for the fields of the reading."""


def tiers(fields: Any) -> list[int]:
    return [one["switches"] for one in fields["tiers"]]


def layer(fields: Any, index: int) -> Any:
    return fields["layers"][index]


CASES: dict[str, tuple[str, str, list[Check]]] = {
    "slurm/02-topology-forest-no-root.conf": ("slurm-topology", "system", [
        ("40 nodes", lambda f: f["hosts"] == 40),
        ("3 disconnected components", lambda f: len(f["islands"]) == 3),
        ("A 16, B 16, leafC 8", lambda f: f["islands"] == [16, 16, 8]),
    ]),
    "slurm/03-topology-two-roots.conf": ("slurm-topology", "system", [
        ("two trunks", lambda f: tiers(f)[-1] == 2),
        ("without a common root", lambda f: f["islands"] == [200, 200]),
    ]),
    "slurm/04-topology-block.conf": ("slurm-topology", "system", [
        ("8 blocks x 4 nodes", lambda f: (f["block_count"], f["nodes_per_block"]) == (8, [4])),
        ("BlockSizes=4,8,16,32,64", lambda f: f["block_sizes"] == [4, 8, 16, 32, 64]),
    ]),
    "slurm/08-sinfo-default.txt": ("slurm-sinfo", "state", [
        ("8 gpu nodes: 1 down*, 1 drain, 5 mix, 1 idle", lambda f: f["states_by_partition"]["gpu"]
         == {"down": 1, "drained": 1, "mixed": 5, "idle": 1}),
        ("* suffix on state = not responding", lambda f: "gpu08" in f["not_responding"]),
        ("* on partition = default", lambda f: f["default_partition"] == "gpu"),
    ]),
    "slurm/09-sinfo-N-l.txt": ("slurm-sinfo", "state", [
        ("MEMORY is TRUNCATED", lambda f: f["groups"][4]["memory_printed"] == "206300"),
        ("S:C:T 2:56:2", lambda f: f["groups"][4]["sockets_cores_threads"] == "2:56:2"),
        ("REASON truncated", lambda f: f["reasons"][0]["reason"] == "IB link flapping mlx"),
    ]),
    "slurm/10-sinfo-pipe.txt": ("slurm-sinfo", "state", [
        ("GRES gpu:h100:8", lambda f: (f["groups"][0]["gpus_per_node"], f["groups"][0]["gpu_type"])
         == (8, "h100")),
        ('"(null)" for none', lambda f: f["groups"][-1]["gpus_per_node"] == 0),
    ]),
    "slurm/13-sinfo-R.txt": ("slurm-sinfo", "state", [
        ("IB link flapping mlx", lambda f: f["reasons"][1]["reason"] == "IB link flapping mlx"),
        ("truncated at 20 chars", lambda f: len(f["reasons"][1]["reason"]) == 20),
    ]),
    "slurm/14-sinfo-inval.txt": ("slurm-sinfo", "state", [
        ("6 nodes", lambda f: f["states"]["inval"] == 6),
        ("inval", lambda f: "gpu06" in f["out"]),
    ]),
    "slurm/16-scontrol-node-alloc.txt": ("slurm-scontrol", "state", [
        ("CfgTRES", lambda f: f["nodes"][0]["configured"]["cpu"] == "224"),
        ("AllocTRES", lambda f: f["nodes"][0]["allocated"]["cpu"] == "8"),
        ("Gres=gpu:h100:8", lambda f: (f["nodes"][0]["gpus"], f["nodes"][0]["gpu_type"])
         == (8, "h100")),
        ("State=MIXED", lambda f: f["nodes"][0]["state"] == "MIXED"),
    ]),
    "slurm/18-scontrol-node-inval.txt": ("slurm-scontrol", "state", [
        ("UNKNOWN+DRAIN+INVALID_REG", lambda f: (f["nodes"][0]["state"], f["nodes"][0]["flags"])
         == ("UNKNOWN", ["DRAIN", "INVALID_REG"])),
        ("Reason text", lambda f: "(0 < 8)" in f["nodes"][0]["reason"]),
    ]),
    "ib/02-ibnetdiscover-hdr-s-w-v-e.txt": ("ibnetdiscover", "system", [
        ("director switch", lambda f: tiers(f) == [5, 2, 1]),
        ("4xHDR", lambda f: f["link_rates"] == [{"rate_bytes_per_s": 25e9, "cables": 17}]),
        ("multiple blank lines", lambda f: f["hosts"] == 10),
    ]),
    "ib/04-sim-ibnetdiscover.txt": ("ibnetdiscover", "system", [
        ("4 leafs x 4 hosts", lambda f: f["hosts"] == 16),
        ("2 spines", lambda f: tiers(f) == [4, 2]),
        ("4 down : 4 up per leaf", lambda f: f["tiers"][0]["cables_up"] == 16),
        ("SDR", lambda f: f["link_rates"][0]["rate_bytes_per_s"] == 1.25e9),
    ]),
    "ib/07-sim-iblinkinfo-line.txt": ("iblinkinfo", "system", [
        ("single-line form", lambda f: len(f["devices"]) == 16 + 6),
        ("with GUIDs", lambda f: f["ports_with_peer"] == 64),
    ]),
    "ib/08-sim-ibstat.txt": ("ibstat", "state", [
        ("State: Initializing", lambda f: f["ports"][0]["state"] == "Initializing"),
        ("Rate: 10", lambda f: f["ports"][0]["rate_bytes_per_s"] == 1.25e9),
    ]),
    "ib/09-iblinkinfo-edr-on-hdr-switch.txt": ("iblinkinfo", "system", [
        ("InfiniBand, not RoCE", lambda f: f["link_layer"] == "InfiniBand"),
        ("4X x 25.78125 = EDR", lambda f: f["speeds"]["4xEDR"] == 4),
        ("100 Gb/s", lambda f: f["links"][0]["rate_bytes_per_s"] == 12.5e9),
        ("SHARP node at 53.125 = HDR", lambda f: f["aggregation_nodes"][0]["speed"] == "HDR"),
    ]),
    "ib/10-ibstatus-one-port-down.txt": ("ibstat", "state", [
        ("One active HDR 200 Gb/s port", lambda f: (f["active_ports"], f["rate_bytes_per_s"])
         == (1, 25e9)),
        ("mlx5_1 down/disabled", lambda f: (f["ports"][1]["state"], f["ports"][1]["physical_state"])
         == ("DOWN", "Disabled")),
    ]),
    "ib/11-ibsim-net.net": ("ibnetdiscover", "system", [
        ("same grammar as ibnetdiscover", lambda f: (f["switches"], f["hosts"]) == (2, 2)),
        ("without GUIDs", lambda f: f["spines"][0]["name"] == "Switch2"),
    ]),
    "simfmt/01-astra-hgx-h100-8.yml": ("astra-sim", "system", [
        ("Switch 8 NPUs", lambda f: (f["dimensions"][0]["topology"], f["npus"]) == ("Switch", 8)),
        ("400 GB/s", lambda f: f["dimensions"][0]["bandwidth_bytes_per_s"] == 400e9),
        ("936.25 ns", lambda f: f["dimensions"][0]["latency_s"] == pytest.approx(936.25e-9)),
    ]),
    "simfmt/05-astra-h100-validated.yml": ("astra-sim", "system", [
        ("validated network file", lambda f: f["dimensions"][0]["bandwidth_bytes_per_s"] == 400e9),
        ("network", lambda f: f["part"] == "network"),
    ]),
    "simfmt/07-astra-system-ring.json": ("astra-sim", "system", [
        ("ring", lambda f: f["algorithms"]["all-reduce"] == ["ring"]),
        ("4 chunks", lambda f: f["chunks"] == 4),
    ]),
    "simfmt/09-astra-no-mem.json": ("astra-sim", "system", [
        ("NO_MEMORY_EXPANSION", lambda f: f["memory_type"] == "NO_MEMORY_EXPANSION"),
        ("memory-type", lambda f: f["part"] == "remote-memory"),
    ]),
    "simfmt/11-chakra-alltoall-8npu-1mb.et": ("chakra", "trace", [
        ("comm_type ALL_TO_ALL", lambda f: f["collective_counts"] == {"ALL_TO_ALL": 1}),
        ("1 MiB", lambda f: f["collectives"][0]["size_bytes"] == 2**20),
    ]),
    "simfmt/12-simai-micro-allreduce.txt": ("simai", "workload", [
        ("2 layers", lambda f: (f["layer_count"], f["layers_said"]) == (2, 2)),
        ("layers", lambda f: layer(f, 1)["forward"]["size_bytes"] == 64 * 2**20),
    ]),
    "simfmt/14-simai-ns3-conf.conf": ("simai", "system", [
        ("KEY value lines", lambda f: f["payload_bytes"] == 9000),
        ("PFC", lambda f: f["dynamic_pfc_threshold"] is True),
        ("DCQCN", lambda f: f["congestion_control"] == "DCQCN"),
    ]),
    "simfmt/15-aicb-gpt13b-tp8.txt": ("simai", "workload", [
        ("header gives count of layers", lambda f: f["layers_said"] == f["layer_count"] == 92),
        ("fwd time", lambda f: layer(f, 4)["forward"]["compute_s"] == pytest.approx(752e-6)),
        ("fwd comm", lambda f: layer(f, 4)["forward"]["collective"] == "ALLREDUCE"),
        ("update", lambda f: layer(f, 4)["update_s"] == pytest.approx(100e-9)),
    ]),
    "k8s/02-kueue-tas-cpu.yaml": ("k8s-topology", "system", [
        ("multi-document", lambda f: len(f["kinds"]) == 4),
        ("YAML", lambda f: f["levels"][-1] == "kubernetes.io/hostname"),
    ]),
    "k8s/04-nodes-h100-8x-topograph-labels.json": ("k8s-node", "state", [
        ("8 nodes", lambda f: f["node_count"] == 8),
        ("2 leafs x 4", lambda f: list(f["tiers"]["0"].values()) == [4, 4]),
        ("gpu-003 has allocatable 7 < capacity 8", lambda f: f["sick"] == ["gpu-003"]),
    ]),
    "k8s/06-node-mig-shared.json": ("k8s-node", "state", [
        ("MIG 1g.5gb", lambda f: f["nodes"][0]["mig_profile"] == "1g.5gb"),
        ("time-sliced x4", lambda f: (f["nodes"][0]["sharing"], f["nodes"][0]["replicas"])
         == ("time-slicing", 4)),
    ]),
    "k8s/07-volcano-hypernode-discovery.yaml": ("k8s-topology", "system", [
        ("sources ufm, roce, label", lambda f: [one["source"] for one in f["sources"]]
         == ["ufm", "roce", "label"]),
        ("hypercluster > hypernode > hostname", lambda f: f["types"]["topologyA3"]
         == ["volcano.sh/hypercluster", "volcano.sh/hypernode", "kubernetes.io/hostname"]),
    ]),
    "k8s/08-topograph-model-nvl72.yaml": ("k8s-topology", "system", [
        ("switches tree", lambda f: f["tree"]["core"] == ["spine-1", "spine-2"]),
        ("blocks", lambda f: f["block_count"] == 4),
        ("node[1101-1118]", lambda f: f["nodes_per_block"] == [18] and f["nodes"] == 72),
    ]),
    "torchrun/01-exc-gloo.log": ("torchrun", "log", [
        ("rank 1 RuntimeError (OOM text) is the root cause",
         lambda f: (f["root_cause_rank"], f["root_cause"]) == (1, "out of memory")),
        ("rank 0 gloo error/SIGTERM is a consequence", lambda f: f["consequences"] == [0]),
        ("exitcode 1", lambda f: f["exit_code"] == 1),
        ("local_rank 1", lambda f: f["first_observed_local_rank"] == 1),
    ]),
    "torchrun/03-hang-gloo.log": ("torchrun", "log", [
        ("rank 1 stalls", lambda f: f["silent_ranks"] == [1]),
        ("times out after 8000 ms", lambda f: f["timeout_s"] == 8),
        ("victim reports, culprit silent", lambda f: (f["root_cause"], f["waiting_ranks"])
         == ("hang", [0])),
    ]),
    "jobtrace/01-openb-nodes-head.csv": ("jobtrace-openb", "jobs", [
        ("sn,cpu_milli,memory_mib,gpu,model", lambda f: f["columns"]
         == ["sn", "cpu_milli", "memory_mib", "gpu", "model"]),
        ("model", lambda f: f["nodes"][0]["model"] == "P100" and f["node_count"] == 199),
    ]),
    "jobtrace/06-sacct-P-gpu.txt": ("slurm-sacct", "jobs", [
        ("count only the allocation row", lambda f: f["job_count"] == 1),
        (".batch/.extern", lambda f: f["steps"] == {"batch": 1, "extern": 1}),
        ("1 GPU x 33 s", lambda f: f["gpu_s"] == 33),
    ]),
    "jobtrace/07-sacct-P-failed-mpi.txt": ("slurm-sacct", "jobs", [
        ("leading zeros [01515,01517]", lambda f: f["jobs"][0]["hosts"]
         == ["node01515", "node01517"]),
        ("NNodes instead of AllocTRES", lambda f: (f["jobs"][0]["nodes"], f["jobs"][0]["gpus"])
         == (2, None)),
    ]),
    "jobtrace/08-sacct-p-trailing-pipe.txt": ("slurm-sacct", "jobs", [
        ("trailing pipe", lambda f: f["trailing_pipe"] is True),
        ("empty last column", lambda f: f["jobs"][0]["exit_code"] == 127),
    ]),
}  # fmt: skip

REFUSED = {"simfmt/03-astra-dgx-v100-tbd.yml": "must be a positive number"}
"""The index wants these rejected with a clear message."""

FOLDERS = ("slurm", "ib", "simfmt", "k8s", "torchrun", "jobtrace")


def index() -> dict[str, str]:
    """Return the words of ``expected`` by file."""
    with (shared_folder() / "cases" / "INDEX.csv").open(encoding="utf-8", newline="") as stream:
        return {row["file"]: row["expected"] for row in csv.DictReader(stream)}


def test_every_file_of_these_folders_is_in_the_table(shared: Path) -> None:
    files = {
        f"{folder}/{path.name}"
        for folder in FOLDERS
        for path in (shared / "cases" / folder).iterdir()
    }
    assert files == set(CASES) | set(REFUSED)


@pytest.mark.parametrize("name", CASES)
def test_a_real_file(name: str, shared: Path) -> None:
    format_name, kind, checks = CASES[name]
    found = read(str(shared / "cases" / name))
    assert (found.format, found.kind) == (format_name, kind)
    assert len(checks) >= 2
    expected = index()[name]
    for words, holds in checks:
        assert holds(found.fields), words
        assert words in expected, f"{words!r} is not said of {name}"


@pytest.mark.parametrize("name", REFUSED)
def test_a_real_file_that_is_refused(name: str, shared: Path) -> None:
    with pytest.raises(InputError, match=REFUSED[name]) as caught:
        read(str(shared / "cases" / name))
    assert "tbd" in index()[name]
    assert [one.line for one in caught.value.problems] == [11, 15]


def test_the_index_tells_of_a_trailing_word_that_this_copy_lacks(shared: Path) -> None:
    name = "simfmt/12-simai-micro-allreduce.txt"
    assert 'trailing ""test""' in index()[name] or 'trailing "test"' in index()[name]
    assert read(str(shared / "cases" / name)).fields["trailing"] == []
