"""Decoders: operators, splits and shapes of every variant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from artery.core.workload import Attention, Elementwise, Layer, Matmul
from artery.workload import DecoderShape, decoder, gpt_shape
from artery.workload.attention import QueryKeyNorm
from tests.workload.counting import elementwise

SMALL = DecoderShape(
    layers=4,
    hidden=64,
    heads=8,
    kv_heads=2,
    feed_forward=160,
    gated=True,
    vocab=100,
    sequence=16,
)


def only(shape: DecoderShape) -> Layer:
    (layer,) = decoder("small", shape).layers
    return layer


def product(layer: Layer, name: str) -> Matmul:
    (found,) = [op for op in layer.operators if isinstance(op, Matmul) and op.name == name]
    return found


def core(layer: Layer) -> Attention:
    (found,) = [op for op in layer.operators if isinstance(op, Attention)]
    return found


def test_products_of_a_grouped_query_layer() -> None:
    layer = only(SMALL)
    qkv, out = product(layer, "qkv"), product(layer, "attention out")
    assert (qkv.k, qkv.n, qkv.side) == (64, 64 + 2 * 16, "column")
    assert (out.k, out.n, out.side) == (64, 64, "row")
    assert product(layer, "mlp in").n == 2 * 160
    assert (product(layer, "mlp out").k, product(layer, "mlp out").side) == (160, "row")
    assert (core(layer).heads, core(layer).kv_heads, core(layer).qk_dim) == (8, 2, 8)


def test_parameters_by_hand() -> None:
    # Per layer: qkv 64·96, out 64·64, gate and up 64·320, down 160·64, two norms of 64.
    workload = decoder("small", SMALL)
    layer = 64 * 96 + 64 * 64 + 64 * 320 + 160 * 64 + 2 * 64
    assert workload.parameters == 4 * layer + 2 * 100 * 64 + 64
    assert decoder("tied", replace(SMALL, tied=True)).parameters == 4 * layer + 100 * 64 + 64


def test_equal_layers_are_counted_once() -> None:
    workload = decoder("small", SMALL)
    assert [layer.count for layer in workload.layers] == [4]
    assert workload.depth == 4


def test_heads_need_not_fill_the_hidden_size() -> None:
    layer = only(replace(SMALL, head_dim=24))
    assert product(layer, "qkv").n == (8 + 2 * 2) * 24
    assert product(layer, "attention out").k == 8 * 24


def test_multi_query_is_one_key_head() -> None:
    assert product(only(replace(SMALL, kv_heads=1)), "qkv").n == 64 + 2 * 8


def test_windows_alternate_in_order() -> None:
    workload = decoder("windows", replace(SMALL, windows=(8, 0)))
    assert [layer.count for layer in workload.layers] == [1, 1, 1, 1]
    assert [core(layer).window for layer in workload.layers] == [8, None, 8, None]


def test_a_pattern_of_windows_that_ends_mid_way() -> None:
    workload = decoder("windows", replace(SMALL, layers=5, windows=(8, 8, 0)))
    assert [(layer.count, core(layer).window) for layer in workload.layers] == [
        (2, 8),
        (1, None),
        (2, 8),
    ]


@pytest.mark.parametrize(
    ("parallel", "norms", "reductions"), [(False, 2, 2), (True, 1, 1), (True, 2, 1)]
)
def test_parallel_blocks_reduce_once(parallel: bool, norms: int, reductions: int) -> None:
    layer = only(replace(SMALL, parallel=parallel, norms=norms))
    assert layer.reductions == reductions
    assert sum(op.name.startswith("norm") for op in elementwise(layer)) == norms


def test_parallel_blocks_with_one_norm_keep_one_input() -> None:
    serial, parallel = only(SMALL), only(replace(SMALL, parallel=True, norms=1))
    lost = sum(item.elements for item in serial.saved) - sum(
        item.elements for item in parallel.saved
    )
    assert lost == 2 * 64  # one norm input and one block input


@pytest.mark.parametrize(
    ("kind", "weights"), [("none", 0), ("plain", 0), ("head", 2 * 8), ("row", 64 + 16)]
)
def test_query_key_norms(kind: QueryKeyNorm, weights: int) -> None:
    bare = decoder("bare", SMALL).parameters
    normed = decoder("normed", replace(SMALL, query_key_norm=kind)).parameters
    assert normed - bare == 4 * weights


def test_biases_by_hand() -> None:
    biased = replace(SMALL, qkv_bias=True, output_bias=True, mlp_bias=True, head_bias=True)
    added = decoder("biased", biased).parameters - decoder("bare", SMALL).parameters
    assert added == 4 * (96 + 64 + 320 + 64) + 100


def test_sinks_are_one_number_per_head() -> None:
    added = decoder("s", replace(SMALL, sinks=True)).parameters - decoder("b", SMALL).parameters
    assert added == 4 * 8


def test_learned_positions_and_projected_embedding() -> None:
    base = decoder("bare", SMALL).parameters
    assert decoder("p", replace(SMALL, positions=18)).parameters == base + 18 * 64
    narrow = decoder("n", replace(SMALL, embedding_width=32)).parameters
    # Two tables of width 32 instead of 64, and two projections between 32 and 64.
    assert narrow == base - 2 * 100 * 32 + 2 * 32 * 64


def test_elementwise_of_a_norm_and_a_residual() -> None:
    layer = only(SMALL)
    norm = next(op for op in elementwise(layer) if op.name == "norm 1")
    assert (norm.forward, norm.backward) == (2 * 64, 3 * 64)
    residual = next(op for op in elementwise(layer) if op.name == "mlp residual")
    assert (residual.forward, residual.backward) == (3 * 64, 3 * 64)
    gate = next(op for op in elementwise(layer) if op.name == "mlp activation")
    assert (gate.forward, gate.backward, gate.split) == (3 * 160, 5 * 160, "tensor")


def test_scores_are_not_elementwise_work() -> None:
    shape = gpt_shape(layers=1, hidden=64, heads=8, vocab=100, sequence=16)
    names = [op.name for op in elementwise(only(shape))]
    assert names
    assert not [name for name in names if "softmax" in name or "score" in name]


def test_rotation_touches_queries_and_keys_only() -> None:
    (rotary,) = [op for op in elementwise(only(SMALL)) if op.name == "rotary embedding"]
    assert rotary.forward == 2 * (64 + 16)
    still = only(replace(SMALL, rope=False))
    assert not [op for op in elementwise(still) if op.name == "rotary embedding"]


def test_the_ends() -> None:
    workload = decoder("small", SMALL)
    assert workload.logits == 100
    assert workload.first.reductions == 1
    head = workload.last.operators
    assert [op for op in head if isinstance(op, Matmul)] == [
        Matmul("head", 64, 100, "column", "vocab")
    ]
    assert any(isinstance(op, Elementwise) and op.name == "loss" for op in head)
    assert (workload.heads, workload.kv_heads, workload.hidden) == (8, 2, 64)
