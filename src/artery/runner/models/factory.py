"""``module:function``: a model of the user's own, made by a function that can be imported."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from torch import Tensor, nn

from artery.errors import InputError, Problem


def load(name: str) -> Callable[..., object]:
    """Return the function ``module:function``; the current folder is searched first."""
    module_name, _, function_name = name.partition(":")
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise _wrong(f'module "{module_name}"', "is no name of a module, such as pack.module")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = import_module(module_name)
    except (
        Exception,
        SystemExit,
    ) as error:  # an import runs the user's code, which may raise anything
        found = f"cannot be imported ({_reason(error)})"
        raise _wrong(f'module "{module_name}"', found) from error
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
    except (Exception, SystemExit) as error:  # the user's code may raise anything
        raise _wrong(f'factory "{name}"', f"cannot be called ({_reason(error)})") from error
    if not isinstance(model, nn.Module):
        raise _wrong(f'factory "{name}"', f"returns {type(model).__name__}, not a torch.nn.Module")
    if not any(one.requires_grad for one in model.parameters()):
        raise _wrong(f'factory "{name}"', "returns a model without a parameter that learns")
    return model


def tried(name: str, model: nn.Module, inputs: Tensor, targets: Tensor, classes: int) -> None:
    """Raise :class:`artery.errors.InputError` if the factory's ``model`` cannot learn ``targets``.

    ``targets`` are numbers below ``classes``, one for each row of logits.
    """
    shape = tuple(inputs.shape)
    try:
        logits = model(inputs)
        found = tuple(logits.shape)
    except (Exception, SystemExit) as error:  # the user's code may raise anything
        found_ = f"cannot take an input of {shape} ({_reason(error)})"
        raise _wrong(f'the model of "{name}"', found_) from error
    if found[:-1] != tuple(targets.shape) or found[-1] < classes:
        wanted = (*targets.shape, classes)
        raise _wrong(
            f'the model of "{name}"',
            f"returns {found} for an input of {shape}, where {wanted} is needed: "
            "a logit for each class",
        )


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".split("\n", 1)[0][:200]


def _wrong(what: str, found: str) -> InputError:
    fix = "give an importable function that returns a torch.nn.Module"
    rule = "a model is a name or module:function"
    return InputError(Problem(field="MODEL", found=f"{what} {found}", rule=rule, fix=fix))
