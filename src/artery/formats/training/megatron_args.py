"""Megatron-LM's arguments: in a launch script, a YAML file, or as Megatron prints them.

The printed block begins with ``---- arguments ----`` and has lines ``name .... value``. From any
of the three come the model, the degrees of parallelism and the batch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from artery.core.workload import Workload
from artery.errors import InputError, Problem
from artery.formats.launch import shell_words
from artery.formats.reading import Format, Reading
from artery.formats.syntax.numerals import whole
from artery.formats.syntax.prefixes import bare
from artery.formats.syntax.yaml_text import yaml_documents
from artery.formats.text import Text
from artery.formats.training.megatron_model import Arguments, missing, model, positive, said
from artery.units import show_count

_PRINTED: Final = re.compile(r"\s*([a-z][a-z0-9_]{1,80}) \.{2,} (.{0,400})$")
_BLOCK: Final = re.compile(r"-{5,} (?:end of )?(?:\w+ )?[Aa]rguments -{5,}")
_OWN: Final = (
    "tensor_model_parallel_size", "pipeline_model_parallel_size", "micro_batch_size",
    "num_attention_heads", "num_layers", "hidden_size", "seq_length",
)  # fmt: skip
_YAML_KEY: Final = re.compile(r"(?m)^[ \t]*[\"']?(?:--)?([a-z][\w-]{2,60})[\"']?\s*:")

DEGREES: Final = {
    "tp": "tensor_model_parallel_size", "pp": "pipeline_model_parallel_size",
    "cp": "context_parallel_size", "ep": "expert_model_parallel_size",
    "etp": "expert_tensor_parallel_size", "micro_batch": "micro_batch_size",
    "global_batch": "global_batch_size", "sequence": "seq_length",
}  # fmt: skip


def _form(text: Text) -> str | None:
    """Return how the arguments are written; ``None`` if they are none."""
    if _BLOCK.search(text.content) and any(_PRINTED.match(bare(line)) for line in text.lines):
        return "printed"
    dashed = {name for name in _OWN if f"--{name.replace('_', '-')}" in text.content}
    keys = {key.replace("-", "_") for key in _YAML_KEY.findall(text.head)}
    if len(keys & set(_OWN)) >= 3 and not re.search(r"(?m)^#!|\\$", text.head):
        return "yaml"
    return "script" if len(dashed) >= 2 else None


def _recognise(text: Text) -> float:
    form = _form(text)
    return {"printed": 0.75, "yaml": 0.8, "script": 0.9}.get(form or "", 0.0)


def arguments_of(text: Text) -> dict[str, str]:
    """Return the arguments by name; a flag without a value is an empty string."""
    form = _form(text)
    if form == "printed":
        pairs = (_PRINTED.match(bare(line)) for line in text.lines)
        return {one[1]: one[2].strip() for one in pairs if one}
    if form == "yaml":
        return dict(_flat(yaml_documents(text)))
    return shell_words.options(text.content)


def _flat(value: object) -> Iterator[tuple[str, str]]:
    """Yield every plain value of nested tables by its own key."""
    if isinstance(value, list):
        for one in value:
            yield from _flat(one)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            if isinstance(one, (dict, list)):
                yield from _flat(one)
            elif one is not None and one is not False:
                yield key.lstrip("-").replace("-", "_"), "" if one is True else str(one)


def _read(text: Text) -> Reading:
    found = arguments_of(text)
    degrees = {key: positive(found, name) for key, name in DEGREES.items()}
    if not any(degrees.values()):
        rule = "Megatron's arguments name degrees, batch and sequence"
        fix = "send the script with its values, or the block that Megatron prints"
        raise InputError(Problem(file=text.path, found="none of them", rule=rule, fix=fix))
    given = _given(found, degrees)
    defaults = _defaults(found, given)
    given |= defaults
    tp, sequence = given.get("tp", 1), given.get("sequence")
    workload = model(found, tp, sequence) if sequence and tp <= 10_000 else None
    chips = _chips(found)
    lacking = [f"{name}: not said" for name in missing(found, min(tp, 10_000))]
    if chips is None:
        lacking.append("chips: nnodes and nproc_per_node are not said")
    elif _unset(found, "tp", "pp", "cp"):
        lacking.append("a degree of parallelism is a variable that the file does not set")
    elif chips % (per := tp * given.get("pp", 1) * given.get("cp", 1)) == 0:
        given["dp"] = chips // per
    fields = {
        "form": _form(text), "chips": chips, **given, "defaults": sorted(defaults),
        "parameters": workload.parameters if workload else None,
        "layers": positive(found, "num_layers"), "hidden": positive(found, "hidden_size"),
        "heads": positive(found, "num_attention_heads"), "missing_facts": lacking,
        "arguments": dict(sorted(found.items())[:400]), "argument_count": len(found),
    }  # fmt: skip
    return Reading(
        "megatron-args", "workload", tuple(_summary(fields, given, workload)), fields,
        tuple(_warnings(found, given, chips, sorted(defaults))), shell_words.cut_off(text),
        workload=workload, given=given,
    )  # fmt: skip


def _chips(found: Arguments) -> int | None:
    """Return the world size: printed, or nodes times processes of the launcher."""
    printed = positive(found, "world_size")
    if printed is not None:
        return printed
    nodes = positive(found, "nnodes") or positive(found, "nodes")
    each = positive(found, "nproc_per_node") or positive(found, "gpus_per_node")
    each = each or positive(found, "ntasks_per_node")
    return nodes * each if nodes and each else None


def _given(found: Arguments, degrees: Mapping[str, int | None]) -> dict[str, Any]:
    """Return what the arguments say of the plan, by the plan's names."""
    given: dict[str, Any] = {key: value for key, value in degrees.items() if value is not None}
    chunks = _chunks(found, given)
    if chunks is not None:
        given["vpp"] = chunks
    given |= _dtypes(found)
    recompute = _recompute(found)
    if recompute is not None:
        given["recompute"] = recompute
    if "sequence_parallel" in found:
        given["sequence_parallel"] = said(found, "sequence_parallel")
    if "use_distributed_optimizer" in found:
        given["zero"] = int(said(found, "use_distributed_optimizer"))
    if any(said(found, name) for name in _FULLY_SHARDED):
        given["zero"] = 3
    if found.get("optimizer") in {"adam", "sgd"}:
        given["optimizer"] = found["optimizer"]
    overlap = _overlap(found)
    if overlap is not None:
        given["overlap"] = overlap
    given["framework"] = "megatron-core"
    return given


