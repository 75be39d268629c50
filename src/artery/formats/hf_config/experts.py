"""Reads mixtures of experts under all the names that their configurations use."""

from __future__ import annotations

from artery.formats.hf_config.keys import Keys
from artery.formats.hf_config.styles import Style, switched
from artery.workload.moe import Experts

COUNT = ("num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts")
TOP_K = ("num_experts_per_tok", "experts_per_token", "num_experts_per_token", "moe_k", "moe_topk")
WIDTH = ("moe_intermediate_size", "expert_intermediate_size", "intermediate_size")
SHARED_WIDTH = (
    "shared_expert_intermediate_size",
    "shared_intermediate_size",
    "moe_shared_expert_intermediate_size",
)
SHARED_COUNT = (
    "n_shared_experts",
    "num_shared_experts",
    "num_shared_expert",
    "moe_num_shared_experts",
)


MOST_EXPERTS, MOST_CHOSEN = 1_048_576, 1_024
"""Assumed: a million experts are the most that were tried (arXiv 2407.04153); more is a slip."""


def experts(keys: Keys, style: Style) -> Experts | None:
    """Return the experts of the mixture layers, or None if the model has none."""
    count = keys.optional(*COUNT, at_most=MOST_EXPERTS)
    if count is None or count == 1:
        return None
    width = keys.size(*WIDTH)
    return Experts(
        count=count,
        top_k=keys.size(*TOP_K, at_most=MOST_CHOSEN),
        width=width,
        gated=style.gated,
        bias=style.expert_bias,
        router_bias=style.router_bias,
        shared_width=_shared_width(keys, style, width),
        shared_bias=switched(keys, style.mlp_bias),
        shared_gate=style.shared_gate,
        **_groups(keys),
    )


def _groups(keys: Keys) -> dict[str, int]:
    """Return how many groups of experts there are and from how many a row may pick."""
    groups = keys.count("n_group", default=1)
    limit = keys.count("topk_group", default=groups)
    if groups < 2 or not 0 < limit < groups:
        return {}
    return {"groups": groups, "group_limit": limit}


def _shared_width(keys: Keys, style: Style, width: int) -> int:
    """Return the width of the shared experts together."""
    given = keys.count(*SHARED_WIDTH)
    if given:
        return given
    return width * keys.count(*SHARED_COUNT, default=1 if style.shared else 0)


def dense_layers(keys: Keys, layers: int) -> tuple[int, ...]:
    """Return the layers that have a plain feed-forward block, by any of the ways to say so."""
    named = keys.texts("mlp_layer_types")
    if named:
        return tuple(index for index, kind in enumerate(named) if kind == "dense")
    listed = keys.numbers("moe_layers")
    if listed:
        return tuple(index for index in range(layers) if index not in set(listed))
    first = keys.count("first_k_dense_replace", "moe_layer_start_index")
    last = keys.count("moe_layer_end_index", default=layers - 1)
    plain = set(keys.numbers("mlp_only_layers"))
    period = keys.size(
        "decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval", default=1
    )
    stride = keys.size("moe_layer_freq", default=1)
    return tuple(
        index
        for index in range(layers)
        if not first <= index <= last or index in plain or (index + 1) % period or index % stride
    )
