"""Reads decoder transformers under all the names that their configurations use."""

from __future__ import annotations

from artery.formats.hf_config.experts import dense_layers, experts
from artery.formats.hf_config.keys import DEEPEST_MODEL, Keys
from artery.formats.hf_config.latent import latent, unindexed_layers
from artery.formats.hf_config.quirks import QUIRKS
from artery.formats.hf_config.recurrent import linear, linear_layers
from artery.formats.hf_config.styles import STYLES, Style, switched
from artery.formats.hf_config.windows import windows
from artery.workload.decoder import DecoderShape

HIDDEN = ("hidden_size", "n_embd", "n_embed", "d_model")
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num")
WIDTH = ("intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size")
LONGEST = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "n_ctx")
VOCAB = ("vocab_size", "padded_vocab_size")

USUAL_SEQUENCE = 4096
"""Assumed tokens per sample where the model allows more: no configuration says how it was used."""


def decoder_shape(keys: Keys, kind: str) -> DecoderShape:
    """Return the shape of a decoder of model type ``kind``, one of ``STYLES``.

    What is missing or wrong is noted in ``keys``; the shape is only good once that has settled.
    """
    style = STYLES[kind]
    hidden, layers = keys.size(*HIDDEN), keys.size(*LAYERS, at_most=DEEPEST_MODEL)
    heads = keys.size(*HEADS)
    longest = keys.optional(*LONGEST)
    normed = style.query_key_norm if switched(keys, style.query_key_norm_if) else "none"
    shape = DecoderShape(
        layers=layers,
        hidden=hidden,
        heads=heads,
        vocab=keys.size(*VOCAB),
        sequence=usual_sequence(keys, longest),
        max_sequence=longest,
        kv_heads=keys.size(*KV_HEADS, default=heads),
        head_dim=_head_dim(keys, style),
        feed_forward=keys.optional(*WIDTH),
        gated=style.gated,
        norm=style.norm,
        norm_bias=style.norm_bias,
        norms=style.norms,
        qkv_bias=switched(keys, style.qkv_bias),
        output_bias=switched(keys, style.output_bias),
        mlp_bias=switched(keys, style.mlp_bias),
        head_bias=switched(keys, style.head_bias),
        rope=style.rope,
        positions=_positions(keys, style, longest),
        query_key_norm=normed,
        attention_gate=style.linear,
        sinks=style.sinks,
        parallel=switched(keys, style.parallel),
        windows=windows(keys, style, layers),
        tied=keys.flag("tie_word_embeddings", default=style.tied),
        embedding_norm=style.embedding_norm,
        dropout=keys.share("resid_pdrop", "hidden_dropout", "residual_dropout", "dropout"),
        attention_dropout=keys.share("attention_dropout", "attn_pdrop"),
        embedding_dropout=keys.share("embd_pdrop", "embedding_dropout", "emb_pdrop"),
        latent=latent(keys),
        unindexed_layers=unindexed_layers(keys),
        linear=linear(keys, style),
        linear_layers=linear_layers(keys, style, layers),
        experts=experts(keys, style),
        dense_layers=dense_layers(keys, layers),
    )
    if kind in QUIRKS:
        shape = QUIRKS[kind](keys, shape)
    _check(keys, shape)
    return shape


def usual_sequence(keys: Keys, longest: int | None) -> int:
    """Return the tokens per sample to plan for, and say that they are an assumption."""
    tokens = min(longest or USUAL_SEQUENCE, USUAL_SEQUENCE)
    keys.note(f"A configuration has no training length: {tokens:,} tokens per sample are taken.")
    return tokens


def _head_dim(keys: Keys, style: Style) -> int | None:
    """Return the width of a head where the file or the architecture gives one."""
    given = keys.optional("head_dim", "kv_channels", "attention_head_dim")
    if given is None and style.head_dim is not None:
        keys.note(
            f"head_dim is not given; the architecture's default of {style.head_dim} is taken."
        )
        return style.head_dim
    return given


def _positions(keys: Keys, style: Style, longest: int | None) -> int:
    """Return the number of learned position rows."""
    if not switched(keys, style.positions):
        return 0
    if longest is None:
        keys.missing(*LONGEST)
        return 1
    return longest + style.position_offset


def _check(keys: Keys, shape: DecoderShape) -> None:
    """Note what does not fit together."""
    head, _ = keys.value(*HEADS)
    if shape.latent is None:
        keys.divides(keys.value(*KV_HEADS)[0], shape.kv_heads or 1, head, shape.heads)
        if shape.head_dim is None:
            keys.divides(head, shape.heads, keys.value(*HIDDEN)[0], shape.hidden)
    mixed = shape.experts is not None and len(shape.dense_layers) < shape.layers
    if shape.feed_forward is None and shape.gated and not mixed:
        keys.missing(*WIDTH)
    if shape.experts is not None and shape.experts.top_k > shape.experts.count:
        keys.problem(
            keys.value("num_experts_per_tok", "experts_per_token")[0],
            str(shape.experts.top_k),
            f"a row cannot meet more than the {shape.experts.count} experts there are",
            "correct one of the two",
        )
