"""The pipeline: pace, bubble and transfers, against a schedule played pass by pass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from artery.core.plan import Plan
from artery.core.profile import Profile
from artery.step import Evaluation, Ledger
from artery.step.micro import Ends, Micro
from artery.step.plans import Plans
from artery.step.schedule import slowest
from artery.step.stages import Stages
from tests.step import toys

BASE = Plan(pp=4, dp=2, global_batch=32, sequence=1024)
EQUAL = toys.without_ends(toys.gpt(layers=8))


def played(pp: int, n: int, forward: float, backward: float) -> float:
    """Seconds of one-forward-one-backward on ``pp`` equal stages, pass by pass."""
    order = [
        ["f"] * min(pp - s - 1, n) + ["f", "b"] * (n - min(pp - s - 1, n))
        + ["b"] * min(pp - s - 1, n)
        for s in range(pp)
    ]  # fmt: skip
    done: dict[tuple[str, int, int], float] = {}
    clock, place, count = [0.0] * pp, [0] * pp, [{"f": 0, "b": 0} for _ in range(pp)]
    while any(place[s] < len(order[s]) for s in range(pp)):
        for s in range(pp):
            if place[s] == len(order[s]):
                continue
            kind = order[s][place[s]]
            number = count[s][kind]
            source = s - 1 if kind == "f" else s + 1
            ready = 0.0
            if 0 <= source < pp:
                if (kind, source, number) not in done:
                    continue
                ready = done[kind, source, number]
            clock[s] = max(clock[s], ready) + (forward if kind == "f" else backward)
            done[kind, s, number] = clock[s]
            count[s][kind] += 1
            place[s] += 1
    return max(clock)


def work(evaluation: Evaluation, n: int) -> float:
    """Seconds of one micro-batch on a stage, without the once-per-step parts."""
    parts = evaluation.parts
    busy = float((parts["compute"] + parts["memory_bound"])[0])
    return busy / n


@pytest.mark.parametrize(("pp", "n"), [(2, 4), (4, 4), (4, 16), (8, 8)])
def test_bubble_of_one_forward_one_backward(pp: int, n: int) -> None:
    plan = replace(BASE, pp=pp, dp=1, global_batch=n, grad_dtype="bf16")
    profile = replace(toys.PROFILE, fused_accumulation=True)
    ledger = Ledger(keep=True)
    found = toys.run(EQUAL, plan, profile=profile, ledger=ledger)
    stage = work(found, n) - ledger.terms["accumulation"].value
    whole = played(pp, n, stage / 3, stage * 2 / 3)
    assert float(found.parts["bubble"][0]) == pytest.approx(whole - n * stage)


def test_interleaving_cuts_the_bubble_by_the_chunks() -> None:
    # SC21 (arXiv 2104.04473), section 2.2.2: (p - 1)/(v·m) of the ideal time.
    one, two = (toys.run(EQUAL, replace(BASE, vpp=vpp)).parts for vpp in (1, 2))
    assert two["bubble"] == pytest.approx(one["bubble"] / 2)
    assert two["compute"] == one["compute"]


def sends(vpp: int, n: int, hidden: float = 0.0) -> float:
    profile = replace(toys.PROFILE, overlap={"pp": hidden})
    plan = replace(BASE, vpp=vpp, global_batch=2 * n)
    return float(toys.run(EQUAL, plan, profile=profile).parts["pp"][0])


def test_transfers_of_chunks_and_micro_batches() -> None:
    hop = 1024 * 1024 * 2 / 1e9
    fill = 3 * 2 * hop
    assert sends(1, 16) == pytest.approx(16 * 2 * hop + fill)
    assert sends(2, 16) == pytest.approx(2 * 16 * 2 * hop + fill)
    assert sends(1, 16, hidden=1.0) == pytest.approx(fill)


def test_a_single_stage_has_no_bubble_and_sends_nothing() -> None:
    parts = toys.run(EQUAL, replace(BASE, pp=1)).parts
    assert parts["bubble"] == parts["pp"] == 0


def micro(seconds: float) -> Micro:
    zero, value = np.zeros(1), np.array([seconds])
    return Micro(value, zero, zero, zero, zero, zero, value / 3, value * 2 / 3)


@pytest.mark.parametrize(
    ("first", "last", "pp", "pace"),
    # Two layers of 1 s on each of four stages, plus what first and last stage do beside them.
    [(0.5, 3.0, 4, 5.0), (3.0, 0.5, 4, 5.0), (0.0, 0.0, 4, 2.0), (0.5, 3.0, 1, 11.5)],
)
def test_the_slowest_stage_sets_the_pace(first: float, last: float, pp: int, pace: float) -> None:
    plans = Plans.of([Plan(pp=pp, global_batch=8)])
    per_stage = np.array([8.0 / pp])
    held = Stages(per_stage, per_stage, per_stage)
    found = slowest(Ends(micro(1.0), micro(first), micro(last)), held, plans)
    assert found.parts.total == pytest.approx(pace)


def test_the_tied_embedding_is_reduced_between_the_ends() -> None:
    meter = toys.Meter()
    workload = toys.gpt()
    found = toys.run(workload, replace(BASE, tp=2, dp=1), pricer=meter)
    weights = 32000 * 1024 / 2 + 1024 * 1024  # vocabulary cut by tp, positions whole
    assert float(found.parts["other"][0]) == pytest.approx(2 * weights * 4 / 1e9)
    untied = replace(workload, tied=False)
    assert toys.run(untied, BASE).parts["other"] == 0


def slow(straggler: float) -> Profile:
    return replace(toys.PROFILE, straggler=straggler)


def test_waiting_for_the_slowest_grows_per_doubling_of_nodes() -> None:
    plan = Plan(dp=64, global_batch=64, sequence=1024, zero=1)
    found = toys.run(EQUAL, plan, profile=slow(0.01))
    rest = float(found.step[0] - found.parts["straggler"][0])
    assert float(found.parts["straggler"][0]) == pytest.approx(0.01 * 3 * rest)  # eight nodes
    few = toys.run(EQUAL, replace(plan, dp=8), profile=slow(0.01))
    assert few.parts["straggler"] == 0
