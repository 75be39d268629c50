"""What a probe is asked for, what it finds, and what that says: without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from statistics import quantiles
from typing import Any, Final

BLOCK: Final = 4
"""Steps of one kind before steps of the other; the first of a block is not counted."""

COUNTED: Final = BLOCK - 1
"""Steps of one kind that count per round."""


@dataclass(frozen=True, slots=True)
class Run:
    """What is trained and how: names as :func:`artery.runner.tasks.find_task` takes them."""

    model: str
    data: str = "synthetic"
    size: int | None = None
    batch: int = 16
    overlap: bool = True
    compress: str = "none"
    powersgd_rank: int = 4
    accumulate: int = 1


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one probe does: a little of all this in each of ``rounds``, in this order.

    ``sweep``: bytes to all-reduce among the first so many ranks as each of ``groups`` says, in
    each type of ``types``. ``operators``: runs of which each operator is timed on its own, and
    those of the ``exchanges`` (kinds of compression) of their gradients. ``runs``: runs whose steps
    are timed. At the end ``traced`` steps of each run are taken under the profiler.
    """

    sweep: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    types: tuple[str, ...] = ("none",)
    operators: tuple[Run, ...] = ()
    exchanges: tuple[str, ...] = ()
    runs: tuple[Run, ...] = ()
    rounds: int = 6
    traced: int = 3


@dataclass(slots=True)
class Steps:
    """Times of the steps of one run on one rank, in seconds.

    ``alone``: steps without exchange, of which ``forward``, ``backward`` and ``optimizer`` are
    parts, and ``thread`` the processor time. ``whole``: steps with exchange, in which ``wait``
    passed between the end of backward and the means, and ``processor`` is the time of all threads.
    ``spans``: when each all-reduce of those steps began and was done. ``bytes_sent``: what this
    rank hands to all-reduces per step.
    """

    alone: list[float] = field(default_factory=list)
    forward: list[float] = field(default_factory=list)
    backward: list[float] = field(default_factory=list)
    optimizer: list[float] = field(default_factory=list)
    thread: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    wait: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    spans: list[list[list[float]]] = field(default_factory=list)
    bytes_sent: float = 0.0
    trace: str | None = None


def typical(times: Sequence[float]) -> float:
    """Return the lower quartile: what others do on the machine only ever adds to a time."""
    return quantiles(times, n=4)[0] if len(times) > 1 else times[0]


def exposed(runs: Sequence[Mapping[str, Any]]) -> float:
    """Return what a step with exchange takes beyond one without, in seconds, not below zero.

    ``runs`` is one run as each rank found it; the slowest rank counts.
    """
    return max(0.0, slowest(runs, "whole") - slowest(runs, "alone"))


def slowest(runs: Sequence[Mapping[str, Any]], name: str) -> float:
    """Return the typical time ``name`` of the slowest rank."""
    return max(typical(run[name]) for run in runs)


def communication(runs: Sequence[Mapping[str, Any]]) -> float:
    """Return the typical seconds per step with an all-reduce under way.

    An all-reduce counts from when the last rank has begun it, so that waiting for a slower rank
    is none, until the last rank has its result. ``runs`` is one run as each rank found it.
    """
    return typical([covered(step) for step in zip(*(run["spans"] for run in runs), strict=True)])


def covered(step: Sequence[Sequence[Sequence[float]]]) -> float:
    """Return how long at least one all-reduce of a step was under way, from each rank's spans."""
    return _covered([common(one) for one in zip(*step, strict=True)])


def common(spans: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return when all ranks had begun an all-reduce, and when all of them had its result."""
    return max(span[0] for span in spans), max(span[1] for span in spans)


def _covered(spans: Sequence[tuple[float, float]]) -> float:
    """Return how long at least one of ``spans`` lasted."""
    total, reached = 0.0, -inf
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total
