"""Reads which layers look only a window back."""

from __future__ import annotations

from artery.formats.hf_config.keys import Keys
from artery.formats.hf_config.styles import Style, Windows

_NARROW = {"sliding_attention", "chunked_attention", "local_attention", "local"}
_FULL = {
    "full_attention",
    "global_attention",
    "attention",
    "global",
    "indexed_attention",
    "deepseek_sparse_attention",
}

LINEAR = "linear_attention"
"""A layer of linear attention."""


def windows(keys: Keys, style: Style, layers: int) -> tuple[int, ...]:
    """Return the pattern of windows over the layers, 0 for full attention; empty if all are full.

    ``layer_types`` decides where the file has it, the architecture's usual pattern elsewhere.
    A chunk of attention (Llama 4) is taken for a window of its length.
    """
    window = keys.count("sliding_window", "attention_chunk_size", "sliding_window_size")
    types = keys.texts("layer_types")
    if not types:
        return _trimmed(_usual(keys, style.windows, window, layers)) if window else ()
    if len(types) != layers:
        keys.problem(
            "layer_types",
            f"{len(types)} entries",
            f"there must be one for each of the {layers} layers",
            "correct layer_types or the number of layers",
        )
    known = _NARROW | _FULL | ({LINEAR} if style.linear else set())
    strange = sorted(set(types) - known)
    if strange:
        keys.problem(
            "layer_types",
            ", ".join(strange),
            f"only {', '.join(sorted(known))} are modelled",
            "this model cannot be read yet",
        )
    return _trimmed(tuple(window if kind in _NARROW else 0 for kind in types))


def _usual(keys: Keys, usual: Windows, window: int, layers: int) -> tuple[int, ...]:
    """Return the architecture's own pattern."""
    match usual:
        case "none":
            return ()
        case "all":
            return (window,)
        case "even":
            return (window, 0)
        case "sixth" | "fourth":
            period = _period(keys, 6 if usual == "sixth" else 4)
            return (window,) * (period - 1) + (0,)
        case "chunked":
            return _rotated(keys, window)
        case "late":
            if not keys.flag("use_sliding_window", default=False):
                return ()
            start = min(keys.count("max_window_layers"), layers)
            return (0,) * start + (window,) * (layers - start)


def _period(keys: Keys, default: int) -> int:
    """Return every how many layers attention is full (a number, or a text such as LLLG)."""
    _, value = keys.value("sliding_window_pattern", "_sliding_window_pattern")
    if isinstance(value, str) and value:
        return len(value)
    return keys.size("sliding_window_pattern", "_sliding_window_pattern", default=default)


def _rotated(keys: Keys, window: int) -> tuple[int, ...]:
    """Return Llama 4's pattern: layers without rotary embedding see everything."""
    rotary = keys.numbers("no_rope_layers")
    if rotary:
        return tuple(window if has else 0 for has in rotary)
    period = keys.size("no_rope_layer_interval", default=4)
    return (window,) * (period - 1) + (0,)


def _trimmed(pattern: tuple[int, ...]) -> tuple[int, ...]:
    """Return the pattern, or nothing if no layer has a window."""
    return pattern if any(pattern) else ()
