"""One micro-batch through a layer: recomputation, hiding, the host's pace."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from artery.chip.gemm import matmul_time
from artery.core.plan import Plan
from artery.errors import InputError
from artery.step import Ledger
from artery.step.layer import layer_cost
from artery.step.micro import Micro, ends
from artery.workload import DecoderShape, decoder
from tests.step import toys

BASE = Plan(tp=2, dp=4, global_batch=8, sequence=1024)


def layer(plan: Plan = BASE, **profile: object) -> Micro:
    made = replace(toys.PROFILE, **profile)  # type: ignore[arg-type]
    return ends(toys.job(toys.gpt(), plan, profile=made)).layer


def test_a_product_is_timed_in_its_three_shapes() -> None:
    workload = toys.gpt()
    ledger = Ledger(keep=True)
    job = toys.job(workload, BASE, ledger=ledger)
    layer_cost(workload.layers[0], job, "x")
    term = ledger.terms["x.mlp in"]
    m, n, k = 1024, 4 * 1024 / 2, 1024
    chip = job.machine.chip
    shapes = ((m, n, k), (m, k, n), (k, n, m))
    seconds = sum(float(matmul_time(*s, chip=chip, dtype="bf16")) for s in shapes)
    assert term.value == pytest.approx(seconds)
    assert (term.inputs["m"], term.inputs["n"], term.inputs["k"]) == (m, n, k)


def test_full_recomputation_is_one_more_forward_pass() -> None:
    plain, again = layer(), layer(replace(BASE, recompute="full"))
    assert again.forward == plain.forward
    assert again.total - plain.total == pytest.approx(plain.forward)
    half = layer(replace(BASE, recompute="full", recompute_layers=0.5))
    assert half.total == pytest.approx((plain.total + again.total) / 2)


def test_the_parts_make_the_two_passes() -> None:
    for plan in (BASE, replace(BASE, recompute="full"), replace(BASE, sequence_parallel=True)):
        found = layer(plan, overlap={"tp": 0.5}, host=1e-3, contention=0.2)
        parts = found.compute + found.memory_bound + found.tp + found.cp + found.ep + found.host
        np.testing.assert_allclose(parts, found.total)


def test_a_hidden_share_slows_compute_by_the_contention() -> None:
    bare = layer().tp
    assert layer(overlap={"tp": 0.5}).tp == pytest.approx(0.5 * bare)
    assert layer(overlap={"tp": 0.5}, contention=0.2).tp == pytest.approx(0.6 * bare)
    assert layer(replace(BASE, overlap=()), overlap={"tp": 0.5}).tp == bare


def test_overlap_that_is_asked_for() -> None:
    bare = layer().tp
    asked = replace(BASE, overlap=("tp",))
    assert layer(asked).tp == pytest.approx(0.2 * bare)  # nothing known: as much as FSDP hides
    assert layer(asked, overlap={"tp": 0.5}).tp == pytest.approx(0.5 * bare)


def test_a_layer_waits_for_the_host_only_when_it_is_quicker() -> None:
    busy = float(layer().total[0])
    assert layer(host=busy / 4).host == 0
    waiting = layer(host=busy)
    assert waiting.host == pytest.approx(busy)  # two passes of the host, one of them hidden
    assert waiting.total == pytest.approx(2 * busy)


def test_more_traffic_per_element_is_memory_time_alone() -> None:
    plain, loose = layer(kernels=0.0), layer(kernels=0.0, traffic=2.0)
    assert loose.memory_bound == pytest.approx(2 * plain.memory_bound)
    assert loose.compute == plain.compute


def test_norms_without_a_kernel_move_what_their_operations_move() -> None:
    """18 and 46 elements per element of a norm, 10 and 10 of a rotation, whatever the factor."""
    shape = DecoderShape(layers=1, hidden=1024, heads=16, vocab=32000, sequence=1024)
    job = toys.job(
        decoder("toy-llama", shape),
        Plan(global_batch=8, sequence=1024),
        profile=replace(toys.PROFILE, composed=True, traffic=7.0, kernels=0.0),
        ledger=(ledger := Ledger(keep=True)),
    )
    ends(job)
    bytes_per_second = 1024 * 2 / job.machine.stream
    # Kernels still take their time: 8 and 16 for a norm, 6 and 6 for the rotation.
    kernel = job.machine.chip.efficiency.kernel
    norm = ledger.terms["micro_batch.layer.norm 1"]
    assert norm.value == pytest.approx(64 * 1024 * bytes_per_second + 24 * kernel)
    rotation = ledger.terms["micro_batch.layer.rotary embedding"]
    assert rotation.value == pytest.approx(20 * 2048 * bytes_per_second + 12 * kernel)
    residual = ledger.terms["micro_batch.layer.mlp residual"]
    assert residual.value == pytest.approx(7 * 6 * 1024 * bytes_per_second)


def test_fp8_speeds_up_products_and_leaves_attention_and_head() -> None:
    workload = toys.gpt()
    costs = {}
    for dtype in ("bf16", "fp8"):
        ledger = Ledger(keep=True)
        toys.run(workload, replace(BASE, dtype=dtype), ledger=ledger)
        costs[dtype] = ledger.terms
    name = "micro_batch.layer"
    assert costs["fp8"][f"{name}.mlp in"].value < costs["bf16"][f"{name}.mlp in"].value
    for same in (f"{name}.attention", "micro_batch.head.head"):
        assert costs["fp8"][same].value == costs["bf16"][same].value


def test_fp8_copies_the_inputs_of_all_experts() -> None:
    """Three transposed copies of each product's input, read and written in one byte.

    Per token 512 elements for queries, keys and values, for the output and for the router; and
    for each of two experts 512 in and 1024 out.
    """
    plan = Plan(global_batch=8, sequence=1024, load_factor=1.0)
    (layer,) = toys.mixture(experts=16, top_k=2).layers
    traffic = {}
    for dtype in ("bf16", "fp8"):
        job = toys.job(toys.mixture(experts=16, top_k=2), replace(plan, dtype=dtype))
        cost = layer_cost(layer, job, "layer")
        traffic[dtype] = cost.forward.traffic + cost.backward.traffic
    copied = 1024 * (3 * 512 + 2 * (512 + 1024))
    moved = 3 * 2 * copied / job.machine.stream
    assert traffic["fp8"] - traffic["bf16"] == pytest.approx(moved)


def test_a_dtype_that_the_chip_has_not() -> None:
    with pytest.raises(InputError, match="fp4"):
        toys.run(toys.gpt(), replace(BASE, dtype="fp4"))


def test_a_kernel_that_the_chip_has_not() -> None:
    with pytest.raises(InputError, match="flash3"):
        toys.run(toys.gpt(), replace(BASE, attention="flash3"))


def test_eager_attention_moves_every_score() -> None:
    eager, fused = layer(replace(BASE, attention="eager")), layer()
    scores = 8 * 1024 * 1024  # heads on this rank, queries, keys
    stream = 3e12 * 0.8
    moved = (9 + 11) * scores / stream + 2 * 3 * 3e-6
    assert eager.memory_bound - fused.memory_bound == pytest.approx(moved)


def test_experts_share_the_rows_of_all_ranks() -> None:
    """With an even load every expert meets rows·k/E of what its ranks bring together."""
    workload = toys.mixture(experts=16, top_k=2)
    inputs = []
    for plan in (Plan(dp=8, global_batch=8), Plan(dp=8, ep=8, global_batch=8)):
        ledger = Ledger(keep=True)
        even = replace(plan, sequence=1024, load_factor=1.0)
        toys.run(workload, even, ledger=ledger)
        inputs.append(ledger.terms[f"micro_batch.{workload.layers[0].name}.expert in"].inputs)
    assert [i["batch"] for i in inputs] == [16, 2]
    assert [i["m"] for i in inputs] == [1024 * 2 / 16, 1024 * 2 * 8 / 16]
