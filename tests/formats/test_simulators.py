"""Chakra, ASTRA-sim and SimAI."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.errors import InputError
from artery.formats.recognise import read, recognise
from artery.formats.syntax.protobuf import BrokenMessageError, fields, varint
from artery.formats.text import Text
from tests.formats.chakra_traces import number, tagged
from tests.formats.readings import fields as fields_of
from tests.formats.readings import reading, warned


def attribute(name: bytes, value: int) -> bytes:
    return tagged(10, tagged(1, name) + tagged(9, value))


def trace(*nodes: bytes) -> bytes:
    """A stream of messages: the version, then nodes."""
    return b"".join(number(len(one)) + one for one in (tagged(1, b"0.0.4"), *nodes))


COMPUTE = tagged(1, 1) + tagged(2, b"gemm") + tagged(3, 4) + tagged(7, 1500)
GATHER = (
    tagged(1, 2) + tagged(2, b"gather") + tagged(3, 7) + tagged(5, 1)
    + attribute(b"comm_type", 2) + attribute(b"comm_size", 300_000)
)  # fmt: skip


def test_a_trace(tmp_path: Path) -> None:
    file = tmp_path / "t.0.et"
    file.write_bytes(trace(COMPUTE, COMPUTE, GATHER))
    found = read(str(file))
    said = found.fields
    assert (found.format, found.kind, said["version"]) == ("chakra", "trace", "0.0.4")
    assert said["node_types"] == {"compute": 2, "collective": 1}
    assert said["collective_bytes"] == {"ALL_GATHER": 300_000}
    assert said["compute_s"] == 3e-3


def test_a_trace_that_breaks_off(tmp_path: Path) -> None:
    file = tmp_path / "t.0.et"
    file.write_bytes(trace(COMPUTE, GATHER)[:-3])
    found = read(str(file))
    assert found.fields["nodes"] == 1
    assert warned(found, "read up to a fault: the last message is cut off")
    file.write_bytes(trace())
    with pytest.raises(InputError, match="no node"):
        read(str(file))


def test_a_trace_that_was_filled_up_with_zeros(tmp_path: Path) -> None:
    file = tmp_path / "t.0.et"
    file.write_bytes(trace(COMPUTE) + bytes(9))
    found = read(str(file), "chakra")
    assert found.fields["nodes"] == 1
    assert warned(found, "filled up with zeros")


def test_the_wire_format() -> None:
    assert varint(b"\xac\x02", 0) == (300, 2)
    assert list(fields(b"\x08\x96\x01\x12\x02hi")) == [(1, 150), (2, b"hi")]
    for broken in (b"\x80", b"\x0b", b"\x12\x05hi", b"\xff" * 11):
        with pytest.raises(BrokenMessageError):
            list(fields(broken))


def test_a_network_of_two_dimensions() -> None:
    found = reading("astra-sim/network.yml")
    assert found.fields["npus"] == 32
    assert found.fields["dimensions"][1] == {
        "topology": "Switch", "npus": 8, "bandwidth_bytes_per_s": 50e9, "latency_s": 1e-6,
    }  # fmt: skip
    assert warned(found, "a switch's latency twice")


def test_values_to_be_determined_are_refused_with_their_lines() -> None:
    text = Text("n.yml", "topology: [Ring]\nnpus_count: [4]\nbandwidth: [tbd]\nlatency: [tbd]\n")
    with pytest.raises(InputError) as caught:
        recognise(text)[0].read(text)
    places = [(one.line, one.field, one.found) for one in caught.value.problems]
    assert places == [(3, "bandwidth", '"tbd"'), (4, "latency", '"tbd"')]


def test_a_network_with_a_value_short() -> None:
    text = Text(
        "n.yml", "topology: [Ring, Tree]\nnpus_count: [4]\nbandwidth: [1, 2]\nlatency: [1, 2]"
    )
    with pytest.raises(InputError, match="one value for each of the 2 dimensions") as caught:
        recognise(text)[0].read(text)
    assert '"Tree"' in str(caught.value)


def test_a_system_and_a_memory() -> None:
    said = fields_of("astra-sim/system.json")
    assert said["algorithms"] == {"all-reduce": ["halvingDoubling"], "all-to-all": ["direct"]}
    assert (said["chunks"], said["peak_flop_per_s"]) == (8, 989e12)
    assert fields_of("astra-sim/memory.json")["memory_type"] == "PER_NPU_MEMORY_EXPANSION"


def test_a_workload_of_layers() -> None:
    found = reading("simai/workload.txt")
    said = found.fields
    assert (said["tp"], said["pp"], said["micro_batches"], said["gpus"]) == (4, 2, 3, 8)
    assert (said["layers_said"], said["layer_count"]) == (3, 2)
    assert said["collective_bytes"] == {"ALLREDUCE": 6144, "ALLGATHER": 1024}
    assert said["compute_s"] == pytest.approx(6000e-9)
    assert said["trailing"] == ["trailing"]
    assert warned(found, "says 3 layers and has 2")


def test_a_network_configuration() -> None:
    found = reading("simai/network.conf")
    assert found.kind == "system"
    assert found.fields["congestion_control"] == "HPCC"
    assert found.fields["ecn"]["kmax"][1] == {"rate_bytes_per_s": 50e9, "value": 3200}
