"""The model that Megatron-LM's arguments describe (``megatron/training/arguments.py``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from artery.core.workload import Workload
from artery.formats.syntax.numerals import number, whole
from artery.workload.decoder import DecoderShape, decoder
from artery.workload.moe import Experts

Arguments = Mapping[str, str]

VOCABULARY: Final = {
    "GPT2BPETokenizer": 50_257, "Llama2Tokenizer": 32_000, "Llama3Tokenizer": 128_256,
    "BertWordPieceLowerCase": 30_522,
}  # fmt: skip
"""Entries of the tokenizers whose name decides them (their published files)."""

LARGEST: Final = 10**7
"""Assumed: no layer, width or vocabulary is larger."""


def said(arguments: Arguments, name: str) -> bool:
    """Whether a flag is given, and not as false."""
    return arguments.get(name, "false").strip().casefold() not in {"false", "none", "0", "no"}


def positive(arguments: Arguments, name: str) -> int | None:
    """Return a whole number above zero, or ``None``."""
    value = whole(arguments.get(name))
    return value if value is not None and value >= 1 else None


def vocabulary(arguments: Arguments, tp: int) -> int | None:
    """Return the padded vocabulary: a multiple of 128·tp, as Megatron pads it."""
    padded = positive(arguments, "padded_vocab_size")
    if padded is not None:
        return padded
    size = positive(arguments, "vocab_size") or VOCABULARY.get(arguments.get("tokenizer_type", ""))
    if size is None:
        return None
    step = (positive(arguments, "make_vocab_size_divisible_by") or 128) * tp
    return -(-size // step) * step


def missing(arguments: Arguments, tp: int) -> list[str]:
    """Return the arguments without which the model is not known."""
    needed = ("num_layers", "hidden_size", "num_attention_heads")
    found = [name for name in needed if positive(arguments, name) is None]
    return found if vocabulary(arguments, tp) else [*found, "vocab_size"]


def model(arguments: Arguments, tp: int, sequence: int) -> Workload | None:
    """Return the decoder, or ``None`` if its shape is not said or is of another kind."""
    layers, hidden = positive(arguments, "num_layers"), positive(arguments, "hidden_size")
    heads, vocab = positive(arguments, "num_attention_heads"), vocabulary(arguments, tp)
    if layers is None or hidden is None or heads is None or vocab is None:
        return None
    sizes = (
        layers,
        hidden,
        heads,
        vocab,
        sequence,
        *(positive(arguments, name) or 1 for name in _SIZES),
    )
    if said(arguments, "multi_latent_attention") or max(sizes) > LARGEST:
        return None
    gated = said(arguments, "swiglu")
    width = positive(arguments, "ffn_hidden_size") or _width(hidden, gated)
    rms = arguments.get("normalization", "LayerNorm") == "RMSNorm"
    bias = not said(arguments, "disable_bias_linear")
    rotary = "rope" in arguments.get("position_embedding_type", "") or said(
        arguments, "use_rotary_position_embeddings"
    )
    grouped = (
        positive(arguments, "num_query_groups")
        if said(arguments, "group_query_attention")
        else None
    )
    shape = DecoderShape(
        layers=layers, hidden=hidden, heads=heads, vocab=vocab, sequence=sequence,
        max_sequence=positive(arguments, "max_position_embeddings"), kv_heads=grouped,
        head_dim=positive(arguments, "kv_channels"), feed_forward=width, gated=gated,
        norm="rms" if rms else "layer", qkv_bias=bias or said(arguments, "add_qkv_bias"),
        output_bias=bias, mlp_bias=bias, rope=rotary,
        positions=0 if rotary else positive(arguments, "max_position_embeddings") or sequence,
        tied=not said(arguments, "untie_embeddings_and_output_weights"),
        dropout=_share(arguments, "hidden_dropout"),
        attention_dropout=_share(arguments, "attention_dropout"),
        embedding_dropout=_share(arguments, "hidden_dropout"),
        experts=_experts(arguments, width, gated, bias),
        global_batch=positive(arguments, "global_batch_size"),
    )  # fmt: skip
    return decoder("model of the arguments", shape)


_SIZES: Final = ("ffn_hidden_size", "num_experts", "moe_ffn_hidden_size", "max_position_embeddings",
                 "kv_channels", "num_query_groups")  # fmt: skip


def _width(hidden: int, gated: bool) -> int:
    """The width when none is said: 4·hidden, or two thirds of it in steps of 64 if gated."""
    return int(4 * hidden * 2 / 3 / 64) * 64 if gated else 4 * hidden


def _share(arguments: Arguments, name: str) -> float:
    """A probability of dropout; Megatron's default is 0.1."""
    value = number(arguments.get(name, "0.1"))
    return value if value is not None and 0 <= value < 1 else 0.1


def _experts(arguments: Arguments, width: int, gated: bool, bias: bool) -> Experts | None:
    count = positive(arguments, "num_experts")
    if count is None:
        return None
    return Experts(
        count=count,
        top_k=min(positive(arguments, "moe_router_topk") or 2, count),
        width=positive(arguments, "moe_ffn_hidden_size") or width,
        gated=gated,
        bias=bias,
        shared_width=positive(arguments, "moe_shared_expert_intermediate_size") or 0,
    )
