"""The step's tree: its parts, and below each the terms that explain it."""

from __future__ import annotations

from dataclasses import replace

from artery.core.term import Term
from artery.core.workload import Elementwise, Layer, Workload
from artery.step.ledger import Ledger

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


def step_tree(ledger: Ledger, workload: Workload, low: float, high: float) -> Term:
    """Return the tree rooted in ``step``, its interval at the root.

    Below each part stand the terms that explain it: of one micro-batch, layer by layer, or of
    the whole step. They explain the part and do not add up to it.
    """
    root = ledger.tree("step")
    below: dict[str, list[Term]] = {}
    for name, part in _ONCE.items():
        if name in ledger.terms:
            below.setdefault(part, []).append(ledger.tree(name))
    if "micro_batch.transfer" in ledger.terms:
        below.setdefault("pp", []).append(ledger.terms["micro_batch.transfer"])
    for layer in workload.parts:
        for part, term in _of_layer(ledger, layer).items():
            below.setdefault(part, []).append(term)
    parts = (replace(part, children=tuple(below.get(part.name, ()))) for part in root.children)
    return replace(root, low=low, high=high, children=tuple(parts))


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
