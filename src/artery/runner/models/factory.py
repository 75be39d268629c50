"""``module:function``: a model of the user's own, made by a function that can be imported."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from torch import nn

from artery.errors import InputError, Problem


def load(name: str) -> Callable[..., object]:
    """Return the function ``module:function``; the current folder is searched first."""
    module_name, _, function_name = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = import_module(module_name)
    except Exception as error:  # an import runs the user's code, which may raise anything
        reason = f"{type(error).__name__}: {error}".split("\n", 1)[0][:200]
        raise _wrong(f'module "{module_name}"', f"cannot be imported ({reason})") from error
    function = getattr(module, function_name, None)
    if not callable(function):
        raise _wrong(f'"{function_name}"', f"is no function of module {module_name}")
    made: Callable[..., object] = function
    return made


def make(name: str, classes: int, size: int) -> nn.Module:
    """Return the model that the factory ``name`` makes.

    It is called with ``classes`` (or ``num_classes``) and ``size`` (or ``image_size``) as far as
    it takes them by name.
    """
    function = load(name)
    offered = {
        "classes": classes,
        "num_classes": classes,
        "size": size,
        "image_size": size,
    }
    try:
        taken = set(inspect.signature(function).parameters)
        model = function(**{key: value for key, value in offered.items() if key in taken})
    except Exception as error:  # the user's code may raise anything
        reason = f"{type(error).__name__}: {error}".split("\n", 1)[0][:200]
        raise _wrong(f'factory "{name}"', f"cannot be called ({reason})") from error
    if not isinstance(model, nn.Module):
        raise _wrong(f'factory "{name}"', f"returns {type(model).__name__}, not a torch.nn.Module")
    return model


def _wrong(what: str, found: str) -> InputError:
    fix = "give an importable function that returns a torch.nn.Module"
    rule = "a model is a name or module:function"
    return InputError(Problem(field="MODEL", found=f"{what} {found}", rule=rule, fix=fix))
