"""The interval of a plan: wider where less is known, moved by a range of expert loads."""

from __future__ import annotations

import pytest

from artery.answers.plan import plan
from artery.answers.plan.result import PlanResult
from artery.errors import InputError, UsageError

GIVEN = {"tp": 1, "pp": 1, "cp": 1, "dp": 64, "ep": 8, "zero": 1, "micro_batch": 1, "seq": 4096,
         "global_batch": 512, "recompute": "full", "explained": False}  # fmt: skip


def mixture(**options: object) -> PlanResult:
    return plan("mixtral-8x7b", "dgx-h100:64", **{**GIVEN, **options}).plans[0]  # type: ignore[arg-type]


def width(result: PlanResult) -> float:
    return result.time.root.high / result.time.root.low


def test_a_mixture_of_experts_is_less_certain_than_a_dense_model() -> None:
    dense = plan("llama2-13b", "dgx-h100:64", explained=False).plans[0]
    assert width(mixture(load_factor=1.1)) > 1.5 * width(dense)


def test_a_range_of_loads_widens_the_interval_and_leaves_the_step() -> None:
    certain, ranged = mixture(load_factor=1.2), mixture(load_factor=(1.0, 1.2, 2.0))
    assert ranged.time.root.value == certain.time.root.value
    assert ranged.time.root.low < certain.time.root.low
    assert ranged.time.root.high > certain.time.root.high


def test_a_load_below_even_is_refused() -> None:
    with pytest.raises(InputError, match="load_factor"):
        mixture(load_factor=0.5)


def test_an_unknown_option_is_a_usage_error_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="micro_batch"):
        plan("llama2-7b", "dgx-h100:8", micro_bach=2)


def test_an_unmeasured_chip_and_an_uncalibrated_profile_widen() -> None:
    known = plan("llama2-7b", "dgx-h100:8", explained=False).plans[0]
    other = plan("llama2-7b", "dgx-h100:8", framework="maxtext", explained=False).plans[0]
    assert width(other) > width(known)
