from __future__ import annotations

import pytest

from artery.cloud.failures import LLAMA_3, RSC_1


def test_rsc_1_projected_to_16384_gpus() -> None:
    """arXiv 2410.21680 projects 1.80 h between failures at 16,384 GPUs and 0.23 h at 131,072."""
    assert RSC_1.mean_time_between(16384 // 8) / 3600 == pytest.approx(1.80, abs=0.01)
    assert RSC_1.mean_time_between(131072 // 8) / 3600 == pytest.approx(0.23, abs=0.01)


def test_llama_3_was_interrupted_every_three_hours() -> None:
    """419 unexpected interruptions in 54 days: arXiv 2407.21783, section 3.3.4."""
    assert LLAMA_3.mean_time_between(16384 // 8) / 3600 == pytest.approx(54 * 24 / 419)
    assert LLAMA_3.per_1000_node_days == pytest.approx(3.79, abs=0.01)


def test_failures_grow_with_the_nodes() -> None:
    assert RSC_1.per_day(2000) == 2 * RSC_1.per_day(1000)
