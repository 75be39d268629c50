from __future__ import annotations

from typing import Any

import pytest

import artery
from artery.answers.goodput.result import Fix, GoodputAnswer
from artery.cloud.failures import RSC_1, RSC_1_JOBS, RSC_2
from artery.cloud.intervals import best_complete, daly, young
from artery.errors import InputError, UsageError

PLAN: dict[str, Any] = {"tp": 1, "pp": 1, "cp": 1, "dp": 64, "micro_batch": 4}
GIVEN: dict[str, Any] = {
    "node_failures_per_1000_days": 1000.0,
    "save_time": 30.0,
    "restart_time": 600.0,
    "blocking_save": True,
}


def ask(on: str = "dgx-h100:64", **options: Any) -> GoodputAnswer:
    plan = PLAN if on == "dgx-h100:64" else {}
    return artery.goodput("gpt2", on, **{**plan, **options})


@pytest.fixture(scope="module")
def plain() -> GoodputAnswer:
    return ask()


@pytest.fixture(scope="module")
def given() -> GoodputAnswer:
    return ask(**GIVEN)


def fix(answer: GoodputAnswer, name: str) -> Fix:
    (one,) = [each for each in answer.levers if each.name == name]
    return one


def test_published_rates_give_the_range(plain: GoodputAnswer) -> None:
    """A leaf switch or two add less than a hundredth to eight nodes' failures."""
    assert plain.mtbf.value == pytest.approx(RSC_1.mean_time_between(8), rel=0.01)
    assert plain.mtbf.low == pytest.approx(RSC_1_JOBS.mean_time_between(8), rel=0.01)
    assert plain.mtbf.high == pytest.approx(RSC_2.mean_time_between(8), rel=0.01)
    assert plain.ettr.low < plain.ettr.value < plain.ettr.high < 1.0
    assert any("published rates go from 2.3 to 22.3" in said for said in plain.warnings)


def test_what_is_given_is_used_and_has_no_range(given: GoodputAnswer) -> None:
    mtbf = given.mtbf.value
    assert mtbf == pytest.approx(86400 / 8, rel=1e-3)
    assert given.mtbf.low == pytest.approx(given.mtbf.high, rel=1e-3)
    assert given.intervals.young == pytest.approx(young(30.0, mtbf))
    assert given.intervals.daly == pytest.approx(daly(30.0, mtbf))
    tau, share = best_complete(30.0, mtbf, 600.0)
    assert given.intervals.best == pytest.approx(tau, rel=1e-3)
    silent = given.failures.rate(("silent",)) * 3600.0
    assert given.ettr.value == pytest.approx(share / (1 + silent), rel=1e-6)
    assert not any("published rates" in said for said in given.warnings)


def test_silent_errors_cost_the_time_until_they_are_noticed(given: GoodputAnswer) -> None:
    """Six of 419 interruptions are silent (arXiv 2407.21783, table 5), each a while of work."""
    rate = 8 * 1000.0 / 1000 / 86400 * 6 / 419
    late = ask(**GIVEN, interval=given.intervals.best, notice_time=36_000.0)
    never = ask(**GIVEN, interval=given.intervals.best, notice_time=0.0)
    assert never.ettr.value / given.ettr.value == pytest.approx(1 + rate * 3600, rel=1e-6)
    assert never.ettr.value / late.ettr.value == pytest.approx(1 + rate * 36_000, rel=1e-6)


def test_a_checkpoint_is_the_plans_own_bytes(plain: GoodputAnswer) -> None:
    """Adam in mixed precision: 2 + 12 bytes per weight (ZeRO, arXiv 1910.02054, section 3.1)."""
    assert plain.state.saved == 14 * plain.plan.workload.parameters
    held = {term.name: term.value for term in plain.plan.plans[0].memory.root.children}
    assert plain.state.loaded == pytest.approx(64 * (held["weights"] + held["optimizer"]))


