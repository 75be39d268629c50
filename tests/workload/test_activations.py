"""What a GPT layer keeps: the formulas of Korthikanti et al. 2022, arXiv 2205.05198.

Bytes per layer for s·b rows, hidden h, a heads, t-way tensor parallelism, Table 2.
"""

from __future__ import annotations

import pytest

from artery.core.workload import Layer, Saved
from artery.workload import DecoderShape, decoder, gpt_shape
from tests.workload.counting import kept_bytes

# (layers, hidden, heads) of Table 3, all with 2,048 tokens; t is 8 in all of them.
MODELS = {
    "22B": (48, 6144, 64),
    "175B": (96, 12288, 96),
    "530B": (105, 20480, 128),
    "1T": (128, 25600, 160),
}
S, T = 2048, 8


def gpt_layer(name: str) -> tuple[Layer, int, int]:
    layers, h, a = MODELS[name]
    shape = gpt_shape(layers=layers, hidden=h, heads=a, vocab=51200, sequence=S)
    return decoder(name, shape).layers[0], h, a


def outside_core(item: Saved) -> bool:
    return not item.core


@pytest.mark.parametrize("name", MODELS)
def test_no_parallelism(name: str) -> None:
    layer, h, a = gpt_layer(name)
    assert kept_bytes(layer, S) == pytest.approx(h * (34 + 5 * a * S / h), rel=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_tensor_parallel(name: str) -> None:
    layer, h, a = gpt_layer(name)
    expected = h * (10 + 24 / T + 5 * a * S / (h * T))
    assert kept_bytes(layer, S, tp=T) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_tensor_and_sequence_parallel(name: str) -> None:
    layer, h, a = gpt_layer(name)
    expected = h / T * (34 + 5 * a * S / h)
    assert kept_bytes(layer, S, tp=T, sharded=True) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_tensor_parallel_and_selective_recomputation(name: str) -> None:
    layer, h, _ = gpt_layer(name)
    kept = kept_bytes(layer, S, tp=T, which=outside_core)
    assert kept == pytest.approx(h * (10 + 24 / T), rel=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_all_three(name: str) -> None:
    layer, h, _ = gpt_layer(name)
    kept = kept_bytes(layer, S, tp=T, sharded=True, which=outside_core)
    assert kept == pytest.approx(34 * h / T, rel=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_what_full_recomputation_keeps_is_the_boundary(name: str) -> None:
    # Section 5: 2sbh with full recomputation, the layer's 16-bit input.
    layer, h, _ = gpt_layer(name)
    assert layer.boundary == h


def test_llama_keeps_by_hand() -> None:
    # h = 64, 8 heads of 8, 2 key-value heads, gate of width 160, no dropout; elements per row:
    # two norm inputs and the two block inputs 4·64, Q + K + V 64 + 2·16, attention output 64,
    # gate, up and product 3·160; and one softmax output per head and key.
    shape = DecoderShape(
        layers=1,
        hidden=64,
        heads=8,
        kv_heads=2,
        feed_forward=160,
        gated=True,
        vocab=100,
        sequence=16,
    )
    layer = decoder("small", shape).layers[0]
    assert kept_bytes(layer, 16, which=outside_core) == 2 * (4 * 64 + 96 + 64 + 480)
    assert kept_bytes(layer, 16, which=lambda item: item.core) == 2 * 8 * 16


def test_dropout_masks_only_where_there_is_dropout() -> None:
    dry = DecoderShape(layers=1, hidden=64, heads=8, vocab=100, sequence=16)
    names = [item.name for part in decoder("dry", dry).parts for item in part.saved]
    assert names
    assert not [name for name in names if "mask" in name]
