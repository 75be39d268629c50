"""Which algorithm each collective of a plan runs by, who adds, and what switches would save."""

from __future__ import annotations

from typing import Any

import pytest

from artery.answers.explain import explain
from artery.answers.plan import plan
from artery.answers.plan.collectives import Chosen
from artery.answers.plan.result import PlanResult
from artery.catalog.libraries import library
from artery.collective.menu import menu
from artery.errors import UnknownNameError, UsageError
from artery.report.words import phrase

BERT: dict[str, Any] = {"tp": 1, "pp": 1, "zero": 0, "micro_batch": 4}
"""Data parallelism alone: one all-reduce of the gradients over all chips."""


def planned(on: str = "dgx-h100:64", **options: Any) -> PlanResult:
    return plan("bert-large", on, **{**BERT, **options}).plans[0]


def gradients(found: PlanResult) -> Chosen:
    (only,) = found.collectives
    assert (only.kind, only.collective, only.ranks, only.stride) == ("dp", "all_reduce", 64, 1)
    return only


@pytest.mark.parametrize(
    ("offload", "algorithm", "adder"),
    [
        ("auto", "NVLSTree", "node switches"),
        ("none", "Tree", "chips"),
        ("switch", "CollNet", "network switches"),
    ],
)
def test_who_adds_is_who_was_asked_to(offload: str, algorithm: str, adder: str) -> None:
    only = gradients(planned(offload=offload))
    assert (only.algorithm, only.adder) == (algorithm, adder)


def test_the_gradients_are_those_of_the_whole_model() -> None:
    found = plan("bert-large", "dgx-h100:64", **BERT, grad_dtype="fp32")
    only = gradients(found.plans[0])
    assert only.size == pytest.approx(4 * found.workload.parameters, rel=0.01)


def test_the_lever_is_what_asking_for_it_gives() -> None:
    usual, switched = planned(), planned(offload="switch")
    (lever,) = (one for one in usual.levers if one.name == "sums in network switches")
    assert lever.change == "--offload switch"
    saved = switched.time.root.value / usual.time.root.value - 1
    assert lever.effect == pytest.approx(saved, rel=1e-9)
    assert saved < 0
    assert not any(one.name == lever.name for one in switched.levers)
    assert any("NCCL_COLLNET_ENABLE=1" in note for note in switched.notes)
    assert not any("NCCL_COLLNET_ENABLE=1" in note for note in usual.notes)


def test_switches_that_sum_nothing_of_the_plan_are_said() -> None:
    """ZeRO 2 has no all-reduce of gradients, and only that is halved."""
    usual, asked = (planned(zero=2, offload=one) for one in ("auto", "switch"))
    assert asked.time.root.value == usual.time.root.value
    (said,) = (note for note in asked.notes if "--offload switch changes nothing" in note)
    assert phrase(said, "zh").startswith("此方案中没有集合通信由网络交换机求和更快")
    others = (usual, planned(offload="switch"))
    assert not any("changes nothing" in note for one in others for note in one.notes)


def test_no_lever_where_no_switch_between_nodes_adds() -> None:
    found = planned("hgx-h100-roce:64")
    assert not any(one.name == "sums in network switches" for one in found.levers)
    with pytest.raises(UsageError, match="no switch between the nodes of hgx-h100-roce adds"):
        planned("hgx-h100-roce:64", offload="switch")
    assert gradients(planned("hgx-h100-roce:64", offload="none")).adder == "chips"


def test_one_node_has_no_switches_between_nodes_and_needs_none() -> None:
    alone = [planned("dgx-h100:8", offload=one).time.root.value for one in ("auto", "switch")]
    assert alone[0] == alone[1]


def test_switches_never_make_a_step_slower() -> None:
    sharded: dict[str, Any] = {"tp": 8, "pp": 8, "zero": 1, "micro_batch": 1}
    steps = [
        plan("gpt3-175b", "dgx-h100:1024", **sharded, offload=one).plans[0].time.root.value
        for one in ("switch", "auto", "none")
    ]
    assert steps == sorted(steps)


def test_a_network_card_is_for_simulate_and_a_slip_gets_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="artery simulate"):
        planned(offload="bf3")
    with pytest.raises(UnknownNameError, match="switch"):
        planned(offload="swich")


def test_a_collective_can_be_opened() -> None:
    path = "step.dp.data_parallel_per_step.all_reduce over 64 by 1"
    answer = explain("bert-large", "dgx-h100:64", path, **BERT)
    term = answer.terms[0].term
    assert term.inputs["algorithm"] == "NVLSTree"
    assert term.inputs["added_by"] == "node switches"
    assert term.value == gradients(answer.plan.plans[0]).seconds


def test_a_simulated_plan_says_what_it_cannot_play() -> None:
    found = planned(offload="switch", network="simulate")
    assert found.network is not None
    assert [one.played for one in found.network.exchanges] == [False]
    assert found.network.step == pytest.approx(found.network.closed)


def test_the_menu_by_who_may_add() -> None:
    nccl = library("nccl")
    assert "collnet" not in menu(nccl, "all_reduce")
    assert set(menu(nccl, "all_reduce", adds="switch")) - set(menu(nccl, "all_reduce")) == {
        "collnet"
    }
    assert menu(nccl, "all_reduce", adds="none") == ("ring", "tree")
    assert menu(nccl, "alltoall", adds="switch") == menu(nccl, "alltoall") == ("grouped",)
