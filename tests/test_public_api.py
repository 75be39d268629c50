"""What ``import artery`` offers."""

from __future__ import annotations

import ast
import inspect

import pytest

import artery


def test_the_public_names_are_sorted_and_each_has_a_home() -> None:
    assert sorted(artery.__all__) == artery.__all__
    assert set(artery.__all__) == {*artery._HOMES, "__version__"}


@pytest.mark.parametrize("name", artery.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(artery, name)
    assert isinstance(value, str) or (value.__doc__ and value.__module__.startswith("artery."))
    assert name in dir(artery)


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'plann'"):
        artery.__getattr__("plann")


def test_type_checkers_see_the_same_names_from_the_same_modules() -> None:
    tree = ast.parse(inspect.getsource(artery))
    (guarded,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.name: node.module
        for node in guarded.body
        if isinstance(node, ast.ImportFrom) and node.module != "typing"
        for alias in node.names
    }
    assert seen == artery._HOMES
