"""``plan --network simulate``: beside the closed form where nobody is in the way, and where not."""

from __future__ import annotations

from typing import Any

import pytest

from artery.answers.plan import plan, simulated
from artery.answers.plan.collectives import kind_of
from artery.answers.plan.contention import Exchange, Network
from artery.answers.plan.result import PlanAnswer
from artery.answers.plan.simulated import Asked
from artery.answers.telling import telling
from artery.catalog.systems import system
from artery.core.plan import Plan
from artery.errors import UsageError

LLAMA: dict[str, Any] = {
    "tp": 8,
    "pp": 4,
    "cp": 1,
    "dp": 8,
    "zero": 1,
    "micro_batch": 1,
    "global_batch": 64,
}


def played(model: str, on: str, **options: Any) -> PlanAnswer:
    return plan(model, on, network="simulate", explained=False, **options)


def network(answer: PlanAnswer) -> Network:
    found = answer.plans[0].network
    assert found is not None
    return found


def of(found: Network, kind: str) -> Exchange:
    return next(each for each in found.exchanges if each.kind == kind)


def test_without_contention_it_is_within_two_percent_of_the_closed_form() -> None:
    answer = played("llama3-70b", "dgx-h100:256", **LLAMA)
    found = network(answer)
    assert found.step == pytest.approx(found.closed, rel=0.02)
    assert {each.kind for each in found.exchanges} == {"tp", "pp", "dp"}
    for each in found.exchanges:
        assert each.played
        assert each.alone == pytest.approx(each.closed, rel=0.02), each
    assert found.notable == ()


def test_the_step_is_the_simulated_one_and_says_so() -> None:
    (result,) = played("llama3-70b", "dgx-h100:256", **LLAMA).plans
    assert result.time.source == "simulated"
    assert result.network is not None
    assert result.time.root.value == result.network.step
    assert sum(part.value for part in result.time.root.children) == pytest.approx(
        result.network.step
    )
    assert result.time.root.low < result.network.step < result.time.root.high
    closed = plan("llama3-70b", "dgx-h100:256", explained=False, **LLAMA).plans[0]
    assert closed.time.root.value == result.network.closed
    assert closed.network is None


def test_shuffled_ranks_name_the_slowed_group() -> None:
    """On dealt chips hashes and routes collide: one group is slower than the one in the middle."""
    answer = played("llama3-70b", "dgx-h100:256", placement="random", **LLAMA)
    found = network(answer)
    assert found.step > 1.02 * found.closed
    dp = of(found, "dp")
    assert dp in found.notable
    assert dp.uneven
    assert len(dp.slowest) == 8
    assert [rank - dp.slowest[0] for rank in dp.slowest] == [8 * i for i in range(8)]
    assert dp.slowest[0] == dp.group // 8 * 64 + dp.group % 8
    assert dp.link is not None
    assert dict(dp.link.groups)["dp"] >= 2


def test_interleaved_ranks_take_tensor_parallelism_to_the_network() -> None:
    packed = network(played("llama3-70b", "dgx-h100:256", **LLAMA))
    dealt = network(played("llama3-70b", "dgx-h100:256", placement="interleaved", **LLAMA))
    assert of(dealt, "tp").seconds > 4 * of(packed, "tp").seconds
    assert of(dealt, "tp").seconds == pytest.approx(of(dealt, "tp").closed, rel=0.02)


def test_what_limits_is_the_link_that_the_groups_want() -> None:
    packed, dealt = (
        played("llama3-70b", "dgx-h100:256", placement=name, **LLAMA).plans[0].limited_by
        for name in ("packed", "interleaved")
    )
    assert "tensor-parallel collectives on nvlink4" in packed
    assert "tensor-parallel collectives on ib-ndr" in dealt


def test_the_best_plans_of_a_large_model_keep_their_steps_on_a_fabric_that_does_not_block() -> None:
    answer = played("llama3-405b", "dgx-h100:2048", top=5)
    assert len(answer.plans) == 5
    for result in answer.plans:
        assert result.network is not None
        assert result.network.step == pytest.approx(result.network.closed, rel=0.02)
        for each in result.network.exchanges:
            assert each.alone == pytest.approx(each.closed, rel=0.01), each


def test_gradients_meet_the_traffic_of_the_pass_behind_which_they_hide() -> None:
    """Experts over several nodes share the cards with the reduction; nothing may take less."""
    found = network(played("mixtral-8x7b", "dgx-h100:64", tp=1, pp=4, ep=8, dp=16, etp=2))
    assert "ep" in found.beside
    for each in found.exchanges:
        assert each.seconds >= each.alone * (1 - 1e-9)
        if each.kind != "dp":
            assert each.seconds == each.alone
    assert any(each.seconds > each.alone for each in found.exchanges if each.kind == "dp")


def test_nothing_is_beside_what_is_not_overlapped() -> None:
    found = network(played("llama3-70b", "dgx-h100:256", overlap=(), **LLAMA))
    assert found.beside == ()
    assert all(each.seconds == each.alone for each in found.exchanges)


def test_what_several_plans_ask_is_played_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Asked] = []
    whole = simulated.Simulated._exchange

    def counted(self: simulated.Simulated, asked: Asked, beside: tuple[Asked, ...]) -> Exchange:
        seen.append(asked)
        return whole(self, asked, beside)

    monkeypatch.setattr(simulated.Simulated, "_exchange", counted)
    fixed = {**LLAMA, "zero": None, "micro_batch": None, "recompute": "full"}
    answer = played("llama3-70b", "dgx-h100:256", top=3, **fixed)
    asked = sum(len(each.network.exchanges) for each in answer.plans if each.network)
    assert len(seen) < asked


