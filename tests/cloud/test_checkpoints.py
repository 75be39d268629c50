from __future__ import annotations

import pytest

from artery.catalog.systems import system
from artery.cloud.checkpoints import (
    DISK,
    OVERHEAD,
    State,
    host_bandwidth,
    network_bandwidth,
    tiers,
)
from artery.cloud.recovery import recovery, restart_time

H100 = system("dgx-h100:1024")
STATE = State(saved=14e12, loaded=7e12, chips=1024)


def test_bandwidths_are_the_systems_own() -> None:
    """PCIe Gen5 x16 is 63 GB/s (0.88 of it reached); one 400 Gb/s port per chip is 50 GB/s."""
    assert host_bandwidth(H100) == pytest.approx(63.015e9 * 0.88)
    assert network_bandwidth(H100) == pytest.approx(50e9)
    assert network_bandwidth(system("dgx-h100:8")) == host_bandwidth(H100)


def test_an_asynchronous_save_blocks_for_the_copy_alone() -> None:
    found = tiers(H100, STATE, store=100e9)
    copy = OVERHEAD + 14e12 / 1024 / host_bandwidth(H100)
    assert [tier.save for tier in found.values()] == pytest.approx([copy] * 3)
    assert found["shared"].persist == pytest.approx(copy + 140.0)
    assert found["shared"].unsafe == pytest.approx(140.0)
    assert found["local"].unsafe == pytest.approx(14e12 / 128 / DISK)
    assert found["memory"].unsafe == pytest.approx(14e12 / 1024 / 50e9)


def test_a_blocking_save_waits_until_it_is_written() -> None:
    found = tiers(H100, STATE, store=100e9, blocking=True)
    assert found["shared"].save == found["shared"].persist > 140.0
    assert found["shared"].unsafe == 0.0


def test_loading_reads_what_all_chips_hold() -> None:
    found = tiers(H100, STATE, store=100e9)
    copy = 7e12 / 1024 / host_bandwidth(H100)
    assert found["shared"].load == pytest.approx(copy + 70.0)
    assert found["memory"].load < found["local"].load < found["shared"].load


def test_recovery_grows_with_ranks_and_a_dead_process_needs_no_other_node() -> None:
    small, large = recovery(1024, 5.0), recovery(16384, 5.0)
    assert restart_time(large, "node") - restart_time(small, "node") == pytest.approx(
        (0.001 + 0.003) * 15360
    )
    assert restart_time(small, "node") - restart_time(small, "process") == pytest.approx(50.0)
    assert all(part.low <= part.value <= part.high and part.source for part in large)
