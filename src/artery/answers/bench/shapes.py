"""Which schedules can be run for a collective, and of which shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from artery.collective.schedules import names, schedule
from artery.collective.schedules.registry import builders
from artery.collective.spelling import spelled
from artery.core.pricing import Collective
from artery.errors import ArteryError, UnknownNameError, UsageError

SLICE: Final = 256 * 2**10
"""Bytes of a slice of a pipelined tree or chain. Assumed: its time hides the latency of a step."""

SLICES: Final = 32
"""At most so many slices (assumed)."""

_TYPES: Final = {
    "half": "fp16", "bfloat16": "bf16", "float": "fp32", "double": "fp64",
}  # fmt: skip
"""The names by which switches that add know types; integers are called the same."""


def square(ranks: int) -> int:
    """Return the ranks per node that make the most nearly square group: 2 of 4, 2 of 8, 3 of 9."""
    return next(size for size in range(int(ranks**0.5), 0, -1) if ranks % size == 0)


def shape_of(
    name: str,
    collective: Collective,
    ranks: int,
    *,
    per_node: int | None,
    size: int,
    dtype: str,
) -> dict[str, Any]:
    """Return what :func:`artery.collective.schedules.schedule` is told of an algorithm.

    ``per_node`` ranks share a node; if it is not given, algorithms that need nodes get the most
    nearly square group, and the others none. ``size`` (bytes) sets the slices of a pipeline.
    """
    builder = builders()[name]
    inner = per_node or square(ranks)
    shape: dict[str, Any] = {}
    if "per_node" in builder.required or (per_node is not None and "per_node" in builder.shape):
        shape["per_node"] = inner
    if name == "collnet" and collective != "all_reduce":
        shape.pop("per_node", None)  # SHARP gathers and scatters between nodes of one rank only
    if "levels" in builder.shape and ranks % inner == 0:
        shape["levels"] = [inner, ranks // inner]
    if "dims" in builder.shape and ranks % inner == 0:
        shape["dims"] = [inner, ranks // inner]
    if "slices" in builder.shape and _sliced(name, collective):
        shape["slices"] = max(1, min(SLICES, size // SLICE))
    if "dtype" in builder.shape:
        shape["dtype"] = _TYPES.get(dtype, dtype)
    return shape


def _sliced(name: str, collective: Collective) -> bool:
    """Whether a schedule goes through a tree or a chain, where slices follow one another."""
    return collective in {"all_reduce", "broadcast", "reduce"} and (
        name != "ring" or collective != "all_reduce"
    )


def algorithm_named(text: str, collective: Collective) -> str:
    """Return the registry's name of the algorithm that ``text`` spells.

    Raises :class:`artery.errors.UnknownNameError` and :class:`artery.errors.UsageError`.
    """
    name = spelled(text, builders())
    if name is None:
        raise UnknownNameError("algorithm", text, ("library", *builders()))
    if collective not in builders()[name].collectives:
        able = ", ".join(names(collective))
        raise UsageError(f"{text} does not do {collective}; use library or one of {able}")
    return name


def runnable(
    collective: Collective, ranks: int, per_node: int | None, dtype: str
) -> tuple[Mapping[str, bool], tuple[str, ...]]:
    """Return the algorithms that exist for so many ranks, and whether each needs a switch.

    Beside them, why the others do not.
    """
    able: dict[str, bool] = {}
    left_out = []
    for name in names(collective):
        try:
            shape = shape_of(name, collective, ranks, per_node=per_node, size=SLICE, dtype=dtype)
            able[name] = schedule(name, collective, ranks, **shape).switches > 0
        except ArteryError as error:
            left_out.append(f"{name}: {error}")
    return able, tuple(left_out)
