"""Layers and weights dealt to pipeline stages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.core.plan import Plan
from artery.step.legality import legal
from artery.step.plans import Plans
from artery.step.stages import layer_weights, stage_weights, stages
from tests.step import toys


@given(layers=st.integers(1, 40), pp=st.integers(1, 12), vpp=st.integers(1, 4))
def test_every_layer_is_on_a_stage(layers: int, pp: int, vpp: int) -> None:
    workload = toys.gpt(layers)
    plans = Plans.of([Plan(pp=pp, vpp=vpp, global_batch=pp, sequence=1024)])
    held = stages(workload, plans)
    if legal(workload, plans)[0] and pp > 1:
        assert 1 <= held.last <= held.first <= held.middle
        between = float(layers - held.first[0] - held.last[0])
        assert (held.middle - 1) * (pp - 2) < between <= held.middle * (pp - 2) or pp == 2
        assert between == 0 or pp > 2
    if pp == 1:
        assert held.first == held.middle == held.last == layers


def test_the_weights_of_all_stages_are_the_models() -> None:
    workload = toys.gpt(layers=8)
    plans = Plans.of([Plan(pp=4), Plan(pp=1), Plan(pp=4, tp=2)])
    shared = stage_weights(workload, plans, stages(workload, plans))
    tied = layer_weights(workload.first, plans)
    whole = shared.first.total + 2 * shared.middle.total + shared.last.total - tied.total
    assert whole[0] == workload.parameters
    assert shared.first.total[1] == shared.last.total[1] == workload.parameters
    assert shared.middle.total[1] == 0
    # Norms, biases of the row-cut products and positions stand on every tensor-parallel rank.
    assert workload.parameters / 2 < whole[2] < 0.52 * workload.parameters


def test_only_an_untied_head_saves_the_copy_on_the_last_stage() -> None:
    workload = toys.gpt()
    plans = Plans.of([Plan(pp=2)])
    shared = stage_weights(workload, plans, stages(workload, plans))
    vocabulary = 32000 * 1024
    assert shared.last.total - 4 * shared.layer.total >= vocabulary


def test_experts_are_cut_by_ep_and_etp_and_nothing_else() -> None:
    workload = toys.mixture(experts=16)
    plans = Plans.of([Plan(tp=2, dp=8), Plan(tp=2, dp=8, ep=8), Plan(tp=2, dp=8, ep=4, etp=2)])
    weights = layer_weights(workload.layers[0], plans)
    assert weights.expert[0] == 16 * 3 * 512 * 1024
    assert weights.expert.tolist() == [weights.expert[0] / d for d in (1, 8, 8)]
    assert len(set(weights.dense.tolist())) == 1


def test_a_middle_stage_with_more_layers_is_the_fullest() -> None:
    workload = toys.without_ends(toys.gpt(layers=10))
    plans = Plans.of([Plan(pp=4)])  # 2, 3, 3, 2
    shared = stage_weights(workload, plans, stages(workload, plans))
    assert shared.fullest.total[0] == pytest.approx(workload.parameters * 3 / 10)
