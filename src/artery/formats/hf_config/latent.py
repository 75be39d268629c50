"""Reads multi-head latent attention."""

from __future__ import annotations

from artery.formats.hf_config.keys import Keys
from artery.workload.mla import Indexer, LatentAttention


def latent(keys: Keys) -> LatentAttention | None:
    """Return the latent attention, or None if the model has none.

    A missing or null ``q_lora_rank`` means that queries are not compressed.
    """
    rank = keys.optional("kv_lora_rank")
    if rank is None:
        return None
    return LatentAttention(
        q_rank=keys.optional("q_lora_rank") or 0,
        kv_rank=rank,
        nope_dim=keys.size("qk_nope_head_dim"),
        rope_dim=keys.size("qk_rope_head_dim"),
        v_dim=keys.size("v_head_dim"),
        bias=keys.flag("attention_bias", default=False),
        indexer=_indexer(keys),
    )


def unindexed_layers(keys: Keys) -> tuple[int, ...]:
    """Return the layers without an indexer of their own."""
    kinds = keys.texts("indexer_types")
    return tuple(index for index, kind in enumerate(kinds) if kind == "shared")


def _indexer(keys: Keys) -> Indexer | None:
    """Return the indexer of sparse attention, or None."""
    heads = keys.optional("index_n_heads")
    if heads is None:
        return None
    keys.note("The indexer of sparse attention is counted, not timed: attention is taken as dense.")
    return Indexer(heads=heads, head_dim=keys.size("index_head_dim"), top_k=keys.size("index_topk"))
