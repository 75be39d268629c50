"""The step's tree: its parts, and below each the terms that explain it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, fsum, isclose
from types import MappingProxyType

from artery.core.term import Term
from artery.core.workload import Elementwise, Layer, Workload
from artery.step.ledger import Ledger
from artery.step.memory import AT_LIMIT
from artery.step.uncertainty import SPREAD, Z80

_ONCE = {
    "data_parallel_per_step": "dp",
    "data_parallel_per_layer": "dp",
    "data_parallel_root": "dp",
    "accumulation": "memory_bound",
    "optimizer": "optimizer",
    "straggler_of_many": "straggler",
    "tied_embedding": "other",
}
"""Terms that stand once per step, by the part they explain."""

_PER_LAYER = ("tp", "cp", "ep", "host")
"""Terms of a layer that explain the part of the same name."""


def step_tree(
    ledger: Ledger,
    workload: Workload,
    low: float,
    high: float,
    operations: Mapping[str, Sequence[Term]] = MappingProxyType({}),
) -> Term:
    """Return the tree rooted in ``step``, with the interval of the step and of every part.

    Below each part stand the terms that explain it: of one micro-batch, layer by layer, or of
    the whole step, and the collectives in ``operations``, by part. They explain the part and do
    not add up to it, what is hidden being in them, and share its relative interval. The intervals
    of the parts are independent, so that the step's is narrower than their sum.
    """
    root = ledger.tree("step")
    below: dict[str, list[Term]] = {}
    for name, part in _ONCE.items():
        if name in ledger.terms and ledger.terms[name].value:
            below.setdefault(part, []).append(ledger.tree(name))
    if "micro_batch.transfer" in ledger.terms:
        below.setdefault("pp", []).append(ledger.terms["micro_batch.transfer"])
    for layer in (workload.first, *workload.kinds, workload.last):
        for part, term in _of_layer(ledger, layer).items():
            below.setdefault(part, []).append(term)
    for part, terms in operations.items():
        below[part] = _made_of(below.get(part, []), terms)
    parts = (
        _spread(replace(part, children=tuple(below.get(part.name, ()))), SPREAD[part.name])
        for part in root.children
    )
    return replace(root, low=low, high=high, children=tuple(parts))


def _made_of(terms: Sequence[Term], operations: Sequence[Term]) -> list[Term]:
    """Return the terms of a part with its operations: below the one that they add up to, if any.

    One operation of a layer is done many times; such stand beside what explains them.
    """
    total = fsum(one.value for one in operations)
    for place, term in enumerate(terms):
        if term.value and not term.children and isclose(term.value, total, rel_tol=1e-9):
            whole = replace(term, combine="sum", children=tuple(operations))
            return [*terms[:place], whole, *terms[place + 1 :]]
    return [*terms, *operations]


def _spread(term: Term, deviation: float) -> Term:
    """``term`` and all below it with the 80 % interval of a relative standard deviation."""
    factor = exp(Z80 * deviation)
    return replace(
        term,
        low=term.value / factor,
        high=term.value * factor,
        children=tuple(_spread(child, deviation) for child in term.children),
    )


def _of_layer(ledger: Ledger, layer: Layer) -> dict[str, Term]:
    """One term per part that the layer has something to say to, named after the layer."""
    path = f"micro_batch.{layer.name}"
    if path not in ledger.terms:
        return {}
    whole = ledger.tree(path)
    moved = {op.name for op in layer.operators if isinstance(op, Elementwise)}
    found: dict[str, list[Term]] = {}
    for term in whole.children:
        if term.name in _PER_LAYER:
            part = term.name
        else:
            part = "memory_bound" if term.name.partition(" #")[0] in moved else "compute"
        if term.value:
            found.setdefault(part, []).append(term)
    return {part: _gathered(whole, terms, layer) for part, terms in found.items()}


def _gathered(whole: Term, terms: list[Term], layer: Layer) -> Term:
    """The layer's terms of one part, summed: one layer, one micro-batch."""
    total = sum(term.value for term in terms)
    return replace(
        whole,
        value=total,
        low=total,
        high=total,
        combine="sum",
        formula="sum over one layer and one micro-batch, before recomputation and hiding",
        inputs={"layers": layer.count},
        children=tuple(terms),
    )


def memory_tree(ledger: Ledger) -> Term:
    """Return the tree rooted in ``memory``, every term with the 8 % either way that a limit has."""
    return _widened(ledger.tree("memory"))


def _widened(term: Term) -> Term:
    low, high = term.value * (1.0 - AT_LIMIT), term.value * (1.0 + AT_LIMIT)
    return replace(term, low=low, high=high, children=tuple(_widened(c) for c in term.children))
