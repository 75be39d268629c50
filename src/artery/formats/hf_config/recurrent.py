"""Reads which layers have linear attention, and its shape."""

from __future__ import annotations

from artery.formats.hf_config.keys import Keys
from artery.formats.hf_config.styles import Style
from artery.formats.hf_config.windows import LINEAR
from artery.workload.linear_attention import LinearAttention


def linear(keys: Keys, style: Style) -> LinearAttention | None:
    """Return the linear attention, or None if the architecture has none."""
    if not style.linear:
        return None
    return LinearAttention(
        key_heads=keys.size("linear_num_key_heads"),
        key_dim=keys.size("linear_key_head_dim"),
        value_heads=keys.size("linear_num_value_heads"),
        value_dim=keys.size("linear_value_head_dim"),
        kernel=keys.size("linear_conv_kernel_dim", default=4),
    )


def linear_layers(keys: Keys, style: Style, layers: int) -> tuple[int, ...]:
    """Return the layers of linear attention: as listed, else all but every fourth."""
    if not style.linear:
        return ()
    types = keys.texts("layer_types")
    if types:
        return tuple(index for index, kind in enumerate(types) if kind == LINEAR)
    period = keys.size("full_attention_interval", default=4)
    return tuple(index for index in range(layers) if (index + 1) % period)
