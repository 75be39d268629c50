"""Formulas that papers print, and tables that they computed with them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from artery.catalog import model
from artery.core.plan import Plan
from artery.step import Ledger
from artery.step.flops import step_flops
from artery.step.plans import Plans
from artery.step.stages import stages
from artery.workload import decoder, gpt_shape
from tests.step import toys

GB = 1e9


@pytest.mark.parametrize(("zero", "printed"), [(0, 120.0), (1, 31.4), (2, 16.6), (3, 1.9)])
def test_model_states_of_zero(zero: int, printed: float) -> None:
    """ZeRO (arXiv 1910.02054), figure 1: 7.5 B weights on 64 ranks, Adam, K = 12."""
    plan = Plan(dp=64, zero=zero, global_batch=64, sequence=1024, grad_dtype="fp16")
    room = toys.run(toys.weights_only(7_500_000_000), plan).memory
    states = float((room.weights + room.gradients + room.optimizer)[0])
    assert states / GB == pytest.approx(printed, abs=0.05)


SC21 = {
    # Narayanan et al. 2021 (arXiv 2104.04473), Table 1: layers, hidden, batch.
    "megatron-1.7b": (24, 2304, 512),
    "megatron-18.4b": (40, 6144, 1024),
    "megatron-145.6b": (80, 12288, 2304),
    "megatron-1t": (128, 25600, 3072),
}


@pytest.mark.parametrize(("name", "row"), SC21.items())
def test_flop_per_step_of_megatron(name: str, row: tuple[int, int, int]) -> None:
    """Equation 3: F = 96·B·s·l·h²·(1 + s/(6h) + V/(16·l·h)), with full recomputation."""
    layers, hidden, batch = row
    s, vocab = 2048, 51200
    layer = 96 * batch * s * layers * hidden**2 * (1 + s / (6 * hidden))
    logits = 96 * batch * s * layers * hidden**2 * vocab / (16 * layers * hidden)
    plan = Plan(dp=batch, global_batch=batch, sequence=s, recompute="full")
    flops = step_flops(model(name), Plans.of([plan]))
    assert float(flops.hardware[0]) == pytest.approx(layer + logits, rel=1e-6)
    # Without recomputation 3/4 of the layers' part; the logits are not recomputed.
    assert float(flops.model[0]) == pytest.approx(0.75 * layer + logits, rel=1e-6)


def test_six_flop_per_weight_and_token() -> None:
    """Kaplan et al. 2020 (arXiv 2001.08361), section 2.1: C = 6·N per token, N without embeddings.

    What attention adds to it is 12·layers·hidden·s per token (PaLM, arXiv 2204.02311, appendix
    B), here as the head's product adds 6·hidden·vocab.
    """
    s = 2048
    workload = model("gpt3-175b")
    weights = 12 * 96 * 12288**2
    expected = 6 * weights + 12 * 96 * 12288 * s + 6 * 12288 * 51200
    plan = Plan(dp=8, global_batch=8, sequence=s)
    per_token = float(step_flops(workload, Plans.of([plan])).model[0]) / (8 * s)
    assert per_token == pytest.approx(expected, rel=1e-9)


def test_model_flops_utilisation_of_palm() -> None:
    """PaLM (arXiv 2204.02311), Table 3: 46.2 % at 238.3 k tokens/s on 6,144 TPU v4.

    By appendix B: of 275 TFLOP/s, attention over all keys, recomputation not counted.
    """
    plan = Plan(dp=512, global_batch=2048, sequence=2048, recompute="full")
    flops = step_flops(model("palm-540b"), Plans.of([plan]))
    per_token = float(flops.model[0]) / (2048 * 2048)
    assert 238.3e3 * per_token / (6144 * 275e12) == pytest.approx(0.462, abs=0.002)


@pytest.mark.parametrize(("pp", "n", "vpp"), [(8, 64, 1), (8, 64, 2), (4, 8, 1), (16, 128, 4)])
def test_bubble_fraction(pp: int, n: int, vpp: int) -> None:
    """SC21 section 2.2: (p - 1)/m of the ideal time, (p - 1)/(v·m) with v chunks per device."""
    workload = toys.without_ends(toys.gpt(layers=64))
    plan = Plan(pp=pp, vpp=vpp, global_batch=n, sequence=1024)
    ledger = Ledger(keep=True)
    parts = toys.run(workload, plan, ledger=ledger).parts
    ideal = float((parts["compute"] + parts["memory_bound"])[0])
    ideal -= n * ledger.terms["accumulation"].value  # no pass over a layer
    assert float(parts["bubble"][0]) / ideal == pytest.approx((pp - 1) / (vpp * n))


def test_layers_of_llama_3_405b_on_sixteen_stages() -> None:
    """Llama 3 (arXiv 2407.21783), section 3.3.2: one layer fewer on the first and last stage."""
    workload = model("llama3-405b")
    for vpp in (1, 2, 8):
        held = stages(workload, Plans.of([Plan(pp=16, vpp=vpp)]))
        dealt = [held.first[0], *[held.middle[0]] * 14, held.last[0]]
        assert dealt == [7, *[8] * 14, 7]


KORTHIKANTI = {
    # layers, hidden, heads, micro-batch: arXiv 2205.05198, Table 3.
    "22B": (48, 6144, 64, 4),
    "175B": (96, 12288, 96, 1),
}


def activations(shape: tuple[int, ...], **changes: Any) -> float:
    layers, hidden, heads, micro = shape
    made = gpt_shape(layers=layers, hidden=hidden, heads=heads, vocab=51200, sequence=2048)
    plan = Plan(
        micro_batch=micro, global_batch=micro * 8, sequence=2048, attention="eager", dtype="bf16"
    )
    whole = replace(plan, **changes)
    return float(toys.run(decoder("gpt", made), whole).memory.activations[0])


@pytest.mark.parametrize("name", KORTHIKANTI)
def test_activations_of_a_whole_model(name: str) -> None:
    """Korthikanti et al. 2022, equations 1 and 5 with t = p = 1, and section 4.3.

    s·b·h·L·(34 + 5as/h) for the layers, s·b·h for the embedding's dropout mask, and
    4·s·b·h·(1 + V/h) for final norm, head and logits in FP32.
    """
    shape = KORTHIKANTI[name]
    layers, hidden, heads, micro = shape
    sbh = 2048 * micro * hidden
    expected = sbh * (layers * (34 + 5 * heads * 2048 / hidden) + 1 + 4 * (1 + 51200 / hidden))
    assert activations(shape) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("pp", "vpp"), [(8, 1), (8, 3), (2, 1)])
def test_activations_of_the_first_stage(pp: int, vpp: int) -> None:
    """Equation 5: all L layers' worth in flight; interleaved, 1 + (p - 1)/(p·v) times as much."""
    shape = KORTHIKANTI["22B"]
    layers, hidden, heads, micro = shape
    sbh = 2048 * micro * hidden
    flight = pp * (1 + (pp - 1) / (pp * vpp)) if vpp > 1 else pp
    layer = sbh * (34 + 5 * heads * 2048 / hidden)
    expected = flight * (layer * layers / pp + sbh)
    batch = micro * 8 * pp
    assert activations(shape, pp=pp, vpp=vpp, global_batch=batch) == pytest.approx(expected)


