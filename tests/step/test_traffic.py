"""What parallelism inside a layer puts on the wire."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from artery.core.plan import Plan
from artery.core.pricing import Demand
from artery.core.workload import Routing
from artery.step.plans import Plans
from artery.step.schedule import transfer
from artery.step.traffic import (
    context_parallel,
    expert_parallel,
    nodes_reached,
    price,
    row_bytes,
    tensor_parallel,
)
from tests.step import toys

BASE = Plan(tp=4, dp=2, micro_batch=2, global_batch=8, sequence=1024)
MESSAGE = 2 * 1024 * 2 * 1024
"""2·s·b·h bytes: sequence 1024, micro-batch 2, hidden 1024."""


def asked(meter: toys.Meter) -> Iterator[tuple[str, float, int, int]]:
    """Collective, bytes, ranks and stride of every demand that was made."""
    for demand in meter.asked:
        yield (
            demand.collective, float(demand.size[0]), int(demand.ranks[0]), int(demand.stride[0]),
        )  # fmt: skip


def test_tensor_parallel_layers_all_reduce_twice_forward() -> None:
    # Megatron-LM (arXiv 1909.08053), section 3: two all-reduces of s·b·h elements, each way.
    meter = toys.Meter()
    wire = tensor_parallel(toys.gpt().layers[0], toys.job(toys.gpt(), BASE, pricer=meter), "x")
    assert list(asked(meter)) == [("all_reduce", MESSAGE, 4, 1)]
    assert wire.forward == wire.backward == 2 * 2 * MESSAGE / 1e9


def test_sequence_parallelism_gathers_once_more_backward() -> None:
    # Korthikanti 2022, section 4.2.2: the same bytes forward, one more all-gather backward.
    meter = toys.Meter()
    plan = replace(BASE, sequence_parallel=True)
    wire = tensor_parallel(toys.gpt().layers[0], toys.job(toys.gpt(), plan, pricer=meter), "x")
    assert [(kind, size) for kind, size, _, _ in asked(meter)] == [
        ("all_gather", MESSAGE),
        ("reduce_scatter", MESSAGE),
    ]
    assert wire.forward == 2 * 2 * MESSAGE / 1e9
    assert wire.backward == pytest.approx(2 * 3 * MESSAGE / 1e9)


@pytest.mark.parametrize("part", [tensor_parallel, context_parallel, expert_parallel])
def test_what_is_not_split_asks_for_no_price(part: object) -> None:
    meter = toys.Meter()
    workload = toys.mixture()
    job = toys.job(workload, Plan(dp=8, global_batch=8, sequence=1024), pricer=meter)
    assert callable(part)
    wire = part(workload.layers[0], job, "x")
    assert wire.forward == wire.backward == 0
    assert meter.asked == []


def test_context_parallelism_passes_keys_and_values_round() -> None:
    # Ring Attention (arXiv 2310.01889): keys and values, 2·hidden elements per row.
    meter = toys.Meter()
    plan = replace(BASE, tp=2, cp=2)
    wire = context_parallel(toys.gpt().layers[0], toys.job(toys.gpt(), plan, pricer=meter), "x")
    assert list(asked(meter)) == [("all_gather", 2 * MESSAGE / 2, 2, 2)]
    assert wire.backward == 2 * wire.forward


def test_a_stage_hands_on_its_rows_cut_over_tensor_ranks() -> None:
    # SC21 (arXiv 2104.04473), section 4.1: s·b·h elements over t ranks.
    meter = toys.Meter()
    plan = replace(BASE, pp=2)
    seconds = transfer(toys.job(toys.gpt(), plan, pricer=meter))
    assert list(asked(meter)) == [("sendrecv", MESSAGE / 4, 2, 8)]
    assert seconds == MESSAGE / 4 / 1e9


def test_groups_of_one_are_free_beside_groups_that_are_not() -> None:
    meter = toys.Meter()
    job = toys.job(toys.gpt(), BASE, pricer=meter)
    size = np.array([8.0, 8.0, 0.0])
    ranks, stride = np.array([1, 2, 2]), np.array([1, 1, 1])
    assert price(job.machine, "all_reduce", size, ranks, stride).tolist() == [0, 16 / 1e9, 0]
    assert len(meter.asked) == 1


@pytest.mark.parametrize(("nodes", "experts", "chosen"), [(1, 8, 2), (2, 8, 2), (4, 12, 3),
                                                          (8, 16, 4), (3, 6, 1)])  # fmt: skip
def test_nodes_reached_against_counting(nodes: int, experts: int, chosen: int) -> None:
    held = experts // nodes
    picks = list(combinations(range(experts), chosen))
    counted = sum(len({expert // held for expert in pick}) for pick in picks) / len(picks)
    found = nodes_reached(np.array([nodes]), Routing(experts, chosen, 1))
    assert found == pytest.approx(counted)


def test_nodes_reached_with_many_experts_nears_independent_picks() -> None:
    nodes, chosen = 4, 3
    picks = list(product(range(nodes), repeat=chosen))
    counted = sum(len(set(pick)) for pick in picks) / len(picks)
    assert counted == pytest.approx(nodes * (1 - (1 - 1 / nodes) ** chosen))
    found = nodes_reached(np.array([nodes]), Routing(10**6, chosen, 1))
    assert found == pytest.approx(counted, rel=1e-5)


@pytest.mark.parametrize("nodes", [2, 4, 8])
def test_nodes_reached_from_a_few_groups_against_counting(nodes: int) -> None:
    """Half of 4 groups of 4 experts may be picked from: every choice of groups and experts."""
    groups, limit, each, chosen = 4, 2, 4, 2
    per_node = groups * each / nodes
    counts = []
    for open_groups in combinations(range(groups), limit):
        held = [group * each + i for group in open_groups for i in range(each)]
        counts += [len({int(e // per_node) for e in pick}) for pick in combinations(held, chosen)]
    routing = Routing(groups * each, chosen, 1, groups, limit)
    found = float(nodes_reached(np.array([nodes]), routing)[0])
    assert found == pytest.approx(sum(counts) / len(counts), rel=0.06)


def exchanges(plan: Plan) -> list[tuple[str, float, int, int]]:
    meter = toys.Meter()
    workload = toys.mixture(experts=32, top_k=2)
    expert_parallel(workload.layers[0], toys.job(workload, plan, pricer=meter), "x")
    return list(asked(meter))


def test_experts_inside_a_node_exchange_all_copies() -> None:
    plan = Plan(dp=8, ep=8, global_batch=8, sequence=1024, load_factor=1.0)
    found = exchanges(plan)
    rows = 2 * 1024 * 2 * 512  # top-k · rows · BF16 · hidden
    assert {(kind, size, ranks) for kind, size, ranks, _ in found} == {("alltoall", rows, 8)}


def test_experts_on_more_nodes_send_one_copy_to_each() -> None:
    plan = Plan(dp=32, ep=32, global_batch=32, sequence=1024, load_factor=1.0)
    outer, inner = exchanges(plan)[:2]
    copies = float(nodes_reached(np.array([4]), Routing(32, 2, 1))[0])
    assert outer[1] == pytest.approx(1024 * 2 * 512 * copies)
    assert outer[2:] == (4, 8)
    assert inner == ("alltoall", 2 * 1024 * 2 * 512, 8, 1)


def test_a_part_filled_node_is_a_node() -> None:
    workload = toys.mixture(experts=12)
    meter = toys.Meter()
    plan = Plan(dp=12, ep=12, global_batch=12, sequence=1024)
    expert_parallel(workload.layers[0], toys.job(workload, plan, pricer=meter), "x")
    assert next(asked(meter))[2] == 2


def test_fp8_halves_what_is_dispatched_but_not_what_is_combined() -> None:
    workload = toys.mixture()

    def wire(dtype: str) -> tuple[float, float]:
        plan = Plan(dp=8, ep=8, global_batch=8, sequence=1024, dtype=dtype)
        found = expert_parallel(workload.layers[0], toys.job(workload, plan), "x")
        return float(found.forward[0]), float(found.backward[0])

    wide, narrow = wire("bf16"), wire("fp8")
    # A byte and a 32nd there, for the scales, and two back, of two each way.
    assert narrow[0] == pytest.approx((1 + 1 / 32 + 2) / 4 * wide[0])
    assert narrow[1] == wide[1]


def test_demands_have_the_shape_of_the_plans() -> None:
    meter = toys.Meter()
    plans = [replace(BASE, tp=tp, dp=8 // tp) for tp in (1, 2, 4, 8)]
    job = toys.job(toys.gpt(), *plans, pricer=meter)
    tensor_parallel(toys.gpt().layers[0], job, "x")
    demand: Demand = meter.asked[0]
    assert demand.size.shape == demand.ranks.shape == demand.stride.shape == (4,)
    assert isinstance(job.plans, Plans)


@pytest.mark.parametrize(
    ("hidden", "operand", "sent"),
    [(7168, 1, 7168 + 56 * 4), (7100, 1, 7100 + 56 * 4), (7168, 2, 2 * 7168)],
)
def test_rows_go_to_experts_with_a_scale_for_each_tile(
    hidden: int, operand: float, sent: int
) -> None:
    assert row_bytes(hidden, operand, 2) == (sent, 2 * hidden)
