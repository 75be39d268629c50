"""Small configurations of every family of decoders: invented sizes, weights counted by hand.

Each is in the form of the family's published ``config.json``. The counts are sums written out
from the definitions of the architectures, not the program's own output.
"""

from __future__ import annotations

from typing import Any

Config = dict[str, Any]

LLAMA: Config = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 3,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "vocab_size": 100,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
ATTENTION = 64 * (64 + 2 * 16) + 64 * 64
GATED = 3 * 64 * 160
LLAMA_LAYER = ATTENTION + GATED + 2 * 64
TWO_TABLES = 2 * 100 * 64
PLAIN = 2 * 64 * 256 + 256 + 64
FULL = 64 * 192 + 192 + 64 * 64 + 64

GPT2: Config = {
    "model_type": "gpt2",
    "n_embd": 64,
    "n_layer": 3,
    "n_head": 8,
    "n_positions": 32,
    "n_inner": None,
    "vocab_size": 100,
    "attn_pdrop": 0.1,
    "resid_pdrop": 0.1,
    "embd_pdrop": 0.1,
}

LATENT: Config = {
    **LLAMA,
    "model_type": "deepseek_v3",
    "architectures": ["DeepseekV3ForCausalLM"],
    "num_key_value_heads": 8,
    "q_lora_rank": 24,
    "kv_lora_rank": 16,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 4,
    "v_head_dim": 6,
    "n_routed_experts": 8,
    "n_shared_experts": 2,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "first_k_dense_replace": 1,
    "dtype": "bfloat16",
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
}
KEYS_DOWN_UP_OUT = 64 * 20 + 16 + 16 * 8 * 14 + 8 * 6 * 64
QUERIES = 64 * 24 + 24 + 24 * 8 * 12
STRAIGHT = 64 * 8 * 12
DEEPSEEK_MIXTURE = 64 * 8 + 8 * 3 * 64 * 32 + 3 * 64 * 64


def deepseek(queries: int) -> int:
    """Weights of ``LATENT`` with ``queries`` weights per layer before the query heads."""
    layers = 3 * (queries + KEYS_DOWN_UP_OUT + 2 * 64) + GATED + 2 * DEEPSEEK_MIXTURE
    return TWO_TABLES + 64 + layers


