"""Fused attention kernels."""

from __future__ import annotations

import pytest

from artery.catalog import chip
from artery.chip.attention import attention_time
from artery.errors import InputError

H100 = chip("h100-sxm")


def test_at_the_half_length_half_of_the_best_speed_is_reached() -> None:
    curve = H100.efficiency.attention["flash3"]
    forward, _ = attention_time(1e12, curve.half_length, chip=H100, kind="flash3", dtype="bf16")
    assert forward == pytest.approx(1e12 / (989.4e12 * curve.peak_fraction / 2))


def test_backward_does_two_and_a_half_times_the_work_at_three_quarters_of_the_speed() -> None:
    forward, backward = attention_time(1e12, 4096, chip=H100, kind="flash2", dtype="bf16")
    assert backward / forward == pytest.approx(2.5 / 0.75)


def test_each_generation_is_faster_on_hopper() -> None:
    times = [
        float(attention_time(1e12, 8192, chip=H100, kind=kind, dtype="bf16")[0])
        for kind in ("flash1", "flash2", "flash3")
    ]
    assert times == sorted(times, reverse=True)
    assert len(set(times)) == 3


@pytest.mark.parametrize(
    ("name", "kind"), [("a100-80g", "flash3"), ("v100", "flash2"), ("gtx580", "flash1")]
)
def test_a_kernel_that_the_chip_does_not_run_is_an_error(name: str, kind: str) -> None:
    with pytest.raises(InputError) as caught:
        attention_time(1.0, 1.0, chip=chip(name), kind=kind, dtype="fp16")
    problem = caught.value.problems[0]
    assert problem.field == "attention"
    assert "eager" in problem.fix
