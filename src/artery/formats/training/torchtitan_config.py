"""torchtitan's ``.toml`` job configurations (``torchtitan/config/job_config.py``)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from artery.catalog.models import model
from artery.core.workload import Workload
from artery.errors import InputError, Problem
from artery.formats.reading import Format, Reading
from artery.formats.syntax.json_text import inside
from artery.formats.syntax.numerals import whole
from artery.formats.text import Text

_SECTION: Final = re.compile(
    r"(?m)^[ \t]*\[(job|model|training|parallelism|activation_checkpoint)\]"
)
_LARGEST: Final = 2**20
"""Assumed: characters of a configuration; real ones have some kilobytes."""

_DEGREES: Final = {
    "tp": ("parallelism.tensor_parallel_degree", "training.tensor_parallel_degree"),
    "pp": ("parallelism.pipeline_parallel_degree", "experimental.pipeline_parallel_degree"),
    "cp": ("parallelism.context_parallel_degree", "experimental.context_parallel_degree"),
    "ep": ("parallelism.expert_parallel_degree",),
    "etp": ("parallelism.expert_tensor_parallel_degree",),
    "dp_replicate": ("parallelism.data_parallel_replicate_degree",
                     "training.data_parallel_replicate_degree"),
    "micro_batch": ("training.local_batch_size", "training.batch_size"),
    "global_batch": ("training.global_batch_size",),
    "sequence": ("training.seq_len",),
}  # fmt: skip
"""Where each field stands, in new and in old versions."""

_DTYPES: Final = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}

_SHARD: Final = ("parallelism.data_parallel_shard_degree", "training.data_parallel_shard_degree")
_MODELS: Final = {
    ("llama3", "8B"): "llama3-8b", ("llama3", "70B"): "llama3-70b",
    ("llama3", "405B"): "llama3-405b",
    ("llama2", "7B"): "llama2-7b", ("llama2", "13B"): "llama2-13b", ("llama2", "70B"): "llama2-70b",
    ("deepseek_v3", "671B"): "deepseek-v3", ("qwen3", "30B-A3B"): "qwen3-30b-a3b",
}  # fmt: skip
"""torchtitan's name and flavour, and the catalog's name."""


def _recognise(text: Text) -> float:
    found = set(_SECTION.findall(text.head))
    return (
        0.9
        if {"model", "training"} <= found and re.search(r"(?m)^[ \t]*flavor\s*=", text.head)
        else 0.0
    )


def _table(text: Text) -> Mapping[str, Any]:
    if len(text.content) > _LARGEST:
        raise _refused(text, None, "a larger file")
    try:
        return tomllib.loads(text.content)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d{1,9})", str(error))
        raise _refused(text, int(line[1]) if line else None, str(error)) from None
    except (RecursionError, ValueError):
        raise _refused(text, None, "brackets too deep or a number too long") from None


def _refused(text: Text, line: int | None, found: str) -> InputError:
    fix = "send the file that torchtitan is started with"
    return InputError(Problem(file=text.path, line=line, found=found, rule="must be TOML", fix=fix))


def _value(table: Mapping[str, Any], paths: tuple[str, ...]) -> int | None:
    return next(
        (one for path in paths if (one := whole(inside(table, *path.split(".")))) is not None), None
    )


def _read(text: Text) -> Reading:
    table = _table(text)
    given: dict[str, Any] = {}
    for name, paths in _DEGREES.items():
        value = _value(table, paths)
        if value is not None and value > 0:
            given[name] = value
    for name in ("tp", "pp", "cp"):
        given.setdefault(name, 1)  # torchtitan's own default of every degree
    shard = _value(table, _SHARD)
    if shard is not None:
        given["zero"] = 0 if shard == 1 else 3
        if shard > 0:
            given["dp"] = shard * given.get("dp_replicate", 1)
    mode = inside(table, "activation_checkpoint", "mode")
    if mode in {"none", "selective", "full"}:
        given["recompute"] = mode
    if isinstance(inside(table, "optimizer", "name"), str):
        given["optimizer"] = str(inside(table, "optimizer", "name")).casefold()
    parameter = inside(table, "training", "mixed_precision_param")
    if _fp8(table) or parameter in _DTYPES:
        given["dtype"] = "fp8" if _fp8(table) else _DTYPES[parameter]
    compiled = bool(inside(table, "compile", "enable") or inside(table, "training", "compile"))
    given["framework"] = "torchtitan" if compiled else "torchtitan-eager"
    workload, known = _model(table)
    fields = {
        **given, "shard_degree": shard, "compiled": compiled, **known,
        "parameters": workload.parameters if workload else None,
        "steps": whole(inside(table, "training", "steps")),
        "missing_facts": list(_missing(known, given, shard)),
    }  # fmt: skip
    return Reading("torchtitan-config", "workload", tuple(_summary(fields, given)), fields,
                   tuple(_warnings(table, fields)), workload=workload, given=given)  # fmt: skip


def _fp8(table: Mapping[str, Any]) -> bool:
    converters = inside(table, "model", "converters")
    return bool(inside(table, "float8", "enable_float8_linear")) or (
        isinstance(converters, list) and any("float8" in str(one) for one in converters)
    )


def _model(table: Mapping[str, Any]) -> tuple[Workload | None, dict[str, Any]]:
    """Return the model, if the catalog has it, and what the file calls it."""
    name, flavor = inside(table, "model", "name"), inside(table, "model", "flavor")
    catalog = _MODELS.get((str(name), str(flavor)))
    known = {"model": str(name) if name else None, "flavor": str(flavor) if flavor else None,
             "catalog_model": catalog}  # fmt: skip
    return model(catalog) if catalog else None, known


def _missing(
    known: Mapping[str, Any], given: Mapping[str, Any], shard: int | None
) -> Iterator[str]:
    if known["catalog_model"] is None:
        yield f"model: {known['model']} {known['flavor']} is not in the catalog: config.json"
    if shard is None or shard < 0:
        yield "chips: data_parallel_shard_degree is -1 (whatever is left); say how many GPUs run it"
    if "micro_batch" not in given:
        yield "local_batch_size"


def _summary(fields: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[str]:
    yield f"{fields['model']} {fields['flavor']}, sequence {fields.get('sequence', 'not said')}"
    names = ("tp", "pp", "cp", "ep", "dp", "dp_replicate", "zero")
    yield ", ".join(f"{name} {given[name]}" for name in names if name in given)
    dtype, recompute = given.get("dtype", "dtype not said"), given.get("recompute", "not said")
    yield f"{'compiled' if fields['compiled'] else 'eager'}, {dtype}, recompute {recompute}"


def _warnings(table: Mapping[str, Any], fields: Mapping[str, Any]) -> Iterator[str]:
    if not fields["compiled"]:
        yield "torch.compile is off: kernels are not fused"
    schedule = inside(table, "parallelism", "pipeline_parallel_schedule")
    if fields.get("pp", 1) > 1 and schedule is None:
        yield "pipeline parallelism without a named schedule"
    if "dtype" not in fields:
        yield "the dtype is not said; torchtitan's default is mixed precision in bf16"


_UNTESTED: Final = "written from torchtitan's job_config.py; no file of a user was at hand"

FORMAT: Final = Format(
    "torchtitan-config", "workload", _recognise, _read, tested=False, notes=(_UNTESTED,)
)
