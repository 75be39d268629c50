"""One GPU: what it reaches, and the steps of ResNet-50 and GPT-2 against their predictions.

Where there is no GPU the parts that measure are run on the processor, in small, so that only the
figures are left to a GPU.
"""

from __future__ import annotations

import sys
import time
from statistics import median

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from artery.answers.bench.chip import bench_chip
from artery.answers.plan import plan
from artery.runner.models.resnet import ResNet

SYSTEMS = {"A100": "dgx-a100", "H100": "dgx-h100", "H200": "dgx-h200", "B200": "dgx-b200"}
"""Catalog systems by what torch calls their GPUs; others have no prediction to be held to."""

WITHIN = 0.30
"""Of the measured step. Single-GPU steps of published ResNet-50 tables are foreseen within 30 %."""


class Decoder(nn.Module):
    """GPT-2's shape: pre-norm blocks, learned positions, and a head that is the embedding."""

    def __init__(self, layers: int, width: int, heads: int, words: int, length: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Parameter(torch.zeros(length, width))
        block = nn.TransformerEncoderLayer(
            width, heads, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.blocks = nn.TransformerEncoder(block, layers, nn.LayerNorm(width), False)
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        hidden = self.words(tokens) + self.places
        hidden = self.blocks(hidden, mask=self.mask, is_causal=True)
        return functional.linear(hidden, self.words.weight)


def step_seconds(model: nn.Module, batch: tuple[torch.Tensor, torch.Tensor], steps: int) -> float:
    """Return the median time of a training step with Adam, products in bf16."""
    kind = batch[0].device.type
    model = model.to(batch[0].device).train()
    adam = torch.optim.Adam(model.parameters(), fused=kind == "cuda")

    def step() -> None:
        with torch.autocast(kind, torch.bfloat16):
            logits = model(batch[0]).flatten(0, -2)
            loss = functional.cross_entropy(logits, batch[1].flatten())
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()
        adam.zero_grad()

    def timed() -> float:
        start = time.perf_counter()
        step()
        if kind == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - start

    for _ in range(min(steps, 5)):
        step()
    if kind == "cuda":
        torch.cuda.synchronize()
    return median(timed() for _ in range(steps))


def images(place: str, samples: int, side: int) -> tuple[torch.Tensor, torch.Tensor]:
    drawn = torch.randn(samples, 3, side, side, device=place)
    if place != "cpu":
        drawn = drawn.to(memory_format=torch.channels_last)
    return drawn, torch.zeros(samples, dtype=torch.int64, device=place)


def texts(place: str, samples: int, length: int, words: int) -> tuple[torch.Tensor, torch.Tensor]:
    tokens = torch.randint(words, (samples, length), device=place)
    return tokens, tokens.roll(-1, 1)


def test_the_steps_can_be_measured_and_have_the_models_they_are_predicted_for() -> None:
    assert step_seconds(ResNet("resnet50", 10), images("cpu", 2, 32), 1) > 0
    assert step_seconds(Decoder(1, 32, 2, 64, 8), texts("cpu", 2, 8, 64), 1) > 0
    with torch.device("meta"):
        gpt2 = Decoder(12, 768, 12, 50257, 1024)
    assert sum(one.numel() for one in gpt2.parameters()) == 124_439_808
    assert predicted("resnet50", SYSTEMS["H100"], 64) > 0
    assert predicted("gpt2", SYSTEMS["H100"], 8) > 0


def predicted(model: str, system: str, batch: int) -> float:
    """Return the predicted seconds of a step of ``batch`` samples on one GPU of ``system``."""
    answer = plan(model, f"{system}:1", micro_batch=batch, global_batch=batch, explained=False)
    return float(np.asarray(answer.plans[0].time.root.value))


@pytest.mark.gpu
def test_steps_of_one_gpu_are_foreseen() -> None:
    """In one run of at most ten minutes: the chip, and both steps beside their predictions."""
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    name = torch.cuda.get_device_name()
    system = next((one for key, one in SYSTEMS.items() if key in name), None)
    start = time.monotonic()
    chip = bench_chip(device="cuda", dtypes=("bf16",), shapes="4096,8192", seconds=1.0)
    rates = {row.name: row.value for row in chip.rows if row.value is not None}
    sys.stdout.write(f"{name}: {rates}\n")
    torch.backends.cudnn.benchmark = True
    resnet = ResNet("resnet50", 1000).to("cuda")
    for one in resnet.parameters():
        if one.dim() == 4:
            one.data = one.data.contiguous(memory_format=torch.channels_last)
    measured = {
        "resnet50": step_seconds(resnet, images("cuda", 64, 224), 30),
        "gpt2": step_seconds(Decoder(12, 768, 12, 50257, 1024), texts("cuda", 8, 1024, 50257), 30),
    }
    if system is None:
        pytest.skip(f"no system of the catalog has one {name}; measured {measured}")
    errors = {
        model: predicted(model, system, 64 if model == "resnet50" else 8) / seconds - 1
        for model, seconds in measured.items()
    }
    sys.stdout.write(f"measured {measured}, errors {errors}\n")
    assert time.monotonic() - start < 600
    assert all(abs(error) <= WITHIN for error in errors.values()), errors
