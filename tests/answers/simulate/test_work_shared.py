"""A Chakra trace that others made, played."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.answers.simulate.request import Request
from artery.answers.simulate.work import simulate_work


def test_an_all_to_all_of_eight_takes_at_least_its_bytes(shared: Path) -> None:
    file = shared / "cases" / "simfmt" / "11-chakra-alltoall-8npu-1mb.et"
    found = simulate_work(str(file), Request(collective="", on="dgx-h100:8"))
    assert (found.ranks, found.collectives, found.replicated) == (8, 1, True)
    # Seven eighths of 1 MiB over NVLink at 450 GB/s at most.
    assert found.seconds > 7 / 8 * 2**20 / 450e9
    assert found.seconds == pytest.approx(sum(one.seconds for one in found.critical))
