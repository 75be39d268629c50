"""The search: the same best plans as looking at every one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from artery.core.plan import Plan
from artery.core.system import System
from artery.core.workload import Workload
from artery.planner import search as module
from artery.planner.rank import PENALTIES, penalties, reasons
from artery.planner.search import Found, search
from artery.planner.space import Space, enumerate_plans
from artery.step import Evaluation, Plans, evaluate
from artery.step.evaluate import least, needed
from tests.step import toys

GPT = toys.gpt(layers=8)
SPACE = Space(16, {"global_batch": 64}, Plan(sequence=1024))
FEW = replace(SPACE, fixed={"global_batch": 64, "cp": 1, "micro_batch": 1, "dp_replicate": 1})


def small(capacity: float) -> System:
    system = toys.system(16)
    memory = replace(system.chip.memory, capacity=capacity)
    return replace(system, chip=replace(system.chip, memories=(memory,)))


def run(system: System, top: int = 1, space: Space = SPACE, workload: Workload = GPT) -> Found:
    return search(workload, system, space, profile=toys.PROFILE, pricer=toys.Meter(1e11), top=top)


def one_at_a_time(system: System) -> list[tuple[int, float, float, Plan]]:
    """(excess, penalised seconds, bytes, plan) of every plan, priced alone.

    Excess is 0 within the capacity, 1 up to 8 % above it, 2 beyond.
    """
    plans = enumerate_plans(GPT, system, FEW)
    rows = []
    for index in range(len(plans)):
        plan = plans.row(index)
        priced = evaluate(GPT, system, [plan], profile=toys.PROFILE, pricer=toys.Meter(1e11))
        total = float(priced.memory.total[0])
        seconds = float(priced.step[0] * penalties(priced, system)[0])
        filled = total / system.chip.memory.capacity
        rows.append((int(filled > 1) + int(filled > 1.08), seconds, total, plan))
    return rows


@pytest.mark.parametrize("capacity", [80e9, 1.2e9])
def test_the_best_are_those_of_a_loop_over_all(capacity: float) -> None:
    system = small(capacity)
    rows = one_at_a_time(system)
    fitting = sorted((row for row in rows if row[0] < 2), key=lambda row: row[:2])
    assert len(fitting) > 0
    found = run(system, top=5, space=FEW)
    assert found.searched == len(rows)
    assert found.fitting == len(fitting)
    best = [row[1] for row in fitting[:5]]
    seconds = {row[3]: row[1] for row in rows}
    assert [seconds[plan] for plan in found.plans] == pytest.approx(best, rel=1e-12)


def test_when_nothing_fits_the_least_memory_is_shown() -> None:
    system = small(1e8)
    rows = one_at_a_time(system)
    found = run(system, top=3, space=FEW)
    assert found.fitting == 0
    least = sorted(row[2] for row in rows)[:3]
    needed = {row[3]: row[2] for row in rows}
    assert [needed[plan] for plan in found.plans] == pytest.approx(least, rel=1e-12)


def test_a_plan_that_does_not_fit_is_never_shown_beside_one_that_does() -> None:
    found = run(small(1.2e9), top=1000)
    assert 0 < found.fitting == len(found.plans) < found.searched


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(small(2e9), top=7)
    monkeypatch.setattr(module, "CHUNK", 37)
    seen: list[tuple[int, int]] = []
    pieces = search(
        GPT, small(2e9), SPACE, profile=toys.PROFILE, pricer=toys.Meter(1e11), top=7,
        progress=lambda done, of: seen.append((done, of)),
    )  # fmt: skip
    assert pieces == whole
    assert [done for done, _ in seen] == [
        min(done, whole.searched) for done in range(37, whole.searched + 37, 37)
    ]
    assert {of for _, of in seen} == {whole.searched}


def test_an_empty_space_finds_nothing() -> None:
    none = Space(16, {"global_batch": 64, "tp": 3}, Plan(sequence=1024))
    assert run(toys.system(16), space=none) == Found((), 0, 0)


def test_a_whole_plan_is_a_space_of_one() -> None:
    fixed = {"tp": 2, "pp": 2, "cp": 1, "dp": 4, "vpp": 1, "zero": 1, "micro_batch": 2}
    fixed |= {"dp_replicate": 1, "recompute": 0, "sequence_parallel": 0, "global_batch": 64}
    found = run(toys.system(16), space=replace(SPACE, fixed=fixed), top=9)
    assert found.searched == 1
    plan = Plan(tp=2, pp=2, dp=4, zero=1, micro_batch=2, global_batch=64, sequence=1024)
    assert found.plans == (plan,)


@pytest.mark.parametrize(
    ("plan", "word"),
    [
        (Plan(dp=1024, zero=3, global_batch=1024), "512"),
        (Plan(pp=2, dp=2, zero=3, global_batch=4), "FSDP together"),
        (Plan(tp=16, global_batch=1), "scale-up"),
        (Plan(cp=2, global_batch=1), "context"),
        (Plan(pp=2, vpp=8, global_batch=4), "chunks"),
    ],
)  # fmt: skip
def test_penalties_say_what_they_are_for(plan: Plan, word: str) -> None:
    workload = toys.gpt(layers=16)
    whole = replace(plan, sequence=1024)
    system = toys.system(max(plan.chips, 8))
    priced = evaluate(workload, system, [whole], profile=toys.PROFILE, pricer=toys.Meter())
    said = reasons(priced, system, 0)
    assert len(said) == 1
    assert word in said[0]
    factor = next(p.factor for p in PENALTIES if p.reason == said[0])
    assert penalties(priced, system) == factor > 1


def test_a_plain_plan_has_no_penalty() -> None:
    system = toys.system(16)
    plan = Plan(tp=8, dp=2, zero=1, global_batch=2, sequence=1024)
    priced = evaluate(GPT, system, [plan], profile=toys.PROFILE, pricer=toys.Meter())
    assert penalties(priced, system) == 1
    assert reasons(priced, system, 0) == ()


def test_at_the_limit_is_behind_what_surely_fits() -> None:
    plan = Plan(tp=8, dp=2, zero=1, global_batch=2, sequence=1024)
    system = toys.system(16)
    priced = evaluate(GPT, system, [plan], profile=toys.PROFILE, pricer=toys.Meter())
    tight = small(float(priced.memory.total[0]))
    again = evaluate(GPT, tight, [plan], profile=toys.PROFILE, pricer=toys.Meter())
    assert penalties(again, tight) > 1
    assert "limit" in reasons(again, tight, 0)[0]


def test_a_plan_just_above_the_capacity_is_at_the_limit_and_comes_last() -> None:
    plans = sorted(one_at_a_time(toys.system(16)), key=lambda row: row[2])
    system = small(plans[0][2] / 1.04)  # the smallest plan is 4 % too large
    close = [row for row in plans if row[2] / system.chip.memory.capacity <= 1.08]
    found = run(system, top=1000, space=FEW)
    assert found.fitting == len(close) == len(found.plans)
    roomy = small(plans[0][2] * 1.001)
    found = run(roomy, top=1000, space=FEW)
    within = [row[3] for row in plans if row[2] <= roomy.chip.memory.capacity]
    assert set(found.plans[: len(within)]) == set(within)
    assert len(found.plans) == found.fitting > len(within)


def priced_in_full(workload: Workload, system: System, space: Space, top: int) -> tuple[Plan, ...]:
    """The best plans by pricing every one at once."""
    plans = enumerate_plans(workload, system, space)
    priced = evaluate(workload, system, plans, profile=toys.PROFILE, pricer=toys.Meter(1e11))
    over = priced.memory.total > system.chip.memory.capacity
    excess = np.where(priced.fits == 0, 2, over.astype(int))
    keys = np.where(excess < 2, priced.step * penalties(priced, system), priced.memory.total)
    order = np.lexsort((keys, excess))
    if excess[order[0]] < 2:
        order = order[excess[order] < 2]
    return tuple(plans.row(int(i)) for i in order[:top])


@pytest.mark.parametrize("capacity", [80e9, 2e9, 6e8, 1e8])
@pytest.mark.parametrize("workload", [GPT, toys.mixture()], ids=["dense", "mixture"])
@pytest.mark.parametrize("top", [1, 9, 3000])
def test_leaving_out_what_cannot_win_changes_nothing(
    workload: Workload, capacity: float, top: int
) -> None:
    system = small(capacity)
    found = run(system, top=top, workload=workload)
    assert found.plans == priced_in_full(workload, system, SPACE, top)


def test_most_plans_are_never_priced(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[int] = []

    def counted(workload: Workload, system: System, plans: Plans, **rest: Any) -> Evaluation:
        rows.append(len(plans))
        return evaluate(workload, system, plans, **rest)

    monkeypatch.setattr(module, "evaluate", counted)
    monkeypatch.setattr(module, "FIRST", 64)
    found = run(toys.system(16), workload=toys.mixture())
    assert 0 < sum(rows) < found.searched / 2


@pytest.mark.parametrize("workload", [GPT, toys.mixture()], ids=["dense", "mixture"])
def test_no_step_is_shorter_than_its_lower_bound(workload: Workload) -> None:
    system = toys.system(16)
    plans = enumerate_plans(workload, system, SPACE)
    profile = replace(toys.PROFILE, straggler=0.01, host=1e-4)
    about: dict[str, Any] = {"profile": profile, "pricer": toys.Meter(1e11)}
    priced = evaluate(workload, system, plans, **about)
    bound = least(workload, system, plans, **about)
    assert np.all(bound <= priced.step * (1 + 1e-12))
    assert np.array_equal(needed(workload, system, plans, **about).total, priced.memory.total)
    assert all(penalty.factor >= 1 for penalty in PENALTIES)
