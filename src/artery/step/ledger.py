"""``Ledger``: the terms of one evaluation, each with its formula, inputs and source.

Every formula hands its result to ``put``. A search gives a ledger that forgets, so that it
pays nothing; ``explain`` gives one that keeps, for a single plan, and builds the tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from artery.core.arrays import Floats
from artery.core.term import Combine, Term

Input = str | ArrayLike


@dataclass(slots=True)
class Ledger:
    """Terms by dotted path, or nothing at all when ``keep`` is false."""

    keep: bool = False
    terms: dict[str, Term] = field(default_factory=dict)

    def put(
        self,
        path: str,
        value: Floats,
        *,
        formula: str,
        source: str = "",
        unit: str = "s",
        combine: Combine = "none",
        **inputs: Input,
    ) -> Floats:
        """Note ``value`` under ``path`` and return it unchanged."""
        if self.keep:
            number = _scalar(value)
            known = {name: _plain(given) for name, given in inputs.items()}
            name = path.rpartition(".")[2]
            self.terms[path] = Term(
                name, unit, number, number, number, combine, formula, known, source
            )
        return value

    def tree(self, root: str) -> Term:
        """Return the term at ``root`` with everything noted below it as children."""
        term = self.terms[root]
        depth = root.count(".") + 1
        below = [p for p in self.terms if p.startswith(root + ".") and p.count(".") == depth]
        return replace(term, children=tuple(self.tree(path) for path in below))


def _scalar(value: ArrayLike) -> float:
    return float(np.asarray(value, dtype=np.float64).reshape(-1)[0])


def _plain(value: Input) -> float | int | str:
    if isinstance(value, str):
        return value
    number = _scalar(np.asarray(value, dtype=np.float64))
    return int(number) if number.is_integer() and abs(number) < 1e15 else number
