"""What an architecture implies and its ``config.json`` does not say, per ``model_type``.

Each entry states what the published implementation of that architecture (Hugging Face
transformers 5.24.0, or the code that comes with the model) builds: which maps have biases, which
norm, how many norms per layer, whether blocks are parallel, and the defaults of absent keys.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from artery.formats.hf_config.keys import Keys
from artery.workload.attention import QueryKeyNorm
from artery.workload.sublayer import NormKind

Switch = bool | str
"""True or false, or the name of the key that says so (absent: false; ``+name``: absent is true)."""

Windows = Literal["none", "all", "even", "sixth", "fourth", "late", "chunked"]
"""Which layers have the attention window where no ``layer_types`` says so.

``even``: layers 0, 2, ...; ``sixth`` and ``fourth``: all but every sixth or fourth; ``late``:
from ``max_window_layers`` on, if ``use_sliding_window``; ``chunked``: all but every fourth.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """One architecture of decoder; the defaults are Llama's.

    ``positions`` says that positions are learned, ``position_offset`` how many rows precede the
    first one. ``head_dim`` is the architecture's default for an absent key. ``shared`` says that
    mixture layers have a shared expert even though no key tells. ``linear`` allows layers of
    linear attention, beside gated self-attention.
    """

    gated: bool = True
    norm: NormKind = "rms"
    norm_bias: bool = True
    norms: int = 2
    qkv_bias: Switch = False
    output_bias: Switch = False
    mlp_bias: Switch = False
    head_bias: Switch = False
    router_bias: bool = False
    expert_bias: bool = False
    query_key_norm: QueryKeyNorm = "none"
    query_key_norm_if: Switch = True
    parallel: Switch = False
    tied: bool = False
    rope: bool = True
    positions: Switch = False
    position_offset: int = 0
    embedding_norm: bool = False
    head_dim: int | None = None
    windows: Windows = "none"
    sinks: bool = False
    shared: bool = False
    shared_gate: bool = False
    linear: bool = False


def switched(keys: Keys, switch: Switch) -> bool:
    """Return what a style's switch says in this file."""
    if isinstance(switch, bool):
        return switch
    return keys.flag(switch.removeprefix("+"), default=switch.startswith("+"))


_LLAMA = Style(qkv_bias="attention_bias", output_bias="attention_bias", mlp_bias="mlp_bias")

_GPT = Style(
    gated=False,
    norm="layer",
    qkv_bias=True,
    output_bias=True,
    mlp_bias=True,
    tied=True,
    rope=False,
)
"""GPT-2's kin: LayerNorm, biases everywhere, no gate, tied embedding."""

_GEMMA = replace(_LLAMA, mlp_bias=False, head_dim=256, tied=True)

_DEEPSEEK = replace(_LLAMA, mlp_bias=False)

_QWEN_NEXT = replace(
    _LLAMA, mlp_bias=False, query_key_norm="head", head_dim=256, shared_gate=True, linear=True
)
"""Qwen3-Next and Qwen3.5: three layers of linear attention to one of gated self-attention."""

_GLM = Style(qkv_bias="+attention_bias")

