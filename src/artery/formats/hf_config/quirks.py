"""Architectures that say part of their shape in their own way, laid over the common reading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from artery.formats.hf_config.keys import Keys
from artery.workload.decoder import DecoderShape
from artery.workload.moe import Experts

Quirk = Callable[[Keys, DecoderShape], DecoderShape]


def _bigcode(keys: Keys, shape: DecoderShape) -> DecoderShape:
    """GPT-BigCode: one key-value head unless ``multi_query`` is false."""
    return replace(shape, kv_heads=1 if keys.flag("multi_query", default=True) else shape.heads)


def _dbrx(keys: Keys, shape: DecoderShape) -> DecoderShape:
    """DBRX: attention and experts in tables of their own."""
    attention, mlp = keys.sub("attn_config"), keys.sub("ffn_config")
    if attention is None or mlp is None:
        keys.missing("ffn_config" if mlp is None else "attn_config")
        return shape
    form = Experts(
        count=mlp.size("moe_num_experts"),
        top_k=mlp.size("moe_top_k"),
        width=mlp.size("ffn_hidden_size"),
    )
    kv_heads = attention.size("kv_n_heads", default=shape.heads)
    return replace(shape, kv_heads=kv_heads, experts=form)


def _falcon(keys: Keys, shape: DecoderShape) -> DecoderShape:
    """Falcon: grouped heads in the new architecture, else one or all; blocks mostly parallel."""
    new = keys.flag("new_decoder_architecture", default=False)
    parallel = new or keys.flag("parallel_attn", default=True)
    if not new:
        single = keys.flag("multi_query", default=True)
        shape = replace(shape, kv_heads=1 if single else shape.heads)
    paired = keys.size("num_ln_in_parallel_attn", default=2 if new else 1)
    rope = not keys.flag("alibi", default=False)
    return replace(shape, parallel=parallel, norms=paired if parallel else 2, rope=rope)


def _gpt_neo(keys: Keys, shape: DecoderShape) -> DecoderShape:
    """GPT-Neo: every second layer looks ``window_size`` tokens back."""
    window = keys.size("window_size", default=256)
    dropout = keys.share("resid_dropout")
    return replace(shape, windows=(0, window), dropout=dropout)


def _llama4(keys: Keys, shape: DecoderShape) -> DecoderShape:
    """Llama 4: dense layers have a width of their own."""
    width = keys.optional("intermediate_size_mlp")
    return replace(shape, feed_forward=width or shape.feed_forward)


def _mpt(keys: Keys, shape: DecoderShape) -> DecoderShape:
    """MPT: no biases by default, ALiBi in ``attn_config``, width as a ratio."""
    bare = keys.flag("no_bias", default=True)
    attention = keys.sub("attn_config")
    alibi = attention.flag("alibi", default=True) if attention else True
    kv_heads = attention.size("kv_n_heads", default=shape.heads) if attention else shape.heads
    if attention and attention.text("attn_type") == "multiquery_attention":
        kv_heads = 1
    return replace(
        shape,
        kv_heads=kv_heads,
        positions=0 if alibi else shape.positions,
        feed_forward=keys.size("expansion_ratio", default=4) * shape.hidden,
        qkv_bias=not bare,
        output_bias=not bare,
        mlp_bias=not bare,
        norm_bias=not bare,
    )


def _opt(keys: Keys, shape: DecoderShape) -> DecoderShape:
    """OPT: the smallest ones project their embedding or have no final norm."""
    before = keys.flag("do_layer_norm_before", default=True)
    removed = keys.flag("_remove_final_layer_norm", default=False)
    narrow = keys.size("word_embed_proj_dim", default=shape.hidden)
    return replace(shape, final_norm=before and not removed, embedding_width=narrow)


def _persimmon(keys: Keys, shape: DecoderShape) -> DecoderShape:
    """Persimmon: queries and keys are normed unless ``qk_layernorm`` is false."""
    normed = keys.flag("qk_layernorm", default=True)
    return replace(shape, query_key_norm="head" if normed else "none")


def _phi(keys: Keys, shape: DecoderShape) -> DecoderShape:
    """Phi: queries and keys are normed if ``qk_layernorm`` is true."""
    normed = keys.flag("qk_layernorm", default=False)
    return replace(shape, query_key_norm="head" if normed else "none")


def _qwen(keys: Keys, shape: DecoderShape) -> DecoderShape:
    """Qwen 1: ``intermediate_size`` counts gate and up projection together."""
    both = shape.feed_forward or keys.size("intermediate_size")
    keys.divides("2", 2, "intermediate_size", both)
    return replace(shape, feed_forward=both // 2)


def _stablelm(keys: Keys, shape: DecoderShape) -> DecoderShape:
    """StableLM: parallel blocks share their norm; queries and keys may have one."""
    shape = replace(shape, norms=1 if shape.parallel else 2)
    if keys.flag("qk_layernorm", default=False):
        return replace(shape, query_key_norm="row")
    return shape


QUIRKS: dict[str, Quirk] = {
    "dbrx": _dbrx,
    "falcon": _falcon,
    "gpt_bigcode": _bigcode,
    "gpt_neo": _gpt_neo,
    "llama4_text": _llama4,
    "mpt": _mpt,
    "opt": _opt,
    "persimmon": _persimmon,
    "phi": _phi,
    "qwen": _qwen,
    "stablelm": _stablelm,
}
"""The quirks by ``model_type``."""