@pytest.mark.parametrize(
    ("name", "halved"),
    [
        ("failures", {"node_failures_per_1000_days": 500.0}),
        ("restart", {"restart_time": 300.0}),
        ("save", {"save_time": 15.0}),
    ],
)
def test_a_lever_is_what_asking_again_gives(
    given: GoodputAnswer, name: str, halved: dict[str, float]
) -> None:
    again = ask(**{**GIVEN, **halved})
    assert fix(given, name).ettr == pytest.approx(again.ettr.value, rel=1e-3)


def test_levers_come_largest_first_and_cost_what_their_hours_cost(given: GoodputAnswer) -> None:
    gains = [each.gain for each in given.levers]
    assert gains == sorted(gains, reverse=True)
    price = given.plan.system.chip_hour_price
    assert price is not None
    for each in given.levers:
        assert each.cost == pytest.approx(each.chip_hours * price)
        month = 30 * 24 * 64
        assert each.chip_hours == pytest.approx(month * (1 - given.ettr.value / each.ettr))


def test_a_peers_memory_is_a_lever_until_it_is_used(given: GoodputAnswer) -> None:
    used = ask(**{**GIVEN, "save_time": None, "checkpoint": ("memory", "shared")})
    assert fix(given, "memory_tier").gain > 0.0
    assert "memory_tier" not in {each.name for each in used.levers}
    assert [tier for choice in used.choices for tier in choice.tiers].count("memory") == 2
    assert len(used.shares.intervals) == 2


def test_a_bad_interval_is_the_first_thing_to_mend(given: GoodputAnswer) -> None:
    bad = ask(**GIVEN, interval=6 * 3600.0)
    assert bad.intervals.given
    assert bad.intervals.best == 6 * 3600.0
    assert bad.ettr.value < given.ettr.value
    assert fix(bad, "interval").ettr == pytest.approx(given.ettr.value)
    hasty = ask(interval=1e-3, blocking_save=True)
    assert any("shorter than the time until a copy is safe" in said for said in hasty.warnings)


def test_the_whole_run_takes_its_steps_over_the_share(given: GoodputAnswer) -> None:
    answer = ask(**GIVEN, tokens=1e12, queue_time=7200.0)
    run = answer.run
    assert run is not None
    assert run.expected == pytest.approx(7200.0 + 600.0 + run.ideal / answer.ettr.value)
    assert run.failures == pytest.approx((run.expected - 7200.0) / answer.mtbf.value)
    assert run.low <= run.expected <= run.high
    assert run.cost == pytest.approx((run.expected - 7200.0) * 64 * 2.5 / 3600)
    assert given.run is None


def test_the_queue_before_the_first_start_costs_nothing_and_fails_nothing() -> None:
    at_once, queued = (ask(tokens=1e12, queue_time=time).run for time in (0.0, 86400.0))
    assert at_once is not None
    assert queued is not None
    assert queued.expected - at_once.expected == pytest.approx(86400.0)
    assert queued.cost == pytest.approx(at_once.cost)
    assert queued.failures == pytest.approx(at_once.failures)


def test_definitions_agree_but_for_what_they_count(plain: GoodputAnswer) -> None:
    said = plain.definitions
    assert said.meta_ettr == said.dlrover_goodput == plain.ettr.value
    assert said.google_scheduling * said.google_runtime == pytest.approx(said.dlrover_goodput)
    assert said.google_program == plain.plan.plans[0].mfu
    queued = ask(tokens=1e10, queue_time=7200.0).definitions
    assert queued.meta_ettr < queued.dlrover_goodput
    assert queued.google_scheduling < said.google_scheduling


def test_availability_and_spares_follow_from_repair(plain: GoodputAnswer) -> None:
    slow = ask(repair_time=10 * 86400.0, spare_risk=0.001)
    assert slow.availability.node < plain.availability.node
    assert slow.spares.out > 9 * plain.spares.out
    assert slow.spares.needed > plain.spares.needed
    five = ask(restart_time=plain.availability.five_nines_restart)
    assert five.availability.job_nines == pytest.approx(5.0, abs=0.01)


