"""Packages of the extra ``train``: found, or named with what installs them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from artery.errors import InputError, Problem


def needed(module: str, package: str, what: str) -> Any:  # noqa: ANN401 - a module of any kind
    """Return ``module``; :class:`InputError` names the extra that brings ``package``."""
    try:
        return import_module(module)
    except ImportError as error:
        found = f"{package} is not installed"
        rule = f"{what} need it"
        fix = "install it: pip install 'artery[train]'"
        raise InputError(Problem(found=found, rule=rule, fix=fix)) from error
