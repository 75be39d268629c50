"""NCCL's logs, PyTorch's watchdog and Flight Recorder."""

from __future__ import annotations

from tests.formats.readings import reading, warned


def test_two_nodes_over_infiniband() -> None:
    found = reading("nccl-debug/two-nodes.log")
    said = found.fields
    assert (said["version"], said["ranks"], said["nodes"]) == ("2.19.3+cuda12.3", 4, 2)
    assert said["hosts"] == ["node01", "node02"]
    assert said["transports"] == {"P2P/CUMEM": 2, "NET/IB/GDRDMA": 2}
    assert said["gpu_direct_rdma"] is True
    assert [one["kind"] for one in said["ib_devices"]] == ["IB", "RoCE"]
    assert said["rings"] == {"0": [0, 1, 2, 3]}
    assert said["trees"][0] == {"channel": 0, "rank": 0, "children": [1], "parent": None}
    assert said["channels"]["p2p"] == 2
    assert said["environment"] == {"NCCL_IB_HCA": "mlx5_0,mlx5_1"}
    assert said["initialised"] == 4
    assert [(one.line, one.count) for one in found.ignored] == [(6, 1)]


def test_sockets_because_nothing_better_was_found() -> None:
    found = reading("nccl-debug/sockets.log")
    said = found.fields
    assert said["network"] == "Socket"
    assert said["socket_interfaces"] == ["lo", "eth0"]
    assert said["ib_missing"] is True
    assert said["environment"] == {"NCCL_P2P_DISABLE": "1"}
    for words in ("TCP sockets", "lo comes first", "libibverbs", "NCCL_P2P_DISABLE"):
        assert warned(found, words)


def test_the_machine_as_nccl_sees_it() -> None:
    said = reading("nccl-debug/graph.log").fields
    assert said["graph"][0]["max_bytes_per_s"] == 48e9
    assert said["graph"][0]["links"] == {"PCI": 2, "NVL": 1}
    assert said["graph"][0]["widths"]["NVL"] == 240e9
    assert said["paths"][1] == {
        "from": "GPU/1000", "to": "GPU/3000", "hops": 4, "bytes_per_s": 10e9, "type": "SYS",
    }  # fmt: skip


def test_the_rank_that_is_behind() -> None:
    """Ranks 1 and 2 completed number 41, rank 0 only 40."""
    found = reading("torch-watchdog/three-ranks.log")
    said = found.fields
    assert said["operations"] == ["ALLREDUCE"]
    assert said["sequence"] == 42
    assert (said["timeout_s"], said["waited_s"]) == (600.0, 600.012)
    assert said["behind"] == [0]
    assert warned(found, "victim")


def test_a_flight_recorder_of_one_rank() -> None:
    found = reading("flight-recorder/one-rank.json")
    assert found.fields["states"] == {"completed": 1, "started": 1}
    assert found.fields["last_completed"] == 7
    assert found.fields["dumps"][0]["open"][0]["operation"] == "nccl:all_gather"
    assert warned(found, "one rank alone")
