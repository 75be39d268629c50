"""Packages of the extra ``train``: found, or named with what installs them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from artery.errors import InputError, Problem


def needed(module: str, package: str, what: str) -> Any:  # noqa: ANN401 - a module of any kind
    """Return ``module``; :class:`InputError` names the extra that brings ``package``."""
    try:
        return import_module(module)
    except ImportError as error:
        raise _missing(package, what) from error


def installed(module: str, what: str) -> None:
    """Raise the same :class:`InputError` if ``module`` is not there, without importing it."""
    if find_spec(module) is None:
        raise _missing(module, what)


def _missing(package: str, what: str) -> InputError:
    found = f"{package} is not installed"
    fix = "install it: pip install 'artery[train]'"
    return InputError(Problem(found=found, rule=f"{what} need it", fix=fix))