def test_sequence_parallel_activations() -> None:
    """Equation 4: sbh·L/t·(34 + 5as/h), for the layers; two whole rows at work come on top."""
    shape = KORTHIKANTI["175B"]
    _, hidden, _, micro = shape
    sbh = 2048 * micro * hidden
    one = activations(shape)
    eight = activations(shape, tp=8, sequence_parallel=True)
    assert eight == pytest.approx(one / 8 + 2 * 2 * sbh, rel=1e-9)


def test_pipeline_bytes_between_stages() -> None:
    """SC21 section 2.2.2: b·s·h elements per micro-batch; section 4.1: cut over the t ranks."""
    meter = toys.Meter()
    workload = model("gpt3-175b")
    toys.run(workload, Plan(tp=8, pp=2, global_batch=2, sequence=2048), pricer=meter)
    sent = [d for d in meter.asked if d.collective == "sendrecv"]
    assert [float(d.size[0]) for d in sent] == [2048 * 12288 * 2 / 8]


def test_tensor_parallel_bytes_of_a_step() -> None:
    """Megatron-LM (arXiv 1909.08053), figure 4: four all-reduces of b·s·h per layer and step.

    Another goes forward and one backward at the embedding.
    """
    meter = toys.Meter(rate=1.0)
    found = toys.run(
        model("megatron-1.7b"), Plan(tp=8, global_batch=1, sequence=2048), pricer=meter
    )
    message = 2 * 2048 * 2304
    on_the_wire = 2 * message * (4 * 24 + 2)
    assert float(found.parts["tp"][0]) == pytest.approx(on_the_wire)
