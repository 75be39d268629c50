"""How ``expect`` prices its rows: the ranks on the system, the two menus, the notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from artery.answers.expect.result import DTYPES, ExpectAnswer, ExpectRow, Note, Speed
from artery.answers.libraries import library_of
from artery.answers.systems import system_of
from artery.collective import ClosedForm, Library, Quote, bus_factor
from artery.collective.placement import Placement, listed, packed
from artery.core.pricing import Collective, Demand
from artery.core.system import System
from artery.errors import InputError, Problem

WORTH_SHOWING = 0.98
"""Assumed: what is less than 2 % faster is not worth a column."""


@dataclass(frozen=True, slots=True)
class Setting:
    """``ranks`` ranks on ``system``, put on chips by ``placement``, run by ``library``."""

    system: System
    library: Library
    ranks: int
    placement: Placement
    addable: bool

    @classmethod
    def make(
        cls,
        on: str,
        *,
        overrides: Sequence[str],
        chips_per_node: int | None,
        nccl: str | None,
        addable: bool,
    ) -> Self:
        """Return the setting; all chips of ``on`` unless ``chips_per_node`` says fewer."""
        system = system_of(on, overrides)
        return cls.of(system, chips_per_node=chips_per_node, nccl=nccl, addable=addable)

    @classmethod
    def of(
        cls, system: System, *, chips_per_node: int | None, nccl: str | None, addable: bool
    ) -> Self:
        """Return the setting on a system that is there already."""
        used = library_of(system, nccl)
        if chips_per_node is None:
            return cls(system, used, system.chips, packed(system.chips), addable)
        _check_chips_per_node(chips_per_node, system)
        chip = np.arange(system.chips)
        taken = chip % system.chips_per_node < chips_per_node
        order = np.concatenate([chip[taken], chip[~taken]])
        return cls(system, used, int(taken.sum()), listed(order), addable)

    def quote(self, collective: Collective, sizes: Sequence[int], algorithm: str) -> Quote:
        """Return what one group of all ranks pays, alone on the system."""
        pricer = ClosedForm(
            self.system,
            self.library,
            algorithm,
            placement=self.placement,
            addable=self.addable,
        )
        one = np.ones(1, dtype=np.int64)
        return pricer.quote(
            Demand(collective, np.array(sizes, np.float64), one * self.ranks, one, concurrent=False)
        )


def measure(
    collective: Collective,
    setting: Setting,
    sizes: tuple[int, ...],
    algorithm: str,
    dtype: str,
) -> ExpectAnswer:
    """Return the answer for checked inputs."""
    asked = setting.quote(collective, sizes, algorithm)
    fastest = setting.quote(collective, sizes, "best")
    factor = float(bus_factor(collective, np.array(setting.ranks)))
    least = least_size(collective, setting.ranks, dtype)
    rows = []
    for index, size in enumerate(sizes):
        speed = _speed(asked, index, size, factor)
        best = _speed(fastest, index, size, factor)
        better = best.seconds < WORTH_SHOWING * speed.seconds
        rows.append(ExpectRow(size, size // least, speed, best if better else None))
    tier = setting.system.tiers[int(asked.tier[-1])] if setting.system.tiers else None
    nodes = int(asked.nodes[-1])
    return ExpectAnswer(
        collective=collective,
        system=setting.system,
        ranks=setting.ranks,
        nodes=nodes,
        library=setting.library.title,
        version=setting.library.version,
        algorithm=algorithm,
        dtype=dtype,
        reduction="sum" if collective in _ADDING else "none",
        root=0 if collective in {"broadcast", "reduce"} else -1,
        rows=tuple(rows),
        least=least,
        limit=tier.name if tier is not None and setting.ranks > 1 else None,
        link_rate=_link_rate(setting.system, nodes),
        notes=tuple(_notes(collective, setting, rows, nodes)),
        warnings=setting.system.warnings,
    )


_ADDING = frozenset({"all_reduce", "reduce_scatter", "reduce", "sendrecv"})
"""The collectives for which nccl-tests prints a reduction; send/receive only carries it."""


def _check_chips_per_node(count: int, system: System) -> None:
    if not 1 <= count <= system.chips_per_node:
        raise InputError(
            Problem(
                field="chips-per-node",
                found=str(count),
                rule=f"a node of {system.name} has {system.chips_per_node} chip(s)",
                fix=f"from 1 to {system.chips_per_node}",
            )
        )


def _speed(quote: Quote, index: int, size: int, factor: float) -> Speed:
    seconds = float(quote.seconds[index])
    algbw = size / seconds if seconds else 0.0
    return Speed(
        seconds=seconds,
        low=float(quote.low[index]),
        high=float(quote.high[index]),
        algbw=algbw,
        busbw=algbw * factor,
        wire=float(quote.wire[index]),
        algorithm=quote.algorithm[index],
        protocol=quote.protocol[index],
    )


def least_size(collective: Collective, ranks: int, dtype: str) -> int:
    """Return the bytes of one element, for every rank where the size is of all ranks.

    nccl-tests rounds sizes down to these.
    """
    parts = ranks if collective in {"all_gather", "reduce_scatter", "alltoall"} else 1
    return parts * DTYPES[dtype]


def _link_rate(system: System, nodes: int) -> float | None:
    """Return the line rate of one chip into its node, if the ranks are in one."""
    if nodes > 1 or not system.tiers:
        return None
    return system.tiers[0].burst


def _notes(
    collective: Collective, setting: Setting, rows: list[ExpectRow], nodes: int
) -> list[Note]:
    """Return what has to be said about the rows."""
    notes: list[Note] = ["empty"] if any(not row.count for row in rows) else []
    if setting.ranks == 1:
        return ["alone", *notes]
    notes += ["average"] if len(rows) > 1 else []
    last = rows[-1].speed
    rate = _link_rate(setting.system, nodes)
    if rate is not None and last.busbw > rate:
        notes.append("above_link")
    if nodes == 2 and collective == "all_reduce" and "Tree" in last.algorithm:
        notes.append("two_nodes")
    if any(row.best is not None for row in rows):
        notes.append("best_differs")
    if setting.system.chips % setting.system.chips_per_node and nodes > 1:
        notes.append("part_filled")
    return notes