STYLES: dict[str, Style] = {
    "arcee": replace(_LLAMA, gated=False),
    "baichuan": Style(),
    "bloom": replace(_GPT, embedding_norm=True),
    "cohere": replace(
        _LLAMA,
        mlp_bias=False,
        norm="layer",
        norm_bias=False,
        norms=1,
        parallel=True,
        tied=True,
        query_key_norm="row",
        query_key_norm_if="use_qk_norm",
    ),
    "cohere2": replace(
        _LLAMA,
        mlp_bias=False,
        norm="layer",
        norm_bias=False,
        norms=1,
        parallel=True,
        tied=True,
        windows="fourth",
    ),
    "cwm": Style(mlp_bias="mlp_bias"),
    "dbrx": Style(norm="layer", norm_bias=False),
    "deepseek_v2": _LLAMA,
    "deepseek_v3": _DEEPSEEK,
    "deepseek_v32": _DEEPSEEK,
    "dots1": replace(_DEEPSEEK, query_key_norm="head"),
    "ernie4_5": Style(qkv_bias="use_bias", output_bias="use_bias", mlp_bias="use_bias", tied=True),
    "ernie4_5_moe": Style(
        qkv_bias="use_bias",
        output_bias="use_bias",
        mlp_bias="use_bias",
        head_bias="use_bias",
        router_bias=True,
        tied=True,
    ),
    "codegen": replace(
        _GPT,
        qkv_bias=False,
        output_bias=False,
        head_bias=True,
        norms=1,
        parallel=True,
        tied=False,
        rope=True,
    ),
    "exaone4": Style(query_key_norm="head", windows="fourth"),
    "exaone_moe": Style(query_key_norm="head", windows="fourth"),
    "falcon": replace(_GPT, qkv_bias="bias", output_bias="bias", mlp_bias="bias", rope=True),
    "flex_olmo": replace(_LLAMA, mlp_bias=False, query_key_norm="row"),
    "gemma": _GEMMA,
    "gemma2": replace(_GEMMA, norms=4, windows="even"),
    "gemma3_text": replace(_GEMMA, norms=4, query_key_norm="head", windows="sixth"),
    "glm": _GLM,
    "glm4": replace(_GLM, norms=4),
    "glm4_moe": Style(
        qkv_bias="attention_bias", query_key_norm="head", query_key_norm_if="use_qk_norm"
    ),
    "glm4_moe_lite": _DEEPSEEK,
    "glm_moe_dsa": _DEEPSEEK,
    "gpt2": replace(_GPT, positions=True),
    "gpt_bigcode": replace(_GPT, positions=True),
    "gpt_neo": replace(_GPT, positions=True, qkv_bias=False),
    "gpt_neox": replace(
        _GPT,
        qkv_bias="+attention_bias",
        output_bias="+attention_bias",
        parallel="+use_parallel_residual",
        tied=False,
        rope=True,
    ),
    "gpt_oss": Style(
        qkv_bias="+attention_bias",
        output_bias="+attention_bias",
        router_bias=True,
        expert_bias=True,
        windows="even",
        sinks=True,
    ),
    "gptj": replace(
        _GPT,
        qkv_bias=False,
        output_bias=False,
        head_bias=True,
        norms=1,
        parallel=True,
        tied=False,
        rope=True,
    ),
    "granite": _LLAMA,
    "granitemoe": replace(_LLAMA, mlp_bias=False),
    "granitemoeshared": replace(_LLAMA, mlp_bias=False),
    "helium": replace(_LLAMA, output_bias=False),
    "hunyuan_v1_dense": replace(_LLAMA, mlp_bias=False, query_key_norm="head"),
    "hunyuan_v1_moe": replace(_LLAMA, mlp_bias=False, query_key_norm="head", shared=True),
    "internlm": Style(qkv_bias="+bias", output_bias="+bias"),
    "internlm2": Style(qkv_bias="bias", output_bias="bias"),
    "internlm3": _LLAMA,
    "iquestcoder": _LLAMA,
    "jais2": Style(
        gated=False,
        norm="layer",
        qkv_bias="+attention_bias",
        output_bias="+attention_bias",
        mlp_bias="+mlp_bias",
    ),
    "kimi_k2": _DEEPSEEK,
    "llama": _LLAMA,
    "llama4_text": replace(
        _LLAMA,
        mlp_bias=False,
        query_key_norm="plain",
        query_key_norm_if="+use_qk_norm",
        windows="chunked",
        shared=True,
    ),
    "minicpm": replace(_LLAMA, mlp_bias=False, tied=True),
    "minicpm3": replace(_LLAMA, tied=True),
    "minimax_m2": Style(query_key_norm="row"),
    "ministral": Style(windows="all"),
    "ministral3": Style(windows="all"),
    "mistral": Style(windows="all"),
    "mistral4": _DEEPSEEK,
    "mixtral": Style(windows="all"),
    "mpt": replace(_GPT, positions="learned_pos_emb"),
    "nemotron": replace(_LLAMA, gated=False, norm="layer"),
    "olmo": replace(_LLAMA, mlp_bias=False, norm="plain"),
    "olmo2": replace(_LLAMA, mlp_bias=False, query_key_norm="row"),
    "olmo3": replace(_LLAMA, mlp_bias=False, query_key_norm="row", windows="fourth"),
    "olmoe": replace(_LLAMA, mlp_bias=False, query_key_norm="row"),
    "opt": replace(
        _GPT,
        qkv_bias="+enable_bias",
        output_bias="+enable_bias",
        mlp_bias="+enable_bias",
        positions=True,
        position_offset=2,
    ),
    "persimmon": replace(_GPT, tied=False, rope=True),
    "phi": replace(_GPT, head_bias=True, norms=1, parallel=True, tied=False, rope=True),
    "phi3": Style(windows="all"),
    "phimoe": Style(
        norm="layer",
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        head_bias="lm_head_bias",
        windows="all",
    ),
    "qwen": Style(qkv_bias=True),
    "qwen2": Style(qkv_bias=True, windows="late"),
    "qwen2_moe": Style(qkv_bias="+qkv_bias", windows="late", shared_gate=True),
    "qwen3": replace(_LLAMA, mlp_bias=False, query_key_norm="head", head_dim=128, windows="late"),
    "qwen3_5_moe_text": _QWEN_NEXT,
    "qwen3_5_text": replace(_QWEN_NEXT, shared_gate=False),
    "qwen3_moe": replace(_LLAMA, mlp_bias=False, query_key_norm="head", windows="late"),
    "qwen3_next": _QWEN_NEXT,
    "seed_oss": Style(
        qkv_bias="+attention_bias", output_bias="attention_out_bias", mlp_bias="mlp_bias"
    ),
    "smollm3": replace(_LLAMA, tied=True, windows="late"),
    "solar_open": Style(qkv_bias="attention_bias"),
    "stablelm": Style(norm="layer", qkv_bias="use_qkv_bias", parallel="use_parallel_residual"),
    "starcoder2": Style(
        gated=False,
        norm="layer",
        qkv_bias="+use_bias",
        output_bias="+use_bias",
        mlp_bias="+use_bias",
        tied=True,
        windows="all",
    ),
    "vaultgemma": replace(_GEMMA, windows="even"),
    "youtu": replace(_DEEPSEEK, tied=True),
}
"""The styles by ``model_type``."""

NESTED_DEFAULTS: dict[str, dict[str, int]] = {
    "gemma3_text": {
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "vocab_size": 262208,
        "max_position_embeddings": 131072,
        "sliding_window": 4096,
    },
    "llama": {
        "hidden_size": 4096,
        "intermediate_size": 11008,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "vocab_size": 32000,
        "max_position_embeddings": 2048,
    },
    "mistral": {
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "num_key_value_heads": 8,
        "vocab_size": 32000,
        "max_position_embeddings": 131072,
        "sliding_window": 4096,
    },
}
"""What the library takes where a nested ``text_config`` says only how it differs from that."""

OTHER_NAMES = {
    "Yi": "llama",
    "aquila": "llama",
    "gpt-neox": "gpt_neox",
    "mimo": "qwen2",
    "phi-msft": "phi",
    "qwen3_vl_text": "qwen3",
    "qwen2_vl_text": "qwen2",
    "qwen2_5_vl_text": "qwen2",
    "qwen3_vl_moe_text": "qwen3_moe",
    "xverse": "llama",
}
"""Model types that are one of the above under another name."""