DEFAULTS: Final[Mapping[str, Any]] = {
    "tp": 1, "pp": 1, "vpp": 1, "cp": 1, "zero": 0, "recompute": "none", "sequence_parallel": False,
}  # fmt: skip
"""What Megatron-LM does where nothing is said (``arguments.py``)."""


def _defaults(found: Arguments, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults of what is not said; a variable that nobody sets is none of them."""
    unset = {key for key in DEGREES if _unset(found, key)}
    return {key: value for key, value in DEFAULTS.items() if key not in given and key not in unset}


_FULLY_SHARDED: Final = ("use_torch_fsdp2", "use_custom_fsdp", "use_megatron_fsdp")


def _dtypes(found: Arguments) -> dict[str, str]:
    """Return the dtypes of the computation and of the gradients, as far as they are said."""
    dtypes: dict[str, str] = {}
    for name in ("bf16", "fp16"):
        if said(found, name):
            dtypes["dtype"] = name
    if any(found.get(name, "None").casefold() not in {"none", "false", ""} for name in _FP8):
        dtypes["dtype"] = "fp8"
    if said(found, "accumulate_allreduce_grads_in_fp32"):
        dtypes["grad_dtype"] = "fp32"
    if said(found, "grad_reduce_in_bf16"):
        dtypes["grad_dtype"] = "bf16"
    return dtypes


_FP8: Final = ("fp8_format", "fp8")


def _unset(found: Arguments, *degrees: str) -> bool:
    """Whether one of these degrees is a variable that the file does not set."""
    return any("$" in found.get(DEGREES[name], "") for name in degrees)


def _chunks(found: Arguments, given: Mapping[str, Any]) -> int | None:
    """Return the model chunks per stage (vpp)."""
    direct = positive(found, "virtual_pipeline_model_parallel_size") or positive(
        found, "num_virtual_stages_per_pipeline_rank"
    )
    per = positive(found, "num_layers_per_virtual_pipeline_stage")
    layers = positive(found, "num_layers")
    if direct is not None or per is None or layers is None:
        return direct
    stages: int = given.get("pp", 1)
    return max(1, layers // stages // per)


def _recompute(found: Arguments) -> str | None:
    granularity = found.get("recompute_granularity", "")
    if granularity in {"full", "selective"}:
        return granularity
    if said(found, "checkpoint_activations"):
        return "full"
    if said(found, "recompute_activations"):
        return "selective"
    return "none" if granularity == "None" else None


def _overlap(found: Arguments) -> list[str] | None:
    flags = {"dp": ("overlap_grad_reduce", "overlap_param_gather"), "tp": ("tp_comm_overlap",),
             "ep": ("overlap_moe_expert_parallel_comm",)}  # fmt: skip
    if not any(name in found for names in flags.values() for name in names):
        return None
    return [kind for kind, names in flags.items() if any(said(found, name) for name in names)]


def _summary(
    fields: Mapping[str, Any], given: Mapping[str, Any], workload: Workload | None
) -> Iterator[str]:
    if workload is not None:
        yield (
            f"{show_count(workload.parameters)} parameters: {fields['layers']} layers of "
            f"{fields['hidden']}, sequence {given['sequence']}"
        )
    names = ("tp", "pp", "vpp", "cp", "ep", "etp", "dp")
    degrees = ", ".join(f"{name} {given[name]}" for name in names if name in given)
    where = f" on {fields['chips']} chips" if fields["chips"] else ""
    yield f"{degrees}{where}"
    if "global_batch" in given:
        micro = given.get("micro_batch", "not said")
        yield f"global batch {given['global_batch']}, micro-batch {micro}"


def _warnings(
    found: Arguments, given: Mapping[str, Any], chips: int | None, defaults: list[str]
) -> Iterator[str]:
    tp, pp, cp = given.get("tp", 1), given.get("pp", 1), given.get("cp", 1)
    if chips is not None and chips % (tp * pp * cp):
        yield f"impossible: {chips} chips are not divisible by tp·pp·cp = {tp * pp * cp}"
    for name, degree, what in (("num_attention_heads", tp, "tp"), ("num_layers", pp, "pp")):
        value = positive(found, name)
        if value is not None and value % degree:
            yield f"impossible: {name} {value} is not divisible by {what} {degree}"
    batch, micro, dp = given.get("global_batch"), given.get("micro_batch"), given.get("dp")
    if batch and micro and dp and batch % (micro * dp):
        yield f"impossible: global batch {batch} is not divisible by micro-batch·dp = {micro * dp}"
    per_node = whole(found.get("nproc_per_node"))
    if per_node and tp > per_node:
        yield f"tp {tp} goes beyond a node of {per_node} chips: its all-reduces cross the network"
    if given.get("sequence_parallel") and tp == 1:
        yield "sequence parallelism does nothing with tp 1"
    if defaults:
        yield f"not said, so Megatron's defaults: {', '.join(defaults)}"
    unset = sorted(name for name, value in found.items() if "$" in value)
    if unset:
        yield f"variables that the file does not set: {', '.join(unset[:8])}"


_UNTESTED: Final = "written from Megatron-LM's arguments.py; no script of a user was at hand"

FORMAT: Final = Format(
    "megatron-args", "workload", _recognise, _read, tested=False, notes=(_UNTESTED,)
)
