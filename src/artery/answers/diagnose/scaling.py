"""How throughput goes on with more GPUs and more nodes, from what people measured or state.

Throughputs of several runs are set against the smallest. A speed-up is against one node where
nodes are counted, else against one GPU; one that is above the number of nodes can only be against
one GPU. Times are compared among runs on equally many GPUs alone: then it does not matter whether
the work grew with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any, Final, NamedTuple

from artery.diagnoser.case import Fact

Row = Mapping[str, Any]

_SPREAD: Final = 1.25
"""Assumed: no run is faster than its size by more."""


class Run(NamedTuple):
    """GPUs and nodes of a run, and its throughput in any one unit."""

    ranks: float
    nodes: float
    rate: float


def scaling_facts(facts: Mapping[str, Fact], rows: Sequence[Row]) -> Iterator[tuple[str, Fact]]:
    """Yield ``efficiency_in_node``, ``efficiency_across`` and ``throughput_over_one_node``.

    The first two are throughput per GPU over that of the smallest run, the third is throughput
    of all nodes over that of one. What was measured comes last, so that it holds above what
    somebody states.
    """
    for row in rows:
        yield from _stated(facts, row)
    yield from _times(facts, rows)
    yield from _measured(throughputs(facts, rows))


def throughputs(facts: Mapping[str, Fact], rows: Sequence[Row]) -> list[Run]:
    """Return each run that says all, fewest ranks first."""
    found = []
    for row in rows:
        nodes, ranks = _place(facts, row)
        rate = total(row, ranks)
        if rate and ranks and nodes:
            found.append(Run(ranks, nodes, rate))
    return sorted(found)


def total(row: Row, ranks: float | None) -> float | None:
    """Return the throughput of all GPUs of a measurement; ``None`` if it has none."""
    one = row.get("samples_per_s_per_gpu") or row.get("tokens_per_s_per_gpu")
    if one:
        return float(one) * ranks if ranks else None
    both = row.get("samples_per_s") or row.get("tokens_per_s")
    return float(both) if both else None


def _place(facts: Mapping[str, Fact], row: Row) -> tuple[float | None, float | None]:
    """Return nodes and ranks of a measurement, as far as they are known."""
    each, ranks = facts.get("gpus_per_node"), row.get("ranks")
    nodes = row.get("nodes") or (facts.get("nodes") if ranks is None else None)
    if nodes is None and ranks is not None:
        nodes = float(max(1, ceil(ranks / each))) if isinstance(each, float) and each else 1.0
    if ranks is None:
        ranks = _product(nodes, each)
    return (nodes if isinstance(nodes, float) else None), ranks


def _product(one: object, other: object) -> float | None:
    return one * other if isinstance(one, float) and isinstance(other, float) else None


def _stated(facts: Mapping[str, Fact], row: Row) -> Iterator[tuple[str, Fact]]:
    """Yield what a speed-up says: over so many nodes it would be their number."""
    gain = row.get("speedup")
    nodes, ranks = _place(facts, row)
    if gain is None or gain <= 0:
        return
    if nodes and nodes > 1 and gain <= _SPREAD * nodes:
        yield "efficiency_across", gain / nodes
        yield "throughput_over_one_node", gain
    elif ranks and ranks > 1:
        each = facts.get("gpus_per_node")
        inside = ranks <= each if isinstance(each, float) else nodes == 1
        yield "efficiency_in_node" if inside else "efficiency_across", gain / ranks


def _times(facts: Mapping[str, Fact], rows: Sequence[Row]) -> Iterator[tuple[str, Fact]]:
    """Yield what times of equally many GPUs on more nodes say."""
    best: dict[float, dict[float, float]] = {}
    for row in rows:
        nodes, ranks = _place(facts, row)
        time = row.get("run_time") or row.get("step_time")
        if nodes and ranks and time:
            over = best.setdefault(ranks, {})
            over[nodes] = min(time, over.get(nodes, time))
    for over in best.values():
        if len(over) > 1:
            yield "efficiency_across", over[min(over)] / over[max(over)]


def _measured(runs: Sequence[Run]) -> Iterator[tuple[str, Fact]]:
    inside = [run for run in runs if run.nodes == 1]
    across = [run for run in runs if run.nodes > 1]
    if len(inside) > 1:
        yield "efficiency_in_node", _efficiency(inside[0], inside[-1])
    if not across:
        return
    base, last = (inside[-1] if inside else runs[0]), across[-1]
    if base.ranks < last.ranks or base.nodes < last.nodes:
        yield "efficiency_across", _efficiency(base, last)
    if inside and base.ranks * last.nodes == last.ranks:
        yield "throughput_over_one_node", last.rate / base.rate


def _efficiency(small: Run, large: Run) -> float:
    return (large.rate / large.ranks) / (small.rate / small.ranks)
