"""What operators cost on one machine: fitted to operators that were timed, then used on others.

Per kind of operator, seconds = fixed + FLOP / rate + bytes / bandwidth, each constant at least
zero, by least squares; and per operator of a kind, where enough of it were timed. A kind that was
never timed borrows: attention from products, all else from ``other``; that is said in ``borrowed``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from artery.runner.probing.operators import Operator

ENOUGH: Final = 8
"""Timed operators of one name from which it is priced by itself (assumed)."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one operator: ``fixed_s`` + FLOP·``s_per_flop`` + bytes·``s_per_byte``."""

    fixed_s: float
    s_per_flop: float
    s_per_byte: float

    def of(self, operator: Operator) -> float:
        """Return the seconds of ``operator``."""
        return self.fixed_s + self.s_per_flop * operator.flops + self.s_per_byte * operator.bytes


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of a machine by kind, and by ``kind.name``.

    ``host_s`` is Python's share per operator, beside them.
    """

    kinds: Mapping[str, Cost]
    host_s: float

    def seconds(self, operators: Iterable[Operator]) -> NDArray[np.float64]:
        """Return the time of each operator, what the host adds included."""
        return np.array([self.host_s + self._of(one).of(one) for one in operators])

    def borrowed(self, operators: Iterable[Operator]) -> tuple[str, ...]:
        """Return the kinds among ``operators`` that were never timed."""
        return tuple(sorted({one.kind for one in operators} - set(self.kinds)))

    def _of(self, operator: Operator) -> Cost:
        known, kind = self.kinds, operator.kind
        for name in (f"{kind}.{operator.name}", kind):
            if name in known:
                return known[name]
        if kind in ("product", "attention", "convolution", "convolution_backward"):
            near = [one for one in ("product", "convolution") if one in known]
            if near:
                return known[near[0]]
        return known["other"]


def fit(operators: Sequence[Operator], first: int, step_s: float) -> Costs:
    """Return the costs that explain timed ``operators``.

    The ``first`` of them are one step, which took ``step_s`` of processor time in all: what the
    operators do not explain is the host's, shared out equally.
    """
    grouped: dict[str, list[Operator]] = defaultdict(list)
    named: dict[str, list[Operator]] = defaultdict(list)
    for one in operators:
        grouped[one.kind].append(one)
        named[f"{one.kind}.{one.name}"].append(one)
    grouped |= {name: some for name, some in named.items() if len(some) >= ENOUGH}
    kinds = {kind: _fitted(some) for kind, some in grouped.items()}
    timed = sum(one.seconds for one in operators[:first])
    return Costs(kinds, max(0.0, step_s - timed) / max(first, 1))


def _fitted(operators: Sequence[Operator]) -> Cost:
    rows = np.array([(1.0, one.flops, one.bytes) for one in operators])
    seconds = np.array([one.seconds for one in operators])
    return Cost(*nonnegative(rows, seconds))


def nonnegative(rows: NDArray[np.float64], wanted: NDArray[np.float64]) -> tuple[float, ...]:
    """Return the x >= 0 that makes |rows·x - wanted| least: the best of all sets of columns.

    >>> found = nonnegative(np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1, 3, 5.0]))
    >>> [round(float(x), 6) for x in found]
    [1.0, 2.0]
    """
    columns = rows.shape[1]
    scale = np.maximum(np.abs(rows).max(axis=0), 1e-300)
    best, least = np.zeros(columns), float(wanted @ wanted)
    for size in range(1, columns + 1):
        for chosen in combinations(range(columns), size):
            part = rows[:, chosen] / scale[list(chosen)]
            found, *_ = np.linalg.lstsq(part, wanted, rcond=None)
            off = part @ found - wanted
            if (found >= 0).all() and off @ off < least * (1 - 1e-12):
                best, least = np.zeros(columns), float(off @ off)
                best[list(chosen)] = found / scale[list(chosen)]
    return tuple(float(one) for one in best)