def test_a_restart_is_its_parts_loading_included(plain: GoodputAnswer) -> None:
    names = [part.name for part in plain.recovery]
    assert names[0] == "detect"
    assert names[-2:] == ["load", "first_step"]
    assert sum(part.value for part in plain.recovery) >= plain.restart
    assert all(part.source for part in plain.recovery)


def test_one_node_has_no_peer_and_one_chip_is_a_system() -> None:
    alone = ask("dgx-h100:1")
    assert [choice.tiers for choice in alone.choices] == [("shared",), ("local", "shared")]
    with pytest.raises(InputError, match="second node"):
        ask("dgx-h100:8", checkpoint=("memory", "shared"))


def test_what_does_not_fit_is_an_answer() -> None:
    assert artery.goodput("llama3-405b", "dgx-h100:8").plan.fitting == 0


def test_failing_all_the_time_and_never() -> None:
    always = ask(node_failures_per_1000_days=1e12, tokens=1e9)
    assert always.ettr.value == 0.0
    assert always.run is not None
    assert always.run.expected == float("inf")
    assert always.spares.out <= 8
    never = ask("dgx-h100:8", node_failures_per_1000_days=0.0)
    assert never.ettr.value > 0.999
    assert never.levers == ()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rate": "rsc"}, 'no failure rate is called "rsc"; did you mean "rsc-1"'),
        ({"rate": "zzz"}, "known: rsc-1, rsc-1-jobs, rsc-2, llama-3"),
        ({"rate": 3}, "rate must be text"),
        ({"checkpoint": ("tape", "shared")}, 'no tier is called "tape"'),
        ({"checkpoint": "shared"}, "checkpoint must be a list of texts"),
        ({"checkpoint": ("memory",)}, "must name shared"),
        ({"save_time": "30s"}, "save_time must be a number"),
        ({"sve_time": 3.0}, 'no option "sve_time"'),
    ],
)
def test_wrong_options_are_usage_errors(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ask(**options)


def test_all_numbers_out_of_range_are_said_at_once() -> None:
    with pytest.raises(InputError) as caught:
        ask(save_time=0.0, interval=-1.0, spare_risk=1.0, repair_time=float("nan"))
    fields = [problem.field for problem in caught.value.problems]
    assert fields == ["save_time", "interval", "repair_time", "spare_risk"]


def test_taking_lemons_out_is_a_lever() -> None:
    answer = ask(lemon_nodes=0.012, young_factor=3.0)
    assert fix(answer, "lemon_node").gain > 0.0
    assert fix(answer, "young_hardware").gain > 0.0
    assert answer.mtbf.value < ask().mtbf.value / 3


def test_racks_that_fall_need_spares_and_their_size() -> None:
    told: dict[str, Any] = {"domain_failures_per_1000_days": 50.0, "domain_nodes": 4}
    assert ask(**told).spares.needed >= ask().spares.needed
    with pytest.raises(InputError, match="domain_nodes"):
        ask(domain_failures_per_1000_days=50.0)
    with pytest.raises(InputError, match="lemon_nodes"):
        ask(lemon_nodes=0.9)
    with pytest.raises(InputError, match="young_factor"):
        ask(young_factor=0.5)


def test_writing_beside_the_steps_costs_its_share_of_them() -> None:
    """A copy that blocks d and is safe after P costs d + s·(P - d) at a slowdown of s."""
    plain, half = ask(), ask(async_slowdown=0.5)
    (free,) = [tier for tier in plain.tiers if tier.name == "shared"]
    (slowed,) = [tier for tier in half.tiers if tier.name == "shared"]
    assert slowed.save == pytest.approx(free.save + 0.5 * (free.persist - free.save))
    assert slowed.persist == free.persist
    assert half.ettr.value < plain.ettr.value
    with pytest.raises(InputError, match="async_slowdown"):
        ask(async_slowdown=1.5)


def test_one_rate_of_failures_and_parts_no_larger_than_the_system() -> None:
    with pytest.raises(UsageError, match="both say"):
        ask(rate="rsc-2", node_failures_per_1000_days=3.0)
    with pytest.raises(InputError, match="more nodes than there are"):
        ask(domain_nodes=9, domain_failures_per_1000_days=1.0)
