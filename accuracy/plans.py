"""From a record and its recipe to one plan, and to the other plans it may have been."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from accuracy.recipes import Recipe
from accuracy.record import Record
from artery.core.plan import Plan
from artery.core.workload import Workload
from artery.step.legality import problems

ZERO = {
    "none (DDP)": 0,
    "ZeRO-0": 0,
    "ZeRO-1": 1,
    "DDP/distributed optimizer": 1,
    "ZeRO-2 (MegaScale)": 2,
    "FSDP (optimizer+grad, no reshard after forward)": 2,
    "ZeRO-3": 3,
    "FSDP": 3,
    "FSDP2": 3,
    "FSDP FULL_SHARD": 3,
}
"""The ZeRO stage by the sources' words."""

RECOMPUTE = {"none": "none", "none at 8K": "none", "selective": "selective", "full": "full"}
"""Recomputation by the sources' words."""

_DEGREES = ("tp", "pp", "vpp", "cp", "ep", "etp", "dp", "micro_batch", "global_batch", "sequence")


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan of a row, and what it may have been instead.

    ``unknown`` are the fields that the source leaves open; ``alternatives`` the plans that
    differ from ``plan`` in one of them.
    """

    plan: Plan
    alternatives: tuple[Plan, ...]
    unknown: tuple[str, ...]


def planned(record: Record, recipe: Recipe, workload: Workload) -> Planned:
    """Return the plan of ``record``: published, then known, then the first legal assumption.

    Raises ``ValueError`` with the broken rules if no combination of first choices is legal.
    """
    published = _published(record, recipe)
    given = {**recipe.known, **published, "framework": recipe.profile}
    open_fields = {name: list(v) for name, v in recipe.assumed.items() if name not in given}
    choices = {name: _choices(v, record, given, workload) for name, v in open_fields.items()}
    plan = _first_legal(workload, record, given, choices)
    others = {**choices, **{n: _choices(v, record, given, workload) for n, v in
                            recipe.doubted.items()}}  # fmt: skip
    alternatives = tuple(_variations(plan, others, workload))
    return Planned(plan, alternatives, tuple(sorted(others)))


def _published(record: Record, recipe: Recipe) -> dict[str, Any]:
    """The plan fields that the row itself states."""
    values: dict[str, Any] = {
        name: getattr(record, name) for name in _DEGREES if getattr(record, name) is not None
    }
    if record.sharding and "sharding" not in recipe.unread:
        values["zero"] = ZERO[record.sharding]
    if record.recompute and "recompute" not in recipe.unread:
        values["recompute"] = RECOMPUTE[record.recompute]
    if record.sequence_parallel:
        values["sequence_parallel"] = record.sequence_parallel == "yes"
    if record.dtype != "unpublished" and "dtype" not in recipe.known:
        values["dtype"] = record.dtype
    if record.pp in (None, 1):
        values["vpp"] = 1
    return values


def _choices(
    values: Any,  # noqa: ANN401  # what a TOML list holds
    record: Record,
    given: Mapping[str, Any],
    workload: Workload,
) -> list[Any]:
    """``values`` with "layers/n" turned into model chunks of n layers per stage."""
    pp = given.get("pp") or record.pp or 1
    stage = -(-workload.depth // pp)
    return [
        max(stage // int(value.removeprefix("layers/")), 1)
        if isinstance(value, str) and value.startswith("layers/")
        else value
        for value in values
    ]


def _first_legal(
    workload: Workload,
    record: Record,
    given: Mapping[str, Any],
    choices: Mapping[str, list[Any]],
) -> Plan:
    """The plan of first choices; where one is illegal, of the first that is legal instead."""
    plan = _complete(record, {**given, **{name: values[0] for name, values in choices.items()}})
    broken = problems(workload, plan)
    for name, values in choices.items():
        for value in values[1:]:
            if not broken:
                return plan
            candidate = _complete(record, {**given, **{n: v[0] for n, v in choices.items()},
                                           name: value})  # fmt: skip
            plan, broken = candidate, problems(workload, candidate)
    if broken:
        raise ValueError("; ".join(str(problem) for problem in broken))
    return plan


def _complete(record: Record, values: Mapping[str, Any]) -> Plan:
    """A whole plan: what is still open follows from the chips, or is one."""
    fields = dict(values)
    for name in ("tp", "pp", "cp", "vpp"):
        fields.setdefault(name, 1)
    if "dp" not in fields and record.chips is not None:
        fields["dp"] = record.chips // (fields["tp"] * fields["pp"] * fields["cp"])
    if "global_batch" not in fields and "micro_batch" in fields:
        fields["global_batch"] = fields["micro_batch"] * fields["dp"]
    if "micro_batch" not in fields:
        fields["micro_batch"] = fields["global_batch"] // fields["dp"]
    fields["sequence_parallel"] = bool(fields.get("sequence_parallel")) and fields["tp"] > 1
    if "overlap" in fields:
        fields["overlap"] = tuple(fields["overlap"])
    return Plan(**fields)


def _variations(plan: Plan, choices: Mapping[str, list[Any]], workload: Workload) -> Iterator[Plan]:
    """The legal plans that differ from ``plan`` in one open field."""
    for name, values in choices.items():
        for value in values:
            other = replace(plan, **{name: value})
            if other != plan and not problems(workload, other):
                yield other
