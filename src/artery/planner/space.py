"""The space of plans: what is given stays, what is not is enumerated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from artery.core.arrays import Ints
from artery.core.plan import Plan
from artery.core.system import System
from artery.core.workload import Workload
from artery.step.legality import RULES, Rule, experts_of, legal
from artery.step.plans import RECOMPUTE, Plans

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
    grid = _grid(layouts, space)
    used = layouts["tp"] * layouts["pp"] * layouts["cp"] * layouts["dp"]
    table = _Table(workload, space, _keep(layouts, used == space.chips))
    table.cross("micro_batch", _choices(space, "micro_batch", grid.micro_batches))
    table.cross("vpp", _choices(space, "vpp", grid.chunks), table.columns["pp"] > 1)
    table.cross("recompute", _recompute(space))
    parallel = table.columns["tp"] > 1
    table.cross("sequence_parallel", _choices(space, "sequence_parallel", (0, 1)), parallel)
    table.cross("zero", _choices(space, "zero", space.zero))
    if "zero" not in space.fixed:
        table.keep(_meaningful_zero(table.columns, space))
    table.cross("dp_replicate", _replicas(space, system), table.columns["zero"] == 3)
    return table.plans()


def thinned(workload: Workload, system: System, space: Space) -> bool:
    """Return whether the space is so large that only a coarse grid of it is searched."""
    return _grid(_layouts(workload, system, space), space) is not GRIDS[0]


class _Table:
    """Plans that grow column by column; each rule is applied as soon as all that it reads is there.

    The rows stay in the order in which crossing all columns first would leave them.
    """

    def __init__(self, workload: Workload, space: Space, layouts: dict[str, Ints]) -> None:
        self.columns = dict(layouts)
        self._workload, self._space = workload, space
        self._applied: set[Rule] = set()
        self._judge()

    def cross(
        self, name: str, values: tuple[int, ...], only: NDArray[np.bool_] | None = None
    ) -> None:
        """Repeat each row for every value of a new column, and drop the illegal ones.

        Rows that are not in ``only`` get the first value alone: any other is illegal for them.
        """
        rows = len(self.columns["tp"])
        counts = np.full(rows, len(values))
        if only is not None:
            counts = np.where(only, counts, 1)
        row = np.repeat(np.arange(rows), counts)
        which = np.arange(len(row)) - (np.cumsum(counts) - counts)[row]
        self.columns = {key: column[row] for key, column in self.columns.items()}
        self.columns[name] = np.array(values, dtype=np.int64)[which]
        self._judge()

    def keep(self, mask: NDArray[np.bool_]) -> None:
        """Keep the rows of the ``mask``."""
        self.columns = _keep(self.columns, mask)

    def plans(self) -> Plans:
        """The rows as plans; a column that is not there yet is 1, or off."""
        count = len(self.columns["tp"])
        one, off = np.ones(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        absent = {name: off if name in _SWITCHES else one for name in _CROSSED}
        length = np.full(count, self._space.shared.sequence, dtype=np.int64)
        columns = absent | self.columns
        batch = columns.pop("batch")
        return Plans(**columns, global_batch=batch, sequence=length, shared=self._space.shared)

    def _judge(self) -> None:
        known = {*self.columns, "global_batch", "sequence"}
        ready = [rule for rule in RULES if rule.reads <= known and rule not in self._applied]
        if ready:
            self._applied.update(ready)
            self.keep(legal(self._workload, self.plans(), ready))


_CROSSED = ("micro_batch", "vpp", "recompute", "sequence_parallel", "zero", "dp_replicate")
_SWITCHES = ("recompute", "sequence_parallel", "zero")


def _grid(layouts: dict[str, Ints], space: Space) -> Grid:
    """The finest grid that keeps the number of plans within bounds."""
    times = len(RECOMPUTE) * 2 * len(space.zero)
    for grid in GRIDS[:-1]:
        many = len(layouts["tp"]) * len(grid.micro_batches)
        if many <= MOST_PLANS and _points(layouts, space, grid) * times <= MOST_PLANS:
            return grid
    return GRIDS[-1]


def _points(layouts: dict[str, Ints], space: Space, grid: Grid) -> int:
    """How many there are of layout, micro-batch that shares the batch out, and interleaving."""
    shares = np.zeros(len(layouts["tp"]), dtype=np.int64)
    for size in _choices(space, "micro_batch", grid.micro_batches):
        shares += layouts["batch"] % (layouts["dp"] * size) == 0
    chunks = np.array(_choices(space, "vpp", grid.chunks))
    deep = layouts["pp"] > 1
    return int(np.sum(shares * np.where(deep, len(chunks), np.count_nonzero(chunks == 1))))


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


def _keep(columns: dict[str, Ints], mask: NDArray[np.bool_]) -> dict[str, Ints]:
    return {name: column[mask] for name, column in columns.items()}


def _meaningful_zero(columns: dict[str, Ints], space: Space) -> NDArray[np.bool_]:
    """Which rows do not merely repeat another: the lowest stage with dp·cp of 1, one of 1 and 2.

    The pipeline makes ZeRO 2 the same as ZeRO 1, where the framework has that.
    """
    sharing = columns["dp"] * columns["cp"] > 1
    same = (columns["zero"] == 2) & (columns["pp"] > 1) & (1 in space.zero)
    return np.asarray((sharing & ~same) | (columns["zero"] == min(space.zero)), dtype=np.bool_)