def test_plans_are_ordered_by_the_simulated_step() -> None:
    answer = played("llama3-70b", "dgx-h100:256", top=4, placement="random", global_batch=64)
    keys = [
        (each.memory.root.value > each.capacity, each.time.root.value * each.penalty)
        for each in answer.plans
    ]
    assert keys == sorted(keys)


def test_seeds_give_the_range_of_the_step_and_of_its_communication() -> None:
    options: dict[str, Any] = {**LLAMA, "placement": "random"}
    found = network(played("llama3-70b", "hgx-h100-roce:256", seeds=5, **options))
    spread = found.spread
    assert spread is not None
    assert spread.seeds == 5
    low, median, high = spread.step
    assert low < median < high
    assert spread.whole
    assert low <= found.step <= high
    # What is not communication does not depend on hashes, apart from waiting for stragglers.
    least, middle, most = spread.communication
    assert 0 < least < middle < most
    assert most - least <= (high - low) * 1.001
    one = network(played("llama3-70b", "hgx-h100-roce:256", **options))
    assert one.spread is None
    assert one.step == found.step
    assert one.exchanges == found.exchanges


@pytest.mark.parametrize(
    ("model", "on", "options"),
    [
        ("llama3-70b", "dgx-h100:256", LLAMA),  # routes by target
        ("gpt2", "hgx-h100-roce:8", {}),  # hashed between nodes, of which there is one
    ],
)
def test_where_seeds_draw_nothing_it_is_played_once(
    model: str, on: str, options: dict[str, Any]
) -> None:
    found = network(played(model, on, seeds=50, **options))
    assert found.spread is not None
    assert found.spread.seeds == 1
    assert found.spread.step == pytest.approx((found.step,) * 3)


def test_seeds_belong_to_a_simulated_network() -> None:
    with pytest.raises(UsageError, match="add --network simulate"):
        plan("gpt2", "dgx-h100:16", seeds=3)
    with pytest.raises(UsageError, match="from 1 to"):
        played("gpt2", "dgx-h100:16", seeds=0)


def test_groups_on_a_torus_go_by_dimension() -> None:
    options = {"tp": 4, "pp": 1, "cp": 1, "dp": 16}
    found = network(played("llama3-8b", "tpu-v4-pod:64", **options))
    assert {each.kind for each in found.exchanges} == {"tp", "dp"}
    for each in found.exchanges:
        assert each.played
        assert each.seconds == pytest.approx(each.closed, rel=0.02), each
    assert found.step == pytest.approx(found.closed, rel=0.02)


@pytest.mark.parametrize("on", ["tpu-v4-pod:16", "tpu-v5e-pod:32"])
def test_open_and_unlike_sides_of_a_torus_are_priced_as_played(on: str) -> None:
    """2x2x4 and 4x8: equal parts of the data load the longer side most."""
    found = network(played("bert-large", on, tp=1, pp=1, zero=0))
    (each,) = found.exchanges
    assert each.seconds == pytest.approx(each.closed, rel=0.02)


def test_ranks_dealt_over_a_torus_keep_the_closed_form_and_say_why() -> None:
    options = {"tp": 4, "pp": 1, "cp": 1, "dp": 16, "placement": "random"}
    found = network(played("llama3-8b", "tpu-v4-pod:64", **options))
    assert found.step == found.closed
    assert found.exchanges
    assert all("fill no box of the torus" in each.refused for each in found.exchanges)


def test_one_chip_has_nothing_to_play() -> None:
    found = network(played("gpt2", "dgx-h100:1"))
    assert found.exchanges == ()
    assert found.step == found.closed


def test_an_unknown_network_is_refused() -> None:
    with pytest.raises(UsageError, match="closed, simulate"):
        plan("gpt2", "dgx-h100:8", network="measured")


def test_operations_belong_to_the_part_that_asks_for_them() -> None:
    kind = kind_of(Plan(tp=8, cp=2, pp=4, dp=4))
    assert kind("all_gather", 8, 1) == "tp"
    assert kind("all_gather", 2, 8) == "cp"
    assert kind("reduce_scatter", 8, 8) == "dp"
    assert kind("alltoall", 4, 8) == "ep"
    assert kind("sendrecv", 2, 64) == "pp"
    assert kind("all_reduce", 2, 192) == "other"


def test_each_network_routes_as_its_kind_does() -> None:
    assert simulated.ROUTING[system("dgx-h100:16", ()).tiers[-1].link.kind] == ("static", 1)
    assert simulated.ROUTING[system("aws-p5:16", ()).tiers[-1].link.kind] == ("spray", 1)
    assert system("hgx-h100-roce:16", ()).tiers[-1].link.kind not in simulated.ROUTING
    assert network(played("gpt2", "hgx-h100-roce:16")).routing == "ecmp"
    assert network(played("gpt2", "frontier:16")).routing == "adaptive"


def test_whoever_listens_is_told_what_is_played() -> None:
    told: list[str] = []
    with telling(told.append):
        played("llama3-70b", "dgx-h100:256", **LLAMA)
    # One pipeline is in flight while gradients are reduced: 256 chips are 64 groups of 4 stages.
    assert "playing sendrecv: 64 groups of 4" in told
    assert any(line.startswith("playing reduce_scatter:") and "others" in line for line in told)
