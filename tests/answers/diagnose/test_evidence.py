"""What the files show outlives a price that misses, and what the facts exclude is not blamed."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.answers.diagnose import DiagnoseAnswer, diagnose
from tests.answers.diagnose.test_odd import causes, page
from tests.formats.readings import FIXTURES

FAR = str(FIXTURES / "nvidia-smi-topo" / "all-sys.txt")
NO_GDR = """\
n0:1:1 [0] NCCL INFO NCCL version 2.10.3+cuda11.3
n0:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB [3]mlx5_3:1/IB
n0:1:1 [0] NCCL INFO Using network IB
n0:1:9 [0] NCCL INFO Channel 00/0 : 31[0] -> 0[0] [receive] via NET/IB/0
n0:1:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0
"""
LOOPBACK = """\
pod-0:1:1 [0] NCCL INFO NET/Socket : Using [0]lo:127.0.0.1<0> [1]eth0:10.0.4.230<0>
pod-0:1:1 [0] NCCL INFO NET/IB : No device found.
NCCL version 2.4.2+cuda10.0
"""
NO_VERBS = """\
w:27:27 [0] misc/ibvwrap.cu:63 NCCL WARN Failed to open libibverbs.so[.1]
w:27:27 [0] NCCL INFO Using internal Network Socket
NCCL version 2.3.7+cuda9.0
w:27:27 [0] NCCL INFO rank 0 nranks 4
"""


def written(folder: Path, name: str, content: str) -> str:
    path = folder / name
    path.write_text(content)
    return str(path)


def facts(folder: Path, busbw: float, hardware: str, size: str = "8G") -> str:
    content = (
        f"hardware: {{{hardware}}}\nworkload: {{collective: all_reduce}}\n"
        f"measured: [{{size: {size}, busbw: {busbw} GB/s}}]\n"
    )
    return written(folder, "facts.yaml", content)


def best(found: DiagnoseAnswer) -> str:
    return found.diagnosis.findings[0].cause.key


@pytest.mark.parametrize("busbw", [1.0, 2.8, 5.06, 9.0, 14.0])
def test_a_log_without_gpudirect_outlives_any_price(tmp_path: Path, busbw: float) -> None:
    log = written(tmp_path, "run.log", NO_GDR)
    hardware = (
        "chip: a100-40g, gpus_per_node: 8, nodes: 4, nics_per_node: 4, nic_rate: 100 Gb/s, "
        "fabric: infiniband"
    )
    found = diagnose(log, facts(tmp_path, busbw, hardware), prove=False)
    assert found.facts["gpu_direct_rdma"] is False
    assert best(found) == "no_gpudirect"
    assert "No cause that is known" not in page(found)
    assert "gpu direct rdma = no" in page(found)
    assert ("its price misses" in page(found)) is (busbw == 1.0)


def test_cards_that_the_log_counts_are_held_against_those_of_the_named_system(
    tmp_path: Path,
) -> None:
    log = written(tmp_path, "run.log", NO_GDR)
    path = facts(tmp_path, 95.0, "nodes: 4, gpus_per_node: 8")
    found = diagnose(log, path, on="dgx-a100:32", prove=False)
    assert found.facts["cards_used_share"] == 0.5
    # Four of the eight cards carry half.
    assert best(found) == "half_the_cards"


@pytest.mark.parametrize("busbw", [8.0, 12.0, 20.0, 26.0, 35.0])
def test_pairs_that_are_far_are_nvlinks_that_are_down(tmp_path: Path, busbw: float) -> None:
    path = facts(tmp_path, busbw, "chip: h100-sxm, gpus_per_node: 8, nodes: 1")
    found = diagnose(FAR, path, prove=False)
    assert best(found) == "no_nvlink"
    assert found.diagnosis.findings[0].cause.next.startswith(
        "systemctl status nvidia-fabricmanager; nvidia-smi nvlink -s"
    )
    assert "No cause that is known" not in page(found)


def test_more_than_a_cause_leaves_refutes_it_whatever_was_seen(tmp_path: Path) -> None:
    path = facts(tmp_path, 300.0, "chip: h100-sxm, gpus_per_node: 8, nodes: 1")
    assert best(diagnose(FAR, path, prove=False)) != "no_nvlink"


def test_the_loopback_announced_to_others_is_a_hang(tmp_path: Path) -> None:
    found = diagnose(written(tmp_path, "run.log", LOOPBACK))
    assert found.diagnosis.verdict == "faulty"
    assert set(causes(found)) == {"sockets", "loopback"}
    assert "NCCL_SOCKET_IFNAME=eth0" in page(found)


def test_the_loopback_stops_nothing_inside_one_node(tmp_path: Path) -> None:
    path = written(tmp_path, "facts.yaml", "hardware: {nodes: 1}\nmeasured: []\n")
    found = diagnose(written(tmp_path, "run.log", LOOPBACK), path)
    assert found.diagnosis.verdict != "faulty"


def test_an_image_without_libibverbs_gets_it_installed(tmp_path: Path) -> None:
    found = diagnose(written(tmp_path, "run.log", NO_VERBS))
    assert best(found) == "no_verbs_library"
    assert "rdma-core" in found.diagnosis.findings[0].cause.next
    assert "memlock" not in page(found)


def test_infiniband_cards_of_little_rate_are_not_the_kernels_tcp(tmp_path: Path) -> None:
    hardware = (
        "chip: v100, gpus_per_node: 8, nodes: 2, nics_per_node: 1, nic_rate: 10 Gb/s, fabric: "
    )
    on_infiniband = diagnose(facts(tmp_path, 0.55, hardware + "infiniband"), prove=False)
    assert "kernel_tcp" not in causes(on_infiniband)
    on_ethernet = diagnose(facts(tmp_path, 0.55, hardware + "ethernet"), prove=False)
    assert best(on_ethernet) == "kernel_tcp"


def test_tcp_carries_no_more_than_sockets_do_however_fast_the_cards(tmp_path: Path) -> None:
    log = written(tmp_path, "run.log", LOOPBACK)
    found = diagnose(log, facts(tmp_path, 3.0, "nodes: 2"), on="dgx-h100:16", prove=False)
    priced = [
        one.explanation.predicted
        for one in found.diagnosis.findings
        if one.cause.key in {"kernel_tcp", "sockets"} and one.explanation.predicted
    ]
    assert priced
    assert max(priced) <= 25e9  # a tree over two nodes shows twice what a node gets out


def test_small_messages_explain_nothing_where_sizes_are_known(tmp_path: Path) -> None:
    path = facts(tmp_path, 2.15, "chip: mi300x, gpus_per_node: 8, nodes: 1", size="32M")
    assert "small_messages" not in causes(diagnose(path, prove=False))


def test_omni_path_cards_are_no_infiniband(tmp_path: Path) -> None:
    log = NO_GDR.replace("mlx5_", "hfi1_")
    assert diagnose(written(tmp_path, "run.log", log)).facts["fabric"] == "omni-path"


def test_a_long_line_of_evidence_is_cut_between_words(tmp_path: Path) -> None:
    words = "the fabric manager says Xid 74 " + "and spine02 lost many of its ports " * 10
    path = written(tmp_path, "facts.yaml", f"hardware: {{words: {words}}}\n")
    lines = [line for one in diagnose(path).diagnosis.findings for line in one.evidence]
    assert lines
    for line in lines:
        text = line.partition(": ")[2]
        assert len(text) <= 160
        assert text.endswith("...")
        assert words.startswith(text[:-3] + " ")
