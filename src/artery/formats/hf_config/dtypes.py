"""Reads the dtype that weights are stored in."""

from __future__ import annotations

from artery.formats.hf_config.keys import Keys

_PLAIN = {
    "bfloat16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    "float32": "fp32",
    "float": "fp32",
    "float8_e4m3fn": "fp8",
}

_METHODS = {
    "fp8": "fp8",
    "fbgemm_fp8": "fp8",
    "fp8_pb_wo": "fp8",
    "mxfp4": "fp4",
    "nvfp4": "fp4",
    "bitnet": "int2",
}
"""Quantisation methods and algorithms that imply their width."""


def weight_dtype(keys: Keys) -> str | None:
    """Return the dtype of the stored weights (``bf16``, ``fp8``, ``int4``, ...), None if unknown.

    ``quantization_config`` goes before ``dtype`` (its older name is ``torch_dtype``).
    """
    quantised = keys.sub("quantization_config")
    if quantised is not None:
        return _quantised(quantised)
    named = keys.text("dtype", "torch_dtype")
    if named is None:
        return None
    return _PLAIN.get(named.removeprefix("torch."), named)


def _quantised(keys: Keys) -> str | None:
    """Return the dtype that a quantisation leaves most weights in."""
    named = [(keys.text(name) or "").lower() for name in ("quant_algo", "quant_method")]
    known = next((_METHODS[name] for name in named if name in _METHODS), None)
    if known is not None:
        return known
    bits = keys.optional("bits", "w_bit", "wbits")
    if bits is not None:
        return f"int{bits}"
    grouped = _grouped(keys)
    if grouped is not None:
        return grouped
    if keys.flag("load_in_4bit", default=False):
        return "int4"
    if keys.flag("load_in_8bit", default=False):
        return "int8"
    text = " ".join(filter(None, named)) or "without a name"
    keys.note(f"The quantisation method {text} is not understood.")
    return None


def _grouped(keys: Keys) -> str | None:
    """Return the dtype of the first of compressed-tensors' groups of weights."""
    groups = keys.sub("config_groups")
    if groups is None or not groups.table:
        return None
    group = groups.sub(next(iter(groups.table)))
    weights = group.sub("weights") if group is not None else None
    bits = weights.optional("num_bits") if weights is not None else None
    if weights is None or bits is None:
        return None
    return f"{'fp' if weights.text('type') == 'float' else 'int'}{bits}"
