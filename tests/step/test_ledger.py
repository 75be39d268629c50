"""What a term remembers, and what a search does not pay for."""

from __future__ import annotations

import numpy as np

from artery.step import Ledger


def test_a_ledger_that_forgets_returns_the_value_itself() -> None:
    value = np.array([1.0])
    ledger = Ledger()
    assert ledger.put("a", value, formula="f") is value
    assert ledger.terms == {}


def test_the_tree_has_children_by_path() -> None:
    ledger = Ledger(keep=True)
    for path, value in (("a", 3.0), ("a.b", 1.0), ("a.c", 2.0), ("a.c.d", 2.0), ("ab", 9.0)):
        ledger.put(path, np.array([value]), formula=path, source="s", n=np.array([4]), x=0.5)
    tree = ledger.tree("a")
    assert [path for path, _ in tree.walk()] == ["a", "a.b", "a.c", "a.c.d"]
    assert tree.children[1].children[0].value == 2.0
    assert tree.inputs == {"n": 4, "x": 0.5}
    assert isinstance(tree.inputs["n"], int)
    assert (tree.formula, tree.source, tree.unit) == ("a", "s", "s")
