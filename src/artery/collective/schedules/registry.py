"""Schedules by name: every module of this room that decorates a builder takes part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import Parameter, signature
from pkgutil import iter_modules

from artery.collective.spelling import spelled
from artery.core.pricing import Collective
from artery.core.schedule import Schedule, Step
from artery.errors import InputError, Problem, UnknownNameError, UsageError

Build = Callable[..., Schedule]
"""``(collective, ranks, **shape) -> Schedule``, for two ranks or more."""


@dataclass(frozen=True, slots=True)
class Builder:
    """A function that builds the schedules of one algorithm, and for which collectives."""

    name: str
    collectives: frozenset[Collective]
    build: Build

    @property
    def shape(self) -> tuple[str, ...]:
        """The keywords that say more about the algorithm (``channels``, ``per_node``, ...)."""
        parameters = signature(self.build).parameters.values()
        return tuple(item.name for item in parameters if item.kind is Parameter.KEYWORD_ONLY)

    @property
    def required(self) -> tuple[str, ...]:
        """Those among them that have no default."""
        parameters = signature(self.build).parameters
        return tuple(name for name in self.shape if parameters[name].default is Parameter.empty)


_BUILDERS: dict[str, Builder] = {}


def builds(name: str, *collectives: Collective) -> Callable[[Build], Build]:
    """Return a decorator that makes a function the builder of ``name``."""

    def register(build: Build) -> Build:
        _BUILDERS[name] = Builder(name, frozenset(collectives), build)
        return build

    return register


@cache
def builders() -> Mapping[str, Builder]:
    """Return the builders of all modules of this room, by name."""
    room = import_module("artery.collective.schedules")
    for module in iter_modules(room.__path__, f"{room.__name__}."):
        import_module(module.name)
    return dict(sorted(_BUILDERS.items()))


def names(collective: Collective | None = None) -> tuple[str, ...]:
    """Return the names of all algorithms, or of those that do ``collective``."""
    return tuple(
        name
        for name, builder in builders().items()
        if collective is None or collective in builder.collectives
    )


def shapes(name: str) -> tuple[str, ...]:
    """Return the keywords that :func:`schedule` takes for the algorithm called ``name``."""
    return _builder(name).shape


def schedule(name: str, collective: Collective, ranks: int, **shape: object) -> Schedule:
    """Return the schedule of an algorithm over ``ranks`` ranks.

    ``shape`` says more about it: see :func:`shapes`. A single rank has nothing to do: no steps.

    Raises:
        UnknownNameError: there is no such algorithm, or it takes no such keyword.
        UsageError: it does not do ``collective``, or it needs a keyword that is not given.
        InputError: the number of ranks or the shape is impossible.
    """
    builder = _builder(name)
    if collective not in builder.collectives:
        able = ", ".join(names(collective))
        raise UsageError(f"{name} does not do {collective}; use one of {able}")
    for keyword in shape:
        if keyword not in builder.shape:
            raise UnknownNameError(f"shape of {name}", keyword, builder.shape)
    if ranks < 1:
        rule = "a group has at least one member"
        raise InputError(Problem(found=f"{ranks} ranks", rule=rule, fix="use 1", field="ranks"))
    if ranks == 1:
        return Schedule(builder.name, collective, 1, 1, 0, _nothing, 0.0)
    missing = [keyword for keyword in builder.required if keyword not in shape]
    if missing:
        raise UsageError(f"{name} needs {', '.join(missing)}")
    return builder.build(collective, ranks, **shape)


def _builder(name: str) -> Builder:
    found = spelled(name, builders())
    if found is None:
        raise UnknownNameError("schedule", name, builders())
    return builders()[found]


def _nothing(k: int) -> Step:
    raise IndexError(f"step {k} of a schedule without steps")
