"""Which plans make sense: one table of rules, read for arrays and for people."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.catalog import model
from artery.core.plan import Plan
from artery.core.workload import Workload
from artery.step.legality import RULES, Rule, experts_of, legal, problems
from artery.step.plans import Plans
from tests.step import toys

GPT = toys.gpt(layers=8)
MOE = toys.mixture(experts=16)
LEGAL = Plan(tp=2, pp=2, dp=2, global_batch=16, sequence=1024)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"tp": 0}, "plan"),
        ({"micro_batch": -1}, "plan"),
        ({"global_batch": 15}, "global_batch"),
        ({"micro_batch": 16}, "global_batch"),
        ({"tp": 3}, "tp"),
        ({"tp": 32}, "tp"),
        ({"pp": 9, "global_batch": 18}, "pp"),
        ({"vpp": 8}, "pp"),
        ({"vpp": 2, "pp": 1}, "vpp"),
        ({"vpp": 2, "global_batch": 6}, "vpp"),
        ({"cp": 3}, "cp"),
        ({"tp": 1, "sequence_parallel": True}, "sequence_parallel"),
        ({"sequence": 1023, "sequence_parallel": True}, "sequence_parallel"),
        ({"ep": 2}, "ep"),
        ({"etp": 2}, "ep"),
        ({"dp_replicate": 2}, "dp_replicate"),
        ({"dp_replicate": 4, "zero": 3}, "dp_replicate"),
    ],
)
def test_each_rule_is_told(changes: dict[str, Any], field: str) -> None:
    plan = replace(LEGAL, **changes)
    found = problems(GPT, plan)
    assert field in [problem.field for problem in found]
    assert all(problem.found and problem.rule and problem.fix for problem in found)
    assert not legal(GPT, Plans.of([plan]))[0]


def test_a_legal_plan_has_no_problem() -> None:
    assert problems(GPT, LEGAL) == ()
    assert problems(GPT, replace(LEGAL, sequence_parallel=True, vpp=4)) == ()


def test_all_that_is_wrong_is_said_at_once() -> None:
    plan = replace(LEGAL, tp=3, vpp=2, pp=1, cp=5, ep=7, dp_replicate=2)
    fields = {problem.field for problem in problems(GPT, plan)}
    assert fields == {"tp", "vpp", "cp", "ep", "dp_replicate"}


def test_experts() -> None:
    assert (experts_of(GPT), experts_of(MOE)) == (0, 16)
    fits = Plan(tp=2, dp=8, ep=8, etp=2, global_batch=8, sequence=1024)
    assert problems(MOE, fits) == ()
    assert [p.field for p in problems(MOE, replace(fits, ep=16))] == ["ep"]
    assert [p.field for p in problems(MOE, replace(fits, ep=3, etp=1))] == ["ep", "ep"]


def test_key_value_heads_are_cut_or_repeated_but_never_split_unevenly() -> None:
    grouped = replace(GPT, heads=24, kv_heads=8)
    assert [tp for tp in range(1, 25) if not problems(grouped, replace(LEGAL, tp=tp))] == [
        1, 2, 4, 8, 24,
    ]  # fmt: skip


def test_images_have_neither_heads_nor_sequence() -> None:
    resnet = model("resnet50")
    plain = Plan(dp=8, global_batch=256)
    assert problems(resnet, plain) == ()
    wrong = replace(plain, tp=2, cp=2, sequence=4)
    assert {p.field for p in problems(resnet, wrong)} == {"tp", "cp", "seq"}


DEGREE = st.sampled_from([0, 1, 2, 3, 4, 8])


@given(
    workload=st.sampled_from([GPT, MOE]),
    degrees=st.fixed_dictionaries(
        dict.fromkeys(("tp", "pp", "vpp", "cp", "ep", "etp", "dp", "dp_replicate"), DEGREE)
    ),
    batch=st.sampled_from([1, 6, 8, 16, 64]),
    zero=st.integers(0, 3),
    parallel=st.booleans(),
)
def test_the_two_readings_agree(
    workload: Workload, degrees: dict[str, int], batch: int, zero: int, parallel: bool
) -> None:
    plain = Plan(global_batch=batch, zero=zero, sequence=1024, sequence_parallel=parallel)
    chosen: dict[str, Any] = {**degrees}
    plan = replace(plain, **chosen)
    assert bool(legal(workload, Plans.of([plan]))[0]) == (problems(workload, plan) == ())


def test_every_rule_can_be_broken() -> None:
    assert len(RULES) == 11
    assert {rule.field for rule in RULES} == {
        "plan", "global_batch", "tp", "pp", "vpp", "cp", "sequence_parallel", "ep",
        "dp_replicate", "seq",
    }  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.field)
@pytest.mark.parametrize("workload", [GPT, toys.mixture()], ids=["dense", "mixture"])
def test_a_rule_says_the_same_whatever_the_columns_that_it_does_not_read(
    rule: Rule, workload: Workload
) -> None:
    drawn = np.random.default_rng(1)
    names = [f.name for f in fields(Plans) if f.name != "shared"]
    columns = {name: drawn.integers(0, 9, 4000) for name in names}
    others = {name: drawn.integers(0, 9, 4000) for name in set(names) - rule.reads}
    assert rule.reads <= set(names)
    one = rule.holds(workload, Plans(**columns, shared=Plan()))
    two = rule.holds(workload, Plans(**(columns | others), shared=Plan()))
    assert np.array_equal(one, two)
