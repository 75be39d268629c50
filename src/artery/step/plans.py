"""``Plans``: many plans as arrays, one entry per plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from artery.core.arrays import Floats, Ints
from artery.core.plan import Plan, Recompute

RECOMPUTE: tuple[Recompute, ...] = ("none", "selective", "full")
"""Recomputation by its code in ``Plans.recompute``."""

_COLUMNS = tuple(field.name for field in fields(Plan) if type(field.default) is int)
"""The whole numbers of a ``Plan``: a column of the same name each."""


@dataclass(frozen=True, slots=True)
class Plans:
    """Arrays of one length; ``shared`` holds the fields that are equal in all plans.

    ``recompute`` is an index into ``RECOMPUTE``; ``sequence_parallel`` is 0 or 1.
    """

    tp: Ints
    pp: Ints
    vpp: Ints
    cp: Ints
    ep: Ints
    etp: Ints
    dp: Ints
    dp_replicate: Ints
    zero: Ints
    micro_batch: Ints
    global_batch: Ints
    sequence: Ints
    recompute: Ints
    sequence_parallel: Ints
    shared: Plan

    def __len__(self) -> int:
        return len(self.tp)

    @property
    def rows(self) -> Floats:
        """Rows of work (tokens, samples) of one micro-batch on one context-parallel rank."""
        return np.asarray(self.micro_batch * self.sequence / self.cp, dtype=np.float64)

    @property
    def micro_batches(self) -> Ints:
        """Micro-batches that one pipeline works off per step."""
        return self.global_batch // (self.dp * self.micro_batch)

    @property
    def chips(self) -> Ints:
        """Chips that each plan uses."""
        return self.tp * self.pp * self.cp * self.dp

    @property
    def sequence_shards(self) -> Ints:
        """What divides ``sequence``-split work: tp under sequence parallelism, else 1."""
        return np.where(self.sequence_parallel == 1, self.tp, 1)

    @property
    def recomputed(self) -> Floats:
        """Share of layers whose forward pass is run again in full."""
        return np.where(
            self.recompute == RECOMPUTE.index("full"), self.shared.recompute_layers, 0.0
        )

    def take(self, index: Ints) -> Plans:
        """Return the plans at ``index``, in that order."""
        columns = {f.name: getattr(self, f.name)[index] for f in fields(self) if f.name != "shared"}
        return Plans(**columns, shared=self.shared)

    def row(self, index: int) -> Plan:
        """Return one plan as the noun."""
        values: dict[str, Any] = {name: int(getattr(self, name)[index]) for name in _COLUMNS}
        return replace(
            self.shared,
            recompute=RECOMPUTE[int(self.recompute[index])],
            sequence_parallel=bool(self.sequence_parallel[index]),
            **values,
        )

    @classmethod
    def of(cls, plans: Sequence[Plan]) -> Plans:
        """Return ``plans`` as arrays. They must agree in every field that is no column."""
        if not plans:
            raise ValueError("no plans given")
        shared = _shared(plans[0])
        if any(_shared(plan) != shared for plan in plans):
            raise ValueError("plans in one array must agree in dtype, framework and the like")
        columns = {n: np.array([getattr(p, n) for p in plans], dtype=np.int64) for n in _COLUMNS}
        return cls(
            **columns,
            recompute=np.array([RECOMPUTE.index(p.recompute) for p in plans], dtype=np.int64),
            sequence_parallel=np.array([int(p.sequence_parallel) for p in plans], dtype=np.int64),
            shared=shared,
        )


def _shared(plan: Plan) -> Plan:
    """The plan with every column field reset, so that equal means shareable."""
    reset: dict[str, Any] = dict.fromkeys(_COLUMNS, 1)
    return replace(plan, **reset, recompute="none", sequence_parallel=False)


def floats(values: ArrayLike) -> Floats:
    """Return ``values`` as float64: what arithmetic on mixed arrays is meant to give."""
    return np.asarray(values, dtype=np.float64)


def distinct(*columns: NDArray[np.int64]) -> tuple[Ints, Ints]:
    """Return (first index, inverse) of the distinct rows of equally long ``columns``.

    Costs are computed on ``column[first]`` and spread with ``cost[inverse]``.
    """
    key = np.zeros(len(columns[0]), dtype=np.int64)
    span = 1
    for column in columns:
        low, high = int(column.min()), int(column.max())
        width = high - low + 1
        if span > (1 << 62) // width:
            _, key = np.unique(key, return_inverse=True)
            span = int(key.max()) + 1
        key = key * width + (column - low)
        span *= width
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return first.astype(np.int64), inverse.astype(np.int64)
