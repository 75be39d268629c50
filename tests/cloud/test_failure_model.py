from __future__ import annotations

from math import exp, inf

import pytest

from artery.catalog.systems import system
from artery.cloud.failure_model import (
    CAUSES,
    FLAP_TIME,
    LEAF_SWITCH,
    failure_model,
    leaf_switches,
    retry_window,
)
from artery.cloud.failures import RSC_1, FailureRate
from artery.cloud.told_failures import LEMON_HARM, Rates, lemon_factor
from artery.core.failure import FailureClass, FailureModel
from artery.units.durations import DAY


def model(name: str = "dgx-h100:1024", **rates: float) -> FailureModel:
    return failure_model(system(name), Rates(**rates))  # type: ignore[arg-type]


def named(found: FailureModel, name: str) -> FailureClass:
    (one,) = [each for each in found.classes if each.name == name]
    return one


def test_the_causes_of_llama_3_are_all_there() -> None:
    """419 unexpected interruptions (arXiv 2407.21783, section 3.3.4)."""
    assert sum(count for count, _ in CAUSES.values()) == 419


def test_causes_add_up_to_the_rate_of_the_nodes() -> None:
    found = model()
    nodes = sum(each.per_second for each in found.classes if each.name in CAUSES)
    assert nodes * DAY == pytest.approx(RSC_1.per_day(128))
    assert found.mtbf == pytest.approx(1 / (nodes + 32 * LEAF_SWITCH))


def test_failures_are_in_proportion_to_nodes() -> None:
    small, large = model("dgx-h100:8"), model("dgx-h100:80")
    classes = [each for each in large.classes if each.name in CAUSES]
    assert FailureModel("", tuple(classes)).mtbf == pytest.approx(small.mtbf / 10)


def test_smaller_nodes_have_fewer_chips_to_fail() -> None:
    one_chip_nodes = model("ethernet-10g:16")
    chip, host = named(one_chip_nodes, "chip"), named(one_chip_nodes, "host")
    assert (chip.part, chip.count, host.part, host.count) == ("chip", 16, "node", 16)
    assert chip.per_second == pytest.approx(RSC_1.per_day(2) / DAY * 262 / 419)
    assert host.per_second == pytest.approx(RSC_1.per_day(16) / DAY * 21 / 419)


def test_a_rate_of_ones_own_is_of_ones_own_nodes() -> None:
    given = Rates(FailureRate("given", 10.0, "given"), 10.0, 10.0, None)
    found = failure_model(system("ethernet-10g:16"), given)
    total = sum(each.per_second for each in found.classes if each.name in CAUSES)
    assert total * DAY == pytest.approx(0.16)


def test_a_node_with_two_leaf_switches_outlives_one() -> None:
    single, twofold = model("dgx-h100:1024"), model("aliyun-hpn7:1024")
    assert named(single, "leaf_switch").severity == "domain"
    assert named(twofold, "leaf_switch").severity == "stall"
    assert leaf_switches(system("dgx-h100:8")) == (0, False)
    assert leaf_switches(system("tpu-v5p-pod:64")) == (0, False)


def test_the_retry_window_is_that_of_the_defaults() -> None:
    """4.096 us·2^20·7 = 30.06 s; with 18, NCCL's older default, 7.5 s."""
    assert retry_window() == pytest.approx(30.06, abs=0.01)
    assert retry_window(18) == pytest.approx(7.52, abs=0.01)


def test_a_flap_longer_than_the_retry_window_kills_the_job() -> None:
    found = model(flaps=10.0)
    short, long = named(found, "short_flap"), named(found, "long_flap")
    assert (short.severity, long.severity) == ("stall", "process")
    assert short.count == long.count == 1024
    assert (short.per_second + long.per_second) * DAY == pytest.approx(10.24)
    assert long.rate / short.rate == pytest.approx(exp(-retry_window() / FLAP_TIME), rel=0.01)
    assert short.duration < FLAP_TIME


def test_what_is_told_of_users_and_slow_nodes_is_counted() -> None:
    found = model(user_faults=2.0, slow_nodes=1.0)
    assert named(found, "user_fault").per_second * DAY == pytest.approx(2.0)
    assert named(found, "slow_node").severity == "slow"
    assert found.rate(("slow",)) * DAY == pytest.approx(0.128)
    assert found.rate() - model().rate() == pytest.approx(2.0 / DAY)


def test_without_failures_the_time_between_them_has_no_end() -> None:
    assert FailureModel("none", ()).mtbf == inf


def test_lemons_do_the_harm_that_was_published() -> None:
    """14 % of jobs of 64 nodes failed with lemons, 4 % without: ln 0.86 / ln 0.96 = 3.695."""
    assert pytest.approx(3.695, abs=0.001) == LEMON_HARM
    found, good = model(lemons=0.012), model()
    nodes = sum(each.per_second for each in good.classes if each.name in CAUSES)
    assert named(found, "lemon_node").per_second / nodes == pytest.approx(LEMON_HARM - 1.0)
    assert 0.012 * (lemon_factor(0.012) - 1.0) == pytest.approx(LEMON_HARM - 1.0)


def test_young_hardware_settles() -> None:
    """Twice the rate when new: the mean over thirty days is 1 + (1 - 1/e) of the settled rate."""
    nodes = sum(each.per_second for each in model().classes if each.name in CAUSES)
    new, old = model(young=2.0), model(young=2.0, age=60 * DAY)
    assert named(new, "young_hardware").per_second / nodes == pytest.approx(1 - exp(-1))
    assert named(old, "young_hardware").per_second / nodes == pytest.approx(exp(-2) * (1 - exp(-1)))


def test_a_rack_takes_its_nodes_with_it() -> None:
    found = named(model(domains=5.0, domain_nodes=16), "domain")
    assert (found.count, found.severity) == (8, "domain")
    assert found.per_second * DAY == pytest.approx(0.04)
