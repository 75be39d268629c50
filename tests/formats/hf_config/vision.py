"""Small configurations of models that also see, weights of the towers counted by hand.

Hidden size of the towers 24, feed-forward 40, two layers of three heads; patches of 14 pixels.
"""

from __future__ import annotations

from tests.formats.hf_config.decoders import LLAMA, LLAMA_LAYER, TWO_TABLES, Config

TEXT = TWO_TABLES + 64 + 3 * LLAMA_LAYER
VISION: Config = {
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 40,
    "image_size": 28,
    "patch_size": 14,
}
PATCH = 3 * 14 * 14 * 24
BIASED = 24 * 72 + 72 + 24 * 24 + 24
WIDE = 24 * 40 + 40 + 40 * 24 + 24
LAYER = BIASED + WIDE + 4 * 24
MERGER = 96 * 96 + 96 + 96 * 64 + 64

SEEING: dict[str, tuple[Config, int]] = {
    "llava: clip's tower and two maps": (
        {"model_type": "llava", "text_config": LLAMA, "vision_config": VISION},
        TEXT + PATCH + 24 + 5 * 24 + 2 * LAYER + 4 * 24 + 24 * 64 + 64 + 64 * 64 + 64,
    ),
    "gemma3: siglip's tower, a norm and a map": (
        {
            "model_type": "gemma3",
            "text_config": {**LLAMA, "model_type": "gemma3_text", "head_dim": 8},
            "tie_word_embeddings": False,
            "vision_config": {**VISION, "vision_use_head": False},
        },
        # The text model has two more norms per layer and norms of queries and keys.
        (TEXT + 3 * (2 * 64 + 2 * 8)) + (PATCH + 24 + 4 * 24 + 2 * LAYER + 2 * 24) + (24 + 24 * 64),
    ),
    "mistral3: pixtral's tower and a merger of four patches": (
        {
            "model_type": "mistral3",
            "text_config": {**LLAMA, "model_type": "mistral", "sliding_window": None},
            "spatial_merge_size": 2,
            "vision_config": VISION,
        },
        TEXT
        + (PATCH + 24 + 2 * (24 * 72 + 24 * 24 + 3 * 24 * 40 + 2 * 24))
        + (24 + 96 * 24 + 24 * 64 + 64 * 64),
    ),
    "qwen2.5: two frames per patch, gated layers with biases": (
        {
            "model_type": "qwen2_5_vl",
            "text_config": {**LLAMA, "model_type": "qwen2_5_vl_text"},
            "vision_config": {
                "depth": 2,
                "num_heads": 3,
                "hidden_size": 24,
                "intermediate_size": 40,
                "patch_size": 14,
                "out_hidden_size": 64,
            },
        },
        (TEXT + 3 * 96)
        + 2 * PATCH
        + 2 * (BIASED + 3 * 24 * 40 + 2 * 40 + 24 + 2 * 24)
        + (24 + MERGER),
    ),
    "qwen3: learned positions and deep mergers": (
        {
            "model_type": "qwen3_vl",
            "text_config": {**LLAMA, "model_type": "qwen3_vl_text", "head_dim": 8},
            "vision_config": {
                "depth": 2,
                "num_heads": 3,
                "hidden_size": 24,
                "intermediate_size": 40,
                "patch_size": 14,
                "out_hidden_size": 64,
                "num_position_embeddings": 16,
                "deepstack_visual_indexes": [0, 1],
            },
        },
        (TEXT + 3 * 2 * 8)
        + (2 * PATCH + 24 + 16 * 24 + 2 * LAYER)
        + (2 * 24 + MERGER)
        + 2 * (2 * 96 + MERGER),
    ),
}
"""What it is, the configuration and its weights."""
