"""OSU, IMB and ``ucx_perftest``."""

from __future__ import annotations

import pytest

from tests.formats.readings import fields, reading, warned


def test_osu_with_all_columns() -> None:
    found = reading("osu/full.txt")
    said = found.fields
    assert (said["test"], said["version"]) == ("allreduce", "7.1")
    last = said["rows"][-1]
    assert (last["time_s"], last["time_max_s"]) == pytest.approx((500e-6, 520e-6))
    assert last["iterations"] == 100
    assert last["algbw_bytes_per_s"] == pytest.approx(2**20 / 500e-6)
    assert said["spikes"] == [2048]
    assert warned(found, "not monotonic")
    assert [(one.line, one.count) for one in found.ignored] == [(1, 1)]


def test_osu_bandwidth() -> None:
    """MB/s of 10^6 bytes."""
    said = fields("osu/bandwidth.txt")
    assert (said["device"], said["datatype"]) == ("CUDA", "MPI_CHAR")
    assert said["rows"][-1]["bandwidth_bytes_per_s"] == pytest.approx(24e9)


def test_imb_has_blocks() -> None:
    found = reading("imb/two-blocks.txt")
    one, two = found.fields["blocks"]
    assert (one["benchmark"], one["ranks"], one["waiting"]) == ("PingPong", 2, 2)
    assert one["rows"][-1]["bandwidth_bytes_per_s"] == pytest.approx(10.48576e9)
    assert (two["benchmark"], two["ranks"]) == ("Allreduce", 4)
    assert two["rows"][0]["time_min_s"] == pytest.approx(2e-6)
    assert warned(found, "use t_min")


def test_the_client_of_ucx_perftest() -> None:
    """A real run over TCP (libucx 1.22) with -t tag_bw -s 65536, whose client prints no size."""
    said = fields("ucx-perftest/client.txt")
    assert (said["size_bytes"], said["size_from"]) == (65536, "bandwidth / messages")
    assert (said["test"], said["time_is"], said["iterations"]) == ("bandwidth", "overhead", 5000)
    assert said["bandwidth_bytes_per_s"] == 27.46 * 2**20


def test_ucx_perftest() -> None:
    """MB/s of 2^20 bytes: 23809.52 are 24.97 GB/s."""
    said = fields("ucx-perftest/put.txt")
    assert said["size_bytes"] == 2**20
    assert said["send_memory"] == "cuda"
    assert said["latency_s"] == pytest.approx(42e-6)
    assert said["bandwidth_bytes_per_s"] == pytest.approx(23809.52 * 2**20)
