"""A profiler's trace: where the time of one rank went, and its collectives beside expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

import numpy as np

from artery.answers.libraries import library_of
from artery.answers.systems import system_of
from artery.collective import ClosedForm
from artery.collective.placement import packed
from artery.core.pricing import Collective, Demand
from artery.core.system import System
from artery.diagnoser.case import Fact
from artery.errors import InputError
from artery.formats.reading import Reading

Unpriced = Literal["system", "pair", "alone", "too_large"]
"""Why nothing is expected: no system is known; the two ends of a send are not known; the group is
one rank; it is larger than the system."""

Lack = Literal["sizes", "times", "system"]
"""What is missing to hold the collectives of a trace against anything."""


@dataclass(frozen=True, slots=True)
class CallHeld:
    """A collective of one size and group: measured and expected seconds of a call.

    ``size`` is in bytes as nccl-tests counts; ``stride`` the distance between neighbours of the
    group in rank order, ``None`` (priced as neighbours) where the trace does not say. ``least`` is
    nearest to the transfer without waiting for others; ``typical`` is the median; both ``None``
    where the trace has sizes without times. ``expected`` is ``None`` for the reason ``unpriced``.
    """

    collective: str
    size: int
    ranks: int
    stride: int | None
    count: int
    least: float | None
    typical: float | None
    expected: float | None
    unpriced: Unpriced | None

    @property
    def ratio(self) -> float | None:
        """Expected over least time: the share of the expected rate that the best call reached."""
        return None if self.expected is None or not self.least else self.expected / self.least


@dataclass(frozen=True, slots=True)
class TraceHeld:
    """Seconds of the traced span: computing, communicating, the part of that which nothing hides.

    ``idle`` is what remains when neither computes nor communicates; ``source`` the file.
    ``calls`` are its collectives by size, those of most time first, without ``left_out`` calls;
    ``lacks`` is what is missing to compare them.
    """

    source: str
    span: float
    compute: float
    communication: float
    exposed: float
    idle: float
    calls: tuple[CallHeld, ...] = ()
    left_out: int = 0
    lacks: Lack | None = None


def trace_of(
    readings: Sequence[tuple[str, Reading]], on: str | None = None, overrides: Sequence[str] = ()
) -> TraceHeld | None:
    """Return the first trace with kernels among the files; ``None`` if there is none.

    Its collectives are held against the system ``on``, if one is named.
    """
    for path, one in readings:
        if one.format == "kineto" and one.fields.get("kernels") and one.fields.get("span_s"):
            told = one.fields
            span = float(told["span_s"])
            calls = _calls(told["collective_sizes"], on, overrides)
            return TraceHeld(
                path, span, float(told["compute_s"] or 0.0), float(told["communication_s"] or 0.0),
                float(told["exposed_communication_s"] or 0.0),
                span * float(told["idle_fraction"] or 0.0),
                calls, told["collective_calls_left_out"], _lack(told, calls),
            )  # fmt: skip
    return None


def _lack(told: Mapping[str, Any], calls: Sequence[CallHeld]) -> Lack | None:
    if not calls:
        return "sizes" if told["collectives"] else None
    if all(one.least is None for one in calls):
        return "times"
    return "system" if any(one.unpriced == "system" for one in calls) else None


def _calls(
    rows: Sequence[Mapping[str, Any]], on: str | None, overrides: Sequence[str]
) -> tuple[CallHeld, ...]:
    system = None
    if rows and on is not None:
        with suppress(InputError):  # a file that is a system only with what the others say
            system = system_of(on, overrides)
    found = []
    for row in rows:
        ranks, stride = row["ranks"], row["stride"]
        why = _unpriced(row, system)
        expected = None if why or system is None else _expected(row, system)
        found.append(CallHeld(row["collective"], row["size_bytes"], ranks, stride, row["count"],
                              row["min_s"], row["median_s"], expected, why))  # fmt: skip
    return tuple(found)


def _unpriced(row: Mapping[str, Any], system: System | None) -> Unpriced | None:
    if row["ranks"] == 1:
        return "alone"
    if row["collective"] in {"send", "recv"}:
        return "pair"
    if system is None:
        return "system"
    spread = (row["ranks"] - 1) * (row["stride"] or 1) + 1
    return "too_large" if spread > system.chips else None


def _expected(row: Mapping[str, Any], system: System) -> float:
    """Return the closed-form time of one call, in s.

    A group that leaps over ranks is one of many that talk at once and share the cards of a node.
    """
    stride = row["stride"] or 1
    pricer = ClosedForm(system, library_of(system, None), placement=packed(system.chips))
    one = np.ones(1, dtype=np.int64)
    size = np.array([row["size_bytes"]], np.float64)
    collective = cast("Collective", row["collective"])
    demand = Demand(collective, size, one * row["ranks"], one * stride, concurrent=stride > 1)
    return float(pricer.quote(demand).seconds[0])


_FACTS: Final = frozenset({"idle_share", "exposed_share"})


def without_trace(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """Return the facts but for those of a trace.

    Beside a run's plan, the plan says what is much.
    """
    return {name: value for name, value in facts.items() if name not in _FACTS}
