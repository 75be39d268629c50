"""Small configurations of the models that are no plain decoders; see ``decoders``."""

from __future__ import annotations

from tests.formats.hf_config.decoders import ATTENTION, FULL, PLAIN, TWO_TABLES, Config

OTHERS: dict[str, tuple[Config, int]] = {
    "bert": (
        {
            "architectures": ["BertForMaskedLM"],
            "model_type": "bert",
            "hidden_size": 64,
            "num_hidden_layers": 3,
            "num_attention_heads": 8,
            "intermediate_size": 256,
            "max_position_embeddings": 32,
            "type_vocab_size": 2,
            "vocab_size": 100,
        },
        (100 + 32 + 2) * 64 + 128 + 3 * (FULL + PLAIN + 256) + (64 * 64 + 64 + 128 + 100),
    ),
    "t5 v1.1": (
        {
            "model_type": "t5",
            "d_model": 64,
            "d_kv": 10,
            "d_ff": 128,
            "num_layers": 3,
            "num_decoder_layers": 2,
            "num_heads": 4,
            "feed_forward_proj": "gated-gelu",
            "tie_word_embeddings": False,
            "vocab_size": 100,
        },
        TWO_TABLES
        + 2 * 32 * 4
        + 3 * (4 * 64 * 40 + 64)
        + 2 * 2 * (4 * 64 * 40 + 64)
        + 5 * (3 * 64 * 128 + 64)
        + 2 * 64,
    ),
    "vit": (
        {
            "architectures": ["ViTForImageClassification"],
            "model_type": "vit",
            "hidden_size": 64,
            "num_hidden_layers": 3,
            "num_attention_heads": 8,
            "intermediate_size": 256,
            "image_size": 32,
            "patch_size": 8,
            "id2label": {"0": "cat", "1": "dog"},
        },
        192 * 64 + 64 + 64 + 17 * 64 + 3 * (FULL + PLAIN + 256) + 128 + 2 * 64 + 2,
    ),
    "clip": (
        {
            "model_type": "clip",
            "projection_dim": 12,
            "text_config": {
                "hidden_size": 64,
                "num_hidden_layers": 1,
                "num_attention_heads": 8,
                "intermediate_size": 256,
                "max_position_embeddings": 9,
                "vocab_size": 100,
            },
            "vision_config": {
                "hidden_size": 64,
                "num_hidden_layers": 2,
                "num_attention_heads": 8,
                "intermediate_size": 256,
                "image_size": 32,
                "patch_size": 8,
            },
        },
        109 * 64
        + 128
        + (192 * 64 + 64 + 17 * 64 + 2 * 128)
        + 3 * (FULL + PLAIN + 256)
        + 2 * 64 * 12
        + 1,
    ),
    "mamba": (
        {
            "model_type": "mamba",
            "hidden_size": 64,
            "num_hidden_layers": 3,
            "state_size": 4,
            "expand": 2,
            "conv_kernel": 4,
            "time_step_rank": "auto",
            "vocab_size": 100,
        },
        100 * 64
        + 64
        + 3
        * (
            64
            + 64 * 256
            + 128 * 4
            + 128
            + 128 * (4 + 2 * 4)
            + 4 * 128
            + 128
            + 128 * 4
            + 128
            + 128 * 64
        ),
    ),
    "nemotron_h: a pattern of mixers": (
        {
            "model_type": "nemotron_h",
            "hidden_size": 64,
            "num_hidden_layers": 4,
            "hybrid_override_pattern": "M-*-",
            "mamba_num_heads": 4,
            "mamba_head_dim": 16,
            "n_groups": 2,
            "ssm_state_size": 8,
            "num_attention_heads": 8,
            "num_key_value_heads": 2,
            "attention_head_dim": 8,
            "intermediate_size": 96,
            "vocab_size": 100,
        },
        TWO_TABLES
        + 64
        + 4 * 64
        + (64 * (64 + 96 + 4) + 96 * 4 + 96 + 3 * 4 + 64 + 64 * 64)
        + ATTENTION
        + 2 * 2 * 64 * 96,
    ),
    "nemotron_h with experts on narrower rows": (
        {
            "model_type": "nemotron_h",
            "hidden_size": 64,
            "layers_block_type": ["attention", "moe"],
            "mamba_num_heads": 4,
            "mamba_head_dim": 16,
            "num_attention_heads": 8,
            "num_key_value_heads": 2,
            "head_dim": 8,
            "ssm_state_size": 8,
            "n_routed_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 32,
            "moe_shared_expert_intermediate_size": 48,
            "moe_latent_size": 16,
            "vocab_size": 100,
        },
        TWO_TABLES
        + 64
        + (64 + ATTENTION)
        + (64 + 64 * 4 + 4 * 2 * 16 * 32 + 2 * 64 * 48 + 2 * 64 * 16),
    ),
}
"""What it is, the configuration and its weights."""
