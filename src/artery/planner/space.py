"""The space of plans: what is given stays, what is not is enumerated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from artery.core.plan import Plan
from artery.core.system import System
from artery.core.workload import Workload
from artery.step.legality import experts_of, legal
from artery.step.plans import RECOMPUTE, Plans

Ints = NDArray[np.int64]

MICRO_BATCHES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
CHUNKS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16)
TENSOR_DOMAINS = 2
"""Tensor parallelism is tried up to this many scale-up domains wide."""


@dataclass(frozen=True, slots=True)
class Space:
    """``fixed`` degrees by field name, ``shared`` the fields that all plans have in common.

    ``zero`` are the stages that the framework has.
    """

    chips: int
    fixed: Mapping[str, int]
    shared: Plan
    zero: tuple[int, ...] = (0, 1, 2, 3)


@dataclass(frozen=True, slots=True)
class Grid:
    """The micro-batches and the chunks per stage that are tried."""

    micro_batches: tuple[int, ...]
    chunks: tuple[int, ...]


GRIDS = (
    Grid(MICRO_BATCHES, CHUNKS),
    Grid((1, 2, 4, 8, 16, 32, 64), (1, 2, 4, 8)),
    Grid((1, 2, 4, 8), (1, 2, 4)),
    Grid((1, 2), (1, 2)),
    Grid((1,), (1, 2)),
)
"""From fine to coarse: the first one that keeps the space below ``MOST_PLANS`` is taken."""

MOST_PLANS = 3_000_000
"""Plans of one search, before illegal ones are dropped: some seconds and a gigabyte."""


def divisors(number: int, limit: int) -> list[int]:
    """Return the divisors of ``number`` up to ``limit``, ascending."""
    return [d for d in range(1, min(number, limit) + 1) if number % d == 0]


def enumerate_plans(workload: Workload, system: System, space: Space) -> Plans:
    """Return every legal plan in the space, as arrays; perhaps none.

    Plans differ in fields that change time or memory: no interleaving without a pipeline, no
    sequence parallelism without tensor parallelism, no ZeRO without data parallelism, no
    selective recomputation of fused attention. Expert-tensor parallelism is tried only when
    given: narrow experts run worse than fewer whole ones.
    """
    layouts = _layouts(workload, system, space)
    columns = _on_grid(layouts, space, _grid(layouts, space))
    columns = _cross(columns, "recompute", _recompute(space))
    columns = _cross(columns, "sequence_parallel", _choices(space, "sequence_parallel", (0, 1)))
    alone = columns["tp"] == 1
    if "sequence_parallel" not in space.fixed:
        columns = _keep(columns, ~alone | (columns["sequence_parallel"] == 0))
    columns = _cross(columns, "zero", _choices(space, "zero", space.zero))
    columns = _only_meaningful_zero(columns, space)
    columns = _cross(columns, "dp_replicate", _replicas(space, system))
    plans = _plans(columns, space)
    return plans.take(np.flatnonzero(legal(workload, plans) & (plans.chips == space.chips)))


def thinned(workload: Workload, system: System, space: Space) -> bool:
    """Return whether the space is so large that only a coarse grid of it is searched."""
    return _grid(_layouts(workload, system, space), space) is not GRIDS[0]


def _grid(layouts: dict[str, Ints], space: Space) -> Grid:
    """The finest grid that keeps the number of plans within bounds."""
    times = len(RECOMPUTE) * 2 * len(space.zero)
    for grid in GRIDS[:-1]:
        many = len(layouts["tp"]) * len(grid.micro_batches)
        if many <= MOST_PLANS and len(_on_grid(layouts, space, grid)["tp"]) * times <= MOST_PLANS:
            return grid
    return GRIDS[-1]


def _on_grid(layouts: dict[str, Ints], space: Space, grid: Grid) -> dict[str, Ints]:
    """The layouts with every micro-batch that shares the batch out, and every interleaving."""
    columns = _cross(layouts, "micro_batch", _choices(space, "micro_batch", grid.micro_batches))
    columns = _keep(columns, columns["batch"] % (columns["dp"] * columns["micro_batch"]) == 0)
    columns = _cross(columns, "vpp", _choices(space, "vpp", grid.chunks))
    return _keep(columns, (columns["vpp"] == 1) | (columns["pp"] > 1))


def _layouts(workload: Workload, system: System, space: Space) -> dict[str, Ints]:
    """Ways to factor the chips into tp, pp, cp, dp, with expert degrees beside them."""
    domain = system.tiers[0].chips if system.tiers else 1
    widest = min(workload.heads or 1, domain * TENSOR_DOMAINS)
    experts = experts_of(workload)
    rows = []
    for tp in _given(space, "tp", divisors(space.chips, widest)):
        for pp in _given(space, "pp", divisors(space.chips // tp or 1, workload.depth)):
            longest = max(space.shared.sequence // 1024, 1) if workload.row_kind == "token" else 1
            for cp in _given(space, "cp", divisors(space.chips // (tp * pp) or 1, longest)):
                dp = space.fixed.get("dp", space.chips // (tp * pp * cp))
                if dp < 1:
                    continue
                for ep, etp in _expert_degrees(space, experts, dp * cp * tp):
                    rows.append((tp, pp, cp, dp, ep, etp))
    table = np.array(rows, dtype=np.int64).reshape(-1, 6)
    names = ("tp", "pp", "cp", "dp", "ep", "etp")
    columns = {name: table[:, i] for i, name in enumerate(names)}
    columns["batch"] = np.full(len(table), space.fixed["global_batch"], dtype=np.int64)
    return columns


def _expert_degrees(space: Space, experts: int, room: int) -> list[tuple[int, int]]:
    if experts == 0:
        return [(space.fixed.get("ep", 1), space.fixed.get("etp", 1))]
    etp = space.fixed.get("etp", 1)
    pairs = [(ep, etp) for ep in _given(space, "ep", divisors(experts, min(experts, 256)))]
    return [pair for pair in pairs if room % (pair[0] * pair[1]) == 0]


def _given(space: Space, name: str, otherwise: list[int]) -> list[int]:
    return [space.fixed[name]] if name in space.fixed else otherwise


def _choices(space: Space, name: str, otherwise: tuple[int, ...]) -> tuple[int, ...]:
    return (space.fixed[name],) if name in space.fixed else otherwise


def _recompute(space: Space) -> tuple[int, ...]:
    if "recompute" in space.fixed:
        return (space.fixed["recompute"],)
    fused = space.shared.attention != "eager"
    return tuple(i for i, name in enumerate(RECOMPUTE) if not (fused and name == "selective"))


def _replicas(space: Space, system: System) -> tuple[int, ...]:
    """HSDP shards inside some number of nodes: replicas from 1 up, by powers of two."""
    if "dp_replicate" in space.fixed:
        return (space.fixed["dp_replicate"],)
    return tuple(2**i for i in range(0, 8, 2) if 2**i <= max(system.nodes, 1))


def _only_meaningful_zero(columns: dict[str, Ints], space: Space) -> dict[str, Ints]:
    """Drop stages that change nothing: all but the lowest with dp·cp of 1, ZeRO 2 with a pipeline.

    The pipeline makes ZeRO 2 the same as ZeRO 1, where the framework has that.
    """
    if "zero" in space.fixed:
        return columns
    sharing = columns["dp"] * columns["cp"] > 1
    same = (columns["zero"] == 2) & (columns["pp"] > 1) & (1 in space.zero)
    return _keep(columns, (sharing & ~same) | (columns["zero"] == min(space.zero)))


def _cross(columns: dict[str, Ints], name: str, values: tuple[int, ...]) -> dict[str, Ints]:
    """The table with each row repeated for every value of a new column."""
    count = len(next(iter(columns.values())))
    repeated = {key: np.repeat(column, len(values)) for key, column in columns.items()}
    repeated[name] = np.tile(np.array(values, dtype=np.int64), count)
    return repeated


def _keep(columns: dict[str, Ints], mask: NDArray[np.bool_]) -> dict[str, Ints]:
    return {name: column[mask] for name, column in columns.items()}


def _plans(columns: dict[str, Ints], space: Space) -> Plans:
    count = len(columns["tp"])
    batch = columns.pop("batch")
    length = np.full(count, space.shared.sequence, dtype=np.int64)
    return Plans(**columns, global_batch=batch, sequence=length, shared=space.shared)
