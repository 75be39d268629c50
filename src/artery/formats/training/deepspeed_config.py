"""DeepSpeed's ``ds_config.json`` (deepspeed.ai, "DeepSpeed Configuration JSON")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.reading import Format, Reading
from artery.formats.syntax.json_text import inside, json_of, looks_like_json
from artery.formats.syntax.numerals import number, whole
from artery.formats.text import Text

_KEY: Final = re.compile(
    r'"(train_batch_size|train_micro_batch_size_per_gpu|gradient_accumulation_steps|'
    r"zero_optimization|zero_allow_untested_optimizer|gradient_clipping|steps_per_print|"
    r'wall_clock_breakdown|activation_checkpointing)"\s*:'
)
_AUTO: Final = "auto"


def _recognise(text: Text) -> float:
    keys = set(_KEY.findall(text.head))
    if not looks_like_json(text) or not keys:
        return 0.0
    return 0.9 if "zero_optimization" in keys or len(keys) >= 2 else 0.5


def _read(text: Text) -> Reading:
    table = json_of(text)
    if not isinstance(table, dict):
        rule = "a configuration is one table"
        raise InputError(Problem(file=text.path, found="a list", rule=rule, fix="send the file"))
    batch = whole(table.get("train_batch_size"))
    micro = whole(table.get("train_micro_batch_size_per_gpu"))
    accumulated = whole(table.get("gradient_accumulation_steps"))
    given: dict[str, Any] = {"zero": whole(inside(table, "zero_optimization", "stage")) or 0}
    if micro is not None and micro > 0:
        given["micro_batch"] = micro
    if batch is not None and batch > 0:
        given["global_batch"] = batch
    given |= _dtypes(table)
    name = inside(table, "optimizer", "type")
    if isinstance(name, str) and name.casefold() in {"adam", "adamw", "lamb", "sgd"}:
        given["optimizer"] = name.casefold()
    if isinstance(inside(table, "zero_optimization", "overlap_comm"), bool):
        given["overlap"] = ["dp"] if inside(table, "zero_optimization", "overlap_comm") else []
    given["framework"] = "deepspeed-2021"
    ranks = _data_parallel(batch, micro, accumulated)
    if ranks is not None and float(ranks).is_integer():
        given["dp"] = int(ranks)
    fields = {
        **given, "accumulation": accumulated, "data_parallel_ranks": ranks,
        "offload_optimizer": _offload(table, "offload_optimizer"),
        "offload_parameters": _offload(table, "offload_param"),
        "auto": sorted(_autos(table)), "missing_facts": ["model: the file does not name it"],
        "bytes_per_parameter": _state(given["zero"], ranks),
    }  # fmt: skip
    return Reading("deepspeed-config", "workload", tuple(_summary(fields)), fields,
                   tuple(_warnings(table, fields)), given=given)  # fmt: skip


def _dtypes(table: Mapping[str, Any]) -> dict[str, str]:
    found = {}
    for name in ("fp16", "bf16"):
        section = table.get(name) or table.get("bfloat16" if name == "bf16" else name)
        if inside(section, "enabled") is True:
            found["dtype"] = name
    reduced = table.get("communication_data_type")
    if reduced in {"fp16", "bf16", "fp32"}:
        found["grad_dtype"] = str(reduced)
    return found


def _data_parallel(batch: int | None, micro: int | None, accumulated: int | None) -> float | None:
    """Return train_batch / (micro-batch · accumulation), which DeepSpeed checks at the start."""
    if not batch or not micro or not accumulated or min(batch, micro, accumulated) < 1:
        return None
    return batch / (micro * accumulated)


def _state(stage: int, ranks: float | None) -> float | None:
    """Return bytes of weights, gradients and Adam's state per parameter and rank.

    16 B in mixed precision: 2 weights, 2 gradients, 12 optimizer, of which stages 1, 2 and 3
    shard the optimizer, the gradients and the weights over the ranks (arXiv 1910.02054, figure 1).
    """
    if ranks is None or stage not in range(4):
        return None
    parts = (12.0, 2.0, 2.0)
    return sum(size / ranks if stage > index else size for index, size in enumerate(parts))


def _offload(table: Mapping[str, Any], name: str) -> str | None:
    device = inside(table, "zero_optimization", name, "device")
    return device if isinstance(device, str) and device != "none" else None


def _autos(value: object, path: str = "", depth: int = 0) -> Iterator[str]:
    """Yield the paths of values that the Hugging Face trainer fills in."""
    if isinstance(value, Mapping) and depth < 8:
        for key, one in value.items():
            yield from _autos(one, f"{path}.{key}" if path else str(key), depth + 1)
    elif value == _AUTO:
        yield path


def _summary(fields: Mapping[str, Any]) -> Iterator[str]:
    yield f"DeepSpeed ZeRO stage {fields['zero']}, {fields.get('dtype', 'fp32, if not auto')}"
    batch, micro = fields.get("global_batch", "not said"), fields.get("micro_batch", "not said")
    steps = fields["accumulation"] or "not said"
    yield f"batch {batch}, micro-batch {micro} per GPU, accumulation {steps}"
    if fields["data_parallel_ranks"] is not None:
        yield f"{fields['data_parallel_ranks']:g} data-parallel ranks follow from the batch"


def _warnings(table: Mapping[str, Any], fields: Mapping[str, Any]) -> Iterator[str]:
    ranks = fields["data_parallel_ranks"]
    if ranks is not None and not float(ranks).is_integer():
        yield "impossible: train_batch_size is no multiple of micro-batch · accumulation"
    if fields["auto"]:
        yield f'"auto", filled in by the Trainer, not known here: {", ".join(fields["auto"][:6])}'
    if fields["offload_optimizer"] or fields["offload_parameters"]:
        yield (
            "offloading moves states over PCIe in every step; DeepSpeed asks for 18 B x 1.5 of "
            "host memory per parameter"
        )
    if fields["zero"] == 3:
        yield "stage 3 gathers the weights in both passes: 1.5 times the traffic of stages 0 to 2"
    if inside(table, "fp16", "enabled") is True and inside(table, "bf16", "enabled") is True:
        yield "impossible: fp16 and bf16 are both enabled"
    bucket = number(inside(table, "zero_optimization", "reduce_bucket_size"))
    if bucket is not None and bucket < 1e7:
        yield "reduce_bucket_size below 10 M elements: many small collectives, ruled by latency"


_UNTESTED: Final = "written from DeepSpeed's documentation; no file of a user was at hand"

FORMAT: Final = Format(
    "deepspeed-config", "workload", _recognise, _read, tested=False, notes=(_UNTESTED,)
)
