"""Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1)."""

from __future__ import annotations

from dataclasses import dataclass

from artery.core.workload import Attention, Parameter, Saved
from artery.workload.attention import rotation, score_core
from artery.workload.sublayer import NOTHING, Sublayer, linear, norm


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexer:
    """The lightning indexer of DeepSeek sparse attention: ``top_k`` keys are chosen per query."""

    heads: int
    head_dim: int
    top_k: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """Shape of the compressed projections.

    Queries pass through ``q_rank`` elements (0: straight from hidden), keys and values through
    ``kv_rank``; each head has ``nope_dim`` unrotated and ``rope_dim`` rotated query-key elements,
    the rotated key being shared by all heads, and ``v_dim`` value elements.
    """

    q_rank: int
    kv_rank: int
    nope_dim: int
    rope_dim: int
    v_dim: int
    bias: bool = False
    indexer: Indexer | None = None


def latent_attention(shape: LatentAttention, hidden: int, heads: int) -> Sublayer:
    """Return down- and up-projections, norms of the latents, score core, output projection.

    In training keys and values are expanded per head (no weight absorption), so the core has
    ``heads`` heads of nope + rope query-key and ``v_dim`` value elements.
    """
    query_dim = shape.nope_dim + shape.rope_dim
    kept = Sublayer(saved=(Saved("attention input", hidden, "sequence"),))
    expanded = heads * (2 * query_dim + shape.v_dim)
    core = score_core(Attention("attention", heads, heads, query_dim, shape.v_dim, causal=True), 0)
    values = heads * shape.v_dim
    return (
        kept
        + _queries(shape, hidden, heads * query_dim)
        + _keys_and_values(shape, hidden, heads)
        + rotation((heads + 1) * shape.rope_dim)
        + Sublayer(saved=(Saved("queries, keys, values", expanded, "tensor"),))
        + _indexer(shape, hidden)
        + core
        + Sublayer(saved=(Saved("attention output", values, "tensor"),))
        + linear("attention out", values, hidden, side="row", bias=shape.bias)
    )


def _queries(shape: LatentAttention, hidden: int, width: int) -> Sublayer:
    """Return hidden to query heads, through the query latent if there is one."""
    if not shape.q_rank:
        return linear("query", hidden, width, side="column", bias=False)
    return (
        linear("query down", hidden, shape.q_rank, side="none", bias=shape.bias)
        + norm("query latent norm", shape.q_rank, "rms")
        + Sublayer(saved=(Saved("query latent", shape.q_rank, "sequence"),))
        + linear("query up", shape.q_rank, width, side="column", bias=False)
    )


def _keys_and_values(shape: LatentAttention, hidden: int, heads: int) -> Sublayer:
    """Return hidden to key and value heads through their common latent."""
    down, up = shape.kv_rank + shape.rope_dim, heads * (shape.nope_dim + shape.v_dim)
    return (
        linear("key-value down", hidden, down, side="none", bias=shape.bias)
        + norm("key-value latent norm", shape.kv_rank, "rms")
        + Sublayer(saved=(Saved("key-value latent", shape.kv_rank, "sequence"),))
        + linear("key-value up", shape.kv_rank, up, side="column", bias=False)
    )


def _indexer(shape: LatentAttention, hidden: int) -> Sublayer:
    """Return the indexer's weights; its choice of keys is not timed (the core stays dense)."""
    indexer = shape.indexer
    if indexer is None:
        return NOTHING
    width = indexer.heads * indexer.head_dim
    return Sublayer(
        parameters=(
            Parameter("indexer query weight", (shape.q_rank or hidden, width), "none"),
            Parameter("indexer key weight", (hidden, indexer.head_dim), "none"),
            Parameter("indexer key norm", (2, indexer.head_dim), "none"),
            Parameter("indexer head weights", (hidden, indexer.heads), "none"),
        )
    )