DECODERS: dict[str, tuple[Config, int]] = {
    "llama": (LLAMA, TWO_TABLES + 64 + 3 * LLAMA_LAYER),
    "llama with biases": (
        {**LLAMA, "attention_bias": True, "mlp_bias": True},
        TWO_TABLES + 64 + 3 * (LLAMA_LAYER + 96 + 64 + 2 * 160 + 64),
    ),
    "old llama without key-value heads": (
        {key: value for key, value in LLAMA.items() if key != "num_key_value_heads"},
        TWO_TABLES + 64 + 3 * (4 * 64 * 64 + GATED + 2 * 64),
    ),
    "gemma: wide heads, tied without saying so": (
        {
            **{k: v for k, v in LLAMA.items() if k != "tie_word_embeddings"},
            "model_type": "gemma",
            "head_dim": 16,
            "num_key_value_heads": 1,
        },
        100 * 64 + 64 + 3 * (64 * (128 + 32) + 128 * 64 + GATED + 2 * 64),
    ),
    "gemma2: four norms": (
        {
            **LLAMA,
            "model_type": "gemma2",
            "head_dim": 8,
            "sliding_window": 128,
            "tie_word_embeddings": True,
        },
        100 * 64 + 64 + 3 * (LLAMA_LAYER + 2 * 64),
    ),
    "qwen2: biases on queries, keys and values": (
        {**LLAMA, "model_type": "qwen2"},
        TWO_TABLES + 64 + 3 * (LLAMA_LAYER + 96),
    ),
    "qwen3: norms of queries and keys": (
        {**LLAMA, "model_type": "qwen3", "head_dim": 8},
        TWO_TABLES + 64 + 3 * (LLAMA_LAYER + 2 * 8),
    ),
    "phi3: fused in the file, the same weights": (
        {**LLAMA, "model_type": "phi3"},
        TWO_TABLES + 64 + 3 * LLAMA_LAYER,
    ),
    "phi-2 under its first names": (
        {
            "model_type": "phi-msft",
            "n_embd": 64,
            "n_head": 8,
            "n_layer": 3,
            "n_inner": None,
            "n_positions": 32,
            "vocab_size": 100,
            "rotary_dim": 4,
            "tie_word_embeddings": False,
        },
        TWO_TABLES + 100 + 128 + 3 * (FULL + PLAIN + 128),
    ),
    "gpt2": (GPT2, 100 * 64 + 32 * 64 + 128 + 3 * (FULL + PLAIN + 2 * 128)),
    "gpt_bigcode: one key head": (
        {**GPT2, "model_type": "gpt_bigcode", "multi_query": True},
        132 * 64 + 128 + 3 * (64 * 80 + 80 + 64 * 64 + 64 + PLAIN + 256),
    ),
    "gpt_neox: two norms beside each other": (
        {
            **LLAMA,
            "model_type": "gpt_neox",
            "intermediate_size": 256,
            "num_key_value_heads": None,
        },
        TWO_TABLES + 128 + 3 * (FULL + PLAIN + 2 * 128),
    ),
    "gptj: one norm, a head with a bias": (
        {**GPT2, "model_type": "gptj", "rotary_dim": 4},
        TWO_TABLES + 100 + 128 + 3 * (4 * 64 * 64 + PLAIN + 128),
    ),
    "opt: two more positions, ffn_dim": (
        {
            **{
                k: v
                for k, v in LLAMA.items()
                if k not in ("intermediate_size", "num_key_value_heads")
            },
            "model_type": "opt",
            "ffn_dim": 256,
            "tie_word_embeddings": True,
            "word_embed_proj_dim": 64,
            "max_position_embeddings": 32,
        },
        100 * 64 + 34 * 64 + 128 + 3 * (FULL + PLAIN + 2 * 128),
    ),
    "opt-350m's form: narrow embedding, norm after": (
        {
            "model_type": "opt",
            "hidden_size": 64,
            "ffn_dim": 256,
            "num_hidden_layers": 3,
            "num_attention_heads": 8,
            "max_position_embeddings": 32,
            "vocab_size": 100,
            "word_embed_proj_dim": 16,
            "do_layer_norm_before": False,
        },
        100 * 16 + 2 * 16 * 64 + 34 * 64 + 3 * (FULL + PLAIN + 2 * 128),
    ),
    "bloom: n_embed and a norm after the embedding": (
        {"model_type": "bloom", "n_embed": 64, "n_layer": 3, "n_head": 8, "vocab_size": 100},
        100 * 64 + 128 + 128 + 3 * (FULL + PLAIN + 2 * 128),
    ),
    "falcon-40b's form": (
        {
            "model_type": "falcon",
            "hidden_size": 64,
            "num_hidden_layers": 3,
            "num_attention_heads": 8,
            "num_kv_heads": 2,
            "new_decoder_architecture": True,
            "bias": False,
            "vocab_size": 100,
        },
        100 * 64 + 128 + 3 * (ATTENTION + 2 * 64 * 256 + 2 * 128),
    ),
    "falcon-7b's form: one key head, one norm": (
        {
            "model_type": "falcon",
            "hidden_size": 64,
            "num_hidden_layers": 3,
            "num_attention_heads": 8,
            "multi_query": True,
            "parallel_attn": True,
            "bias": False,
            "vocab_size": 100,
        },
        100 * 64 + 128 + 3 * (64 * 80 + 64 * 64 + 2 * 64 * 256 + 128),
    ),
    "mpt: width as a ratio, no biases": (
        {
            "model_type": "mpt",
            "d_model": 64,
            "n_layers": 3,
            "n_heads": 8,
            "expansion_ratio": 4,
            "max_seq_len": 32,
            "attn_config": {"alibi": True},
            "no_bias": True,
            "vocab_size": 100,
        },
        100 * 64 + 64 + 3 * (4 * 64 * 64 + 2 * 64 * 256 + 2 * 64),
    ),
    "mixtral": (
        {
            **LLAMA,
            "model_type": "mixtral",
            "num_local_experts": 4,
            "num_experts_per_tok": 2,
            "sliding_window": None,
        },
        TWO_TABLES + 64 + 3 * (ATTENTION + 2 * 64 + 64 * 4 + 4 * GATED),
    ),
    "qwen2_moe: a gated shared expert, every second layer dense": (
        {
            **LLAMA,
            "model_type": "qwen2_moe",
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 32,
            "shared_expert_intermediate_size": 48,
            "decoder_sparse_step": 2,
            "sliding_window": 0,
        },
        TWO_TABLES
        + 64
        + 3 * (ATTENTION + 96 + 2 * 64)
        + 2 * GATED
        + (64 * 4 + 4 * 3 * 64 * 32 + 3 * 64 * 48 + 64),
    ),
    "gpt_oss: biases on everything, sinks": (
        {
            **LLAMA,
            "model_type": "gpt_oss",
            "attention_bias": True,
            "num_local_experts": 4,
            "num_experts_per_tok": 2,
            "intermediate_size": 32,
            "sliding_window": 8,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        },
        TWO_TABLES
        + 64
        + 3 * (ATTENTION + 96 + 64 + 2 * 64 + 8)
        + 3 * (64 * 4 + 4 + 4 * (3 * 64 * 32 + 2 * 32 + 64)),
    ),
    "deepseek: latent attention, dense first, shared experts": (LATENT, deepseek(QUERIES)),
    "deepseek with a null query rank": ({**LATENT, "q_lora_rank": None}, deepseek(STRAIGHT)),
    "deepseek without a query rank": (
        {key: value for key, value in LATENT.items() if key != "q_lora_rank"},
        deepseek(STRAIGHT),
    ),
    "glm: an indexer in two of three layers": (
        {
            **LATENT,
            "model_type": "glm_moe_dsa",
            "index_n_heads": 2,
            "index_head_dim": 10,
            "index_topk": 16,
            "indexer_types": ["full", "full", "shared"],
        },
        deepseek(QUERIES) + 2 * (24 * 20 + 64 * 10 + 20 + 64 * 2),
    ),
    "qwen3_next: linear attention, a gate on the rest, a gated shared expert": (
        {
            **LLAMA,
            "model_type": "qwen3_next",
            "head_dim": 8,
            "linear_num_key_heads": 2,
            "linear_key_head_dim": 6,
            "linear_num_value_heads": 4,
            "linear_value_head_dim": 5,
            "linear_conv_kernel_dim": 4,
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 32,
            "shared_expert_intermediate_size": 48,
            "layer_types": ["linear_attention", "linear_attention", "full_attention"],
        },
        TWO_TABLES
        + 64
        + 3 * (2 * 64 + 64 * 4 + 4 * 3 * 64 * 32 + 3 * 64 * 48 + 64)
        # Convolved channels 2·12 + 20; gate 20; decay and step 2·4; A and step bias 2·4; norm 5.
        + 2 * (64 * (44 + 20) + 64 * 8 + 8 + 44 * 4 + 5 + 20 * 64)
        + (64 * (2 * 64 + 2 * 16) + 64 * 64 + 2 * 8),
    ),
    "llama4, the text model alone": (
        {
            **LLAMA,
            "model_type": "llama4_text",
            "num_local_experts": 4,
            "num_experts_per_tok": 1,
            "intermediate_size": 32,
            "intermediate_size_mlp": 160,
            "interleave_moe_layer_step": 3,
            "use_qk_norm": True,
            "attention_chunk_size": 64,
        },
        TWO_TABLES
        + 64
        + 3 * (ATTENTION + 2 * 64)
        + 2 * GATED
        + (64 * 4 + 4 * 3 * 64 * 32 + 3 * 64 * 32),
    ),
    "nested, with a vision tower": (
        {
            "model_type": "llama4",
            "text_config": {
                **LLAMA,
                "model_type": "llama4_text",
                "num_local_experts": 4,
                "num_experts_per_tok": 1,
                "intermediate_size": 32,
            },
            "vision_config": {
                "hidden_size": 24,
                "num_hidden_layers": 2,
                "num_attention_heads": 3,
                "intermediate_size": 40,
                "image_size": 28,
                "patch_size": 14,
                "vision_output_dim": 10,
                "projector_input_dim": 12,
                "projector_output_dim": 14,
            },
        },
        TWO_TABLES
        + 64
        + 3 * (ATTENTION + 2 * 64 + 64 * 4 + 4 * 3 * 64 * 32 + 3 * 64 * 32)
        + (3 * 196 * 24 + 24 + 5 * 24 + 4 * 24)
        + 2 * (24 * 72 + 72 + 24 * 24 + 24 + 24 * 40 + 40 + 40 * 24 + 24 + 4 * 24)
        + (40 * 12 + 12 * 14 + 10 * 64),
    ),
}
"""What it is, the configuration and its weights."""
