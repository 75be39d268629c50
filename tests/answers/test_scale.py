from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.answers import scale as module
from artery.answers.plan.result import PlanAnswer
from artery.answers.scale import ScaleAnswer, ScalePoint, amdahl_speedup, scale
from artery.cloud.failures import RSC_1
from artery.core.term import Estimate
from artery.errors import InputError, Problem, UsageError
from tests import factories


def toy_plan(_: str, on: str, **options: Any) -> PlanAnswer:
    """A job of ``batch`` seconds on one chip, plus one second of communication on more.

    It fits from 8 chips on; below that the answer is a plan that does not. With fewer samples
    than chips there is no plan at all.
    """
    chips = int(on.rpartition(":")[2])
    batch = options.get("global_batch") or 1024
    if batch < chips:
        problem = Problem(field="global_batch", found=str(batch), rule="a sample per chip", fix="")
        raise InputError(problem)
    parts = {"compute": batch / chips, "dp": 0.0 if chips == 1 else 1.0}
    seconds = sum(parts.values())
    result = replace(
        factories.result("yes" if chips >= 8 else "no"),
        plan=replace(factories.plan(), global_batch=batch, tp=1, pp=1, vpp=1, dp=chips),
        time=Estimate(factories.tree("step", "s", parts, 1.0, 1.0), "closed form"),
        samples_per_s=batch / seconds,
    )
    answer = factories.answer(result)
    return replace(answer, system=factories.system(chips))


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "plan", toy_plan)
    monkeypatch.setattr(module, "_helped_by_bandwidth", lambda answer, best: 1.0)


def points(answer: ScaleAnswer, mode: str) -> dict[int, ScalePoint]:
    return {point.chips: point for point in answer.points if point.mode == mode}


def test_strong_scaling_keeps_the_batch_and_counts_from_the_smallest_that_fits() -> None:
    answer = scale("toy", "pod:3", [1, 8, 64])
    strong = points(answer, "strong")
    assert {point.global_batch for point in strong.values()} == {1024}
    assert answer.reference["strong"] == 8
    assert strong[8].speedup == 1.0
    assert strong[64].speedup == pytest.approx((1024 / 8 + 1) / (1024 / 64 + 1))
    assert strong[64].efficiency == pytest.approx(strong[64].speedup * 8 / 64)  # type: ignore[operator]


def test_a_count_that_does_not_fit_has_no_speed_up_and_is_broken_by_memory() -> None:
    small = points(scale("toy", "pod", [1, 8]), "strong")[1]
    assert (small.speedup, small.efficiency, small.breaks) == (None, None, "memory")
    assert small.result is not None


def test_weak_scaling_keeps_the_batch_per_chip_of_the_largest_count() -> None:
    answer = scale("toy", "pod", [8, 16, 64], global_batch=128)
    assert {n: p.global_batch for n, p in points(answer, "weak").items()} == {
        8: 16,
        16: 32,
        64: 128,
    }
    assert answer.batch_per_chip == 2.0


def test_weak_scaling_gives_the_smallest_count_that_fits_at_least_one_sample() -> None:
    """256 samples on 4,096 chips would be half a sample on the eight that the model needs."""
    answer = scale("toy", "pod", [8, 4096], global_batch=256)
    assert answer.batch_per_chip == 1 / 8
    assert points(answer, "weak")[8].global_batch == 1


def test_where_the_batch_is_too_small_the_reason_is_kept() -> None:
    lost = points(scale("toy", "pod", [8, 64], global_batch=32), "strong")[64]
    assert (lost.result, lost.reason, lost.breaks) == (None, "a sample per chip", "batch")


def test_what_holds_a_count_back() -> None:
    strong = points(scale("toy", "pod", [8, 512]), "strong")
    assert strong[8].breaks == "compute"  # 1 s of 129 s is communication
    assert strong[512].breaks == "link"  # 1 s of 3 s
    assert strong[512].exposed_comm_fraction == pytest.approx(1 / 3)


def test_latency_is_what_bandwidth_does_not_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_helped_by_bandwidth", lambda answer, best: 0.1)
    assert points(scale("toy", "pod", [512]), "strong")[512].breaks == "latency"


def test_failures_are_those_of_the_nodes() -> None:
    point = points(scale("toy", "pod", [8, 1024]), "strong")[1024]
    assert point.failures_per_day == pytest.approx(RSC_1.per_day(1024 // 8))


def test_a_fraction_adds_amdahl_against_one_chip() -> None:
    strong = points(scale("toy", "pod", [8, 1024], parallel_fraction=0.9), "strong")
    assert strong[8].amdahl_speedup == pytest.approx(4.71, abs=0.005)
    assert strong[1024].amdahl_speedup == pytest.approx(9.91, abs=0.005)


@pytest.mark.parametrize(
    ("chips", "fraction", "match"),
    [([], None, "from 1 up"), ([0, 8], None, "from 1 up"), ([8], 1.5, "from 0 to 1")],
)
def test_what_makes_no_sense_is_refused(
    chips: list[int], fraction: float | None, match: str
) -> None:
    with pytest.raises(UsageError, match=match):
        scale("toy", "pod", chips, parallel_fraction=fraction)


def test_what_is_wrong_at_every_count_is_raised() -> None:
    with pytest.raises(InputError, match="a sample per chip"):
        scale("toy", "pod", [64, 512], global_batch=2)


@given(st.floats(0, 1), st.integers(1, 10**6), st.integers(1, 10**6))
def test_amdahl_never_falls_and_never_passes_its_limit(p: float, n: int, m: int) -> None:
    low, high = sorted((n, m))
    assert amdahl_speedup(p, low) <= amdahl_speedup(p, high) * (1 + 1e-12)
    assert amdahl_speedup(p, n) * (1 + 1e-12) >= 1
    assert amdahl_speedup(p, n) <= n * (1 + 1e-12)
    if p < 1:
        assert amdahl_speedup(p, n) <= 1 / (1 - p) * (1 + 1e-9)
