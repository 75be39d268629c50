"""A profiler's trace: where the time of one rank went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from artery.diagnoser.case import Fact
from artery.formats.reading import Reading


@dataclass(frozen=True, slots=True)
class TraceHeld:
    """Seconds of the traced span: computing, communicating, the part of that which nothing hides.

    ``idle`` is what remains when neither computes nor communicates; ``source`` the file.
    """

    source: str
    span: float
    compute: float
    communication: float
    exposed: float
    idle: float


def trace_of(readings: Sequence[tuple[str, Reading]]) -> TraceHeld | None:
    """Return the first trace with kernels among the files; ``None`` if there is none."""
    for path, one in readings:
        if one.format == "kineto" and one.fields.get("kernels") and one.fields.get("span_s"):
            told = one.fields
            span = float(told["span_s"])
            return TraceHeld(
                path, span, float(told["compute_s"] or 0.0), float(told["communication_s"] or 0.0),
                float(told["exposed_communication_s"] or 0.0),
                span * float(told["idle_fraction"] or 0.0),
            )  # fmt: skip
    return None


_FACTS: Final = frozenset({"idle_share", "exposed_share"})


def without_trace(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """Return the facts but for those of a trace.

    Beside a run's plan, the plan says what is much.
    """
    return {name: value for name, value in facts.items() if name not in _FACTS}
