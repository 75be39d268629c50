"""A Hugging Face ``config.json`` as a format, recognised by its content.

What it says of the model is read by :mod:`artery.formats.hf_config`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from artery.core.workload import Attention, Workload
from artery.errors import InputError
from artery.formats.hf_config.document import Document, parse
from artery.formats.hf_config.families import read_family
from artery.formats.hf_config.keys import Keys
from artery.formats.reading import Format, Reading
from artery.formats.syntax.json_text import looks_like_json
from artery.formats.text import Text
from artery.formats.wording import counted
from artery.units import show_bytes, show_count

_KEY: Final = re.compile(r'"(\w{2,60})"\s*:')
_SHAPE: Final = frozenset({
    "hidden_size", "n_embd", "d_model", "num_hidden_layers", "n_layer", "num_layers", "num_heads",
    "num_attention_heads", "n_head", "vocab_size", "intermediate_size", "dim", "n_layers",
})  # fmt: skip
_NAMED: Final = frozenset({"model_type", "architectures", "transformers_version", "torch_dtype"})


def _recognise(text: Text) -> float:
    if not looks_like_json(text) or text.head.lstrip()[:1] != "{":
        return 0.0
    keys = set(_KEY.findall(text.head))
    if keys & {"model_type", "architectures"} and (keys & _SHAPE or "transformers_version" in keys):
        return 0.95
    return 0.8 if len(keys & _SHAPE) >= 3 or (keys & _NAMED and len(keys & _SHAPE) >= 2) else 0.0


def _read(text: Text) -> Reading:
    document = parse(text.content, text.path)
    path = Path(text.path)
    name = path.resolve().parent.name if path.name == "config.json" else path.stem or "model"
    try:
        workload = read_family(
            Keys(document, document.table), "model" if text.path == "-" else name
        )
    except RecursionError:
        raise InputError(
            document.problem((), "endless nesting", "must be flat", "mend it")
        ) from None
    fields = _fields(document, workload)
    warnings = list(workload.notes)
    if workload.unsupported is not None:
        warnings.append(f"counted, but no step time is modelled: {workload.unsupported}")
    return Reading("hf-config", "workload", tuple(_summary(fields)), fields, tuple(warnings),
                   workload=workload)  # fmt: skip


def _fields(document: Document, workload: Workload) -> dict[str, Any]:
    kind = document.table.get("model_type")
    return {
        "model_type": kind if isinstance(kind, str) else None,
        "family": workload.family,
        "parameters": workload.parameters,
        "active_parameters": workload.active_parameters,
        "layers": workload.depth,
        "hidden": workload.hidden,
        "heads": workload.heads,
        "kv_heads": workload.kv_heads,
        "kv_bytes_per_token": _kv_bytes(document.table, workload),
        "vocabulary": workload.logits,
        "sequence": workload.sequence,
        "max_sequence": workload.max_sequence,
        "tied": workload.tied,
        "weight_dtype": workload.weight_dtype,
        "unsupported": workload.unsupported,
    }


def _kv_bytes(table: Mapping[str, Any], workload: Workload) -> int | None:
    """Return bytes that a token leaves in the cache while text is generated, at 2 bytes a value.

    Every causal layer keeps a key and a value per head of them; multi-head latent attention keeps
    the latent and the part that carries the position (DeepSeek-V2, 2024, section 2.1). ``None`` for
    models that generate no text, and where nothing grows with it (state-space layers).
    """
    if workload.family == "clip" or workload.row_kind != "token":
        return None
    inner = table.get("text_config")
    keys = inner if isinstance(inner, Mapping) else table
    latent, carried = keys.get("kv_lora_rank"), keys.get("qk_rope_head_dim")
    values = 0
    for layer in workload.layers:
        for one in layer.operators:
            if isinstance(one, Attention) and one.causal and one.keys is None:
                own = one.kv_heads * (one.qk_dim + one.v_dim)
                if isinstance(latent, int) and isinstance(carried, int):
                    own = latent + carried
                values += layer.count * own
    return 2 * values or None


def _bits(dtype: str | None) -> int:
    """Return the bits of a stored weight by its dtype's name (``int4``); 16 if it is not said."""
    found = re.search(r"\d{1,2}$", dtype or "")
    return int(found[0]) if found is not None else 16


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    active = fields["active_parameters"]
    more = f", {show_count(active)} active for a token" if active != fields["parameters"] else ""
    kind, total = fields["model_type"] or fields["family"], fields["parameters"]
    yield f"{kind}: {show_count(total)} parameters ({total:,}){more}"
    bits = _bits(fields["weight_dtype"])
    yield f"weights: {show_bytes(bits * total / 8)} at {bits} bits each; a step needs more"
    if fields["kv_bytes_per_token"]:
        yield f"key-value cache: {fields['kv_bytes_per_token']:,} bytes a token, at 2 bytes a value"
    heads, shared = fields["heads"], fields["kv_heads"]
    said = counted(heads, "head") if heads > 1 or fields["kv_bytes_per_token"] else "no attention"
    grouped = f" on {shared} of keys and values" if shared and shared != heads else ""
    yield f"{counted(fields['layers'], 'layer')} of {fields['hidden']:,}, {said}{grouped}"


FORMAT: Final = Format("hf-config", "workload", _recognise, _read)
