"""Training speeds that others printed for A100, near to what ``artery plan`` says there.

MFU here and there counts attention over all keys (PaLM, arXiv 2204.02311, appendix B), so that
long texts raise it: a causal kernel leaves half of that work out.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from artery.answers.pricing import closed_form
from artery.catalog import model, profile, system
from artery.core.plan import Plan
from artery.core.workload import Workload
from artery.step import evaluate
from artery.workload import decoder, gpt_shape

PEAK = 312e12
"""FLOP/s of an A100 in BF16 (NVIDIA A100 datasheet)."""


def speed(workload: Workload, plan: Plan) -> tuple[float, float]:
    """Tokens per second and chip, and MFU."""
    found = system(f"dgx-a100:{plan.chips}")
    how = profile(plan.framework)
    answer = evaluate(workload, found, [plan], profile=how, pricer=closed_form(found))
    chip_seconds = float(answer.step[0]) * plan.chips
    tokens = plan.global_batch * plan.sequence / chip_seconds
    return tokens, float(answer.flops.model[0]) / chip_seconds / PEAK


@pytest.mark.parametrize(
    ("layers", "hidden", "heads", "sequence", "tflops"),
    [
        (24, 2048, 16, 2048, 196),
        (24, 2048, 16, 8192, 220),
        (32, 2560, 20, 2048, 205),
        (32, 2560, 20, 8192, 225),
    ],
)
def test_gpt3_with_flash_attention_2(
    layers: int, hidden: int, heads: int, sequence: int, tflops: float
) -> None:
    """FlashAttention-2 (arXiv 2307.08691), Table 1: 8 A100; heads of 128, 2**20 tokens a step."""
    shape = gpt_shape(
        layers=layers, hidden=hidden, heads=heads, vocab=50264, sequence=sequence
    )  # the vocabulary padded to a multiple of 8
    batch = 2**20 // sequence
    plan = Plan(dp=8, micro_batch=4, global_batch=batch, sequence=sequence)
    _, mfu = speed(decoder("gpt3", shape), plan)
    assert mfu * PEAK / 1e12 == pytest.approx(tflops, rel=0.06)


TITAN = Plan(
    dp=64, zero=3, global_batch=64, sequence=8192, recompute="full", framework="torchtitan-eager"
)
LLAMA2 = replace(TITAN, micro_batch=2, global_batch=128, sequence=4096)


@pytest.mark.parametrize(
    ("name", "plan", "printed"),
    [
        ("llama3-8b", replace(TITAN, recompute_layers=0.5), 2904),
        ("llama3-70b", TITAN, 331),
        ("llama2-13b", replace(LLAMA2, recompute="none"), 2162),
        ("llama2-13b", replace(LLAMA2, recompute_layers=0.5), 1914),
        ("llama2-70b", LLAMA2, 353),
    ],
)
def test_llama_with_torchtitan(name: str, plan: Plan, printed: float) -> None:
    """pytorch/torchtitan, docs/performance.md (2024): tokens per second and GPU on 64 A100.

    Eager; every second layer is recomputed ("selective layer"), all, or none.
    """
    tokens, _ = speed(model(name), plan)
    assert tokens == pytest.approx(printed, rel=0.03)


def test_what_a_fused_framework_gains_on_eight() -> None:
    """The best plan for Llama 3 8B on one node beside the best that is printed for such a node.

    225 TFLOP/s, 72 % (FlashAttention-2, Table 1): texts as long, all kernels fused, nothing
    recomputed, one node. torchtitan's 53.9 % pays for eager kernels, recomputation and 8 nodes.
    """
    plan = Plan(dp=8, zero=3, global_batch=512, sequence=8192)
    _, mfu = speed(model("llama3-8b"), plan)
    assert mfu == pytest.approx(225e12 / PEAK, rel=0.05)
