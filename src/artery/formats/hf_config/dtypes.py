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

_METHODS = {"fp8": "fp8", "fbgemm_fp8": "fp8", "mxfp4": "fp4", "nvfp4": "fp4", "bitnet": "int2"}
"""Quantisation methods that imply their width."""


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
    method = (keys.text("quant_method", "quant_algo") or "").lower()
    if method in _METHODS:
        return _METHODS[method]
    bits = keys.optional("bits", "w_bit", "wbits")
    if bits is not None:
        return f"int{bits}"
    if keys.flag("load_in_4bit", default=False):
        return "int4"
    if keys.flag("load_in_8bit", default=False):
        return "int8"
    keys.note(f"The quantisation method {method or 'without a name'} is not understood.")
    return None
