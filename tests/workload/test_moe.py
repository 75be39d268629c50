"""Mixtures of experts and latent attention."""

from __future__ import annotations

from dataclasses import replace

from artery.core.workload import Attention, Matmul
from artery.workload import DecoderShape, Experts, Indexer, LatentAttention, decoder

EXPERTS = Experts(count=8, top_k=2, width=32, shared_width=48)
MIXED = DecoderShape(
    layers=5,
    hidden=64,
    heads=8,
    feed_forward=160,
    gated=True,
    vocab=100,
    sequence=16,
    experts=EXPERTS,
    dense_layers=(0, 2),
)
ATTENTION = 64 * 192 + 64 * 64
EXPERT = 64 * 64 + 32 * 64
SHARED = 64 * 96 + 48 * 64


def test_dense_layers_keep_their_place() -> None:
    workload = decoder("mixed", MIXED)
    assert [(layer.name, layer.count) for layer in workload.layers] == [
        ("layer", 1),
        ("mixture layer", 1),
        ("layer", 1),
        ("mixture layer", 2),
    ]
    assert [layer.routing is not None for layer in workload.layers] == [False, True, False, True]


def test_parameters_by_hand() -> None:
    mixture = ATTENTION + 2 * 64 + 64 * 8 + 8 * EXPERT + SHARED
    dense = ATTENTION + 2 * 64 + 64 * 320 + 160 * 64
    workload = decoder("mixed", MIXED)
    assert workload.parameters == 3 * mixture + 2 * dense + 2 * 100 * 64 + 64
    assert workload.active_parameters == workload.parameters - 3 * 6 * EXPERT


def test_each_row_meets_top_k_experts() -> None:
    layer = decoder("mixed", MIXED).layers[1]
    experts = [op for op in layer.operators if isinstance(op, Matmul) and op.split == "expert"]
    assert [(op.k, op.n, op.rows) for op in experts] == [(64, 64, 2), (32, 64, 2)]
    assert layer.routing is not None
    assert (layer.routing.experts, layer.routing.top_k, layer.routing.width) == (8, 2, 64)


def test_the_router_is_cut_by_nothing() -> None:
    layer = decoder("mixed", MIXED).layers[1]
    (router,) = [op for op in layer.operators if isinstance(op, Matmul) and op.name == "router"]
    assert (router.side, router.k, router.n) == ("none", 64, 8)


def test_only_attention_and_shared_experts_reduce() -> None:
    bare = replace(MIXED, experts=replace(EXPERTS, shared_width=0))
    assert decoder("shared", MIXED).layers[1].reductions == 2
    assert decoder("routed", bare).layers[1].reductions == 1


def test_biases_and_gate_by_hand() -> None:
    full = replace(EXPERTS, bias=True, router_bias=True, shared_bias=True, shared_gate=True)
    added = (
        decoder("full", replace(MIXED, experts=full)).parameters - decoder("bare", MIXED).parameters
    )
    assert added == 3 * (8 * (64 + 64) + 8 + (96 + 64) + 64)


LATENT = LatentAttention(q_rank=24, kv_rank=16, nope_dim=8, rope_dim=4, v_dim=6)


def latent_parameters(latent: LatentAttention) -> int:
    """Attention weights of one layer."""
    shape = replace(MIXED, latent=latent, experts=None, layers=1)
    layer = decoder("latent", shape).layers[0]
    return sum(p.size for p in layer.parameters) - 2 * 64 - 64 * 320 - 160 * 64


def test_latent_attention_by_hand() -> None:
    # arXiv 2405.04434, section 2.1: query down 64·24, norm 24, up 24·8·12; key-value down
    # 64·(16+4), norm 16, up 16·8·(8+6); output 8·6·64.
    queries = 64 * 24 + 24 + 24 * 8 * 12
    keys = 64 * 20 + 16 + 16 * 8 * 14
    assert latent_parameters(LATENT) == queries + keys + 8 * 6 * 64


def test_no_query_rank_means_no_query_compression() -> None:
    straight = latent_parameters(replace(LATENT, q_rank=0))
    assert straight == 64 * 8 * 12 + 64 * 20 + 16 + 16 * 8 * 14 + 8 * 6 * 64


def test_latent_scores_have_their_own_widths() -> None:
    shape = replace(MIXED, latent=LATENT)
    (core,) = [op for op in decoder("l", shape).layers[0].operators if isinstance(op, Attention)]
    assert (core.heads, core.kv_heads, core.qk_dim, core.v_dim) == (8, 8, 12, 6)


def test_only_layers_with_an_indexer_pay_for_it() -> None:
    indexed = replace(LATENT, indexer=Indexer(heads=2, head_dim=10, top_k=4))
    shape = replace(MIXED, experts=None, latent=indexed, unindexed_layers=(1, 2))
    bare = decoder("bare", replace(shape, latent=LATENT)).parameters
    # Query 24·20, key 64·10, key norm 2·10, head weights 64·2, in three of five layers.
    assert decoder("i", shape).parameters - bare == 3 * (24 * 20 + 64 * 10 + 20 + 128)
