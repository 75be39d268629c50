"""Options and parameter types that commands share: the same flag means the same everywhere.

``@shared_options`` gives a command ``as_json``, ``lang`` and ``out``; ``@set_option`` gives it
``overrides``, to which ``@node_option`` adds; ``@model_argument`` and ``@system_option`` give it
``model`` and ``on``. The types read values with units and turn what is wrong into a usage error
that says what would fix it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import click

from artery import units
from artery.cli.outputs import guarded, writable
from artery.errors import InputError
from artery.report.words import Language

_Command = TypeVar("_Command", bound=Callable[..., Any])

LANGUAGE: Final = "artery.lang"
"""Where a context keeps the language of the answer, of its help and of its errors."""

NO_LANGUAGE: Final = "artery.lang.unknown"
"""Where a context keeps what the line asks for as a language, if there is none of that name."""

_LANGUAGES: Final[tuple[Language, ...]] = ("en", "zh")


class _Reader(click.ParamType[float]):
    """A parameter type that reads its text with a function of :mod:`artery.units`."""

    def __init__(self, name: str, read: Callable[[str], float]) -> None:
        self.name = name
        self._read = read

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the value in SI units, or fail with found, rule and fix."""
        if isinstance(value, (int, float)):
            return value
        try:
            return self._read(str(value))
        except InputError as error:
            self.fail("; ".join(str(problem) for problem in error.problems), param, ctx)


SIZE: Final = _Reader("size", units.size)
"""A message size in bytes: ``8``, ``1M``, ``16G`` (binary), ``1GB`` (decimal)."""

COUNT: Final = _Reader("count", units.count)
"""A decimal count: ``1024``, ``15T``."""


def quantity(
    unit: str, *, directed: bool = False, positive: bool = False
) -> click.ParamType[float]:
    """Return a type that reads a quantity in ``unit``; see :func:`artery.units.parse`."""

    def read(text: str) -> float:
        return units.parse(text, unit, directed=directed, positive=positive)

    return _Reader(unit, read)


class _Share(click.ParamType[float]):
    """``80%`` or ``0.8``."""

    name = "share"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the share, from 0 to 2."""
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 2:
            self.fail(f'"{text}" must be a share, for example 80%', param, ctx)
        return share


def share_type() -> click.ParamType[float]:
    """Return the type of a share: ``80%`` or ``0.8``, from 0 to 2."""
    return _Share()


def debug_option(command: _Command) -> _Command:
    """Give a command ``--debug``: a bug prints its traceback."""

    def note(context: click.Context, _: click.Parameter, value: bool) -> None:
        if value:
            context.meta["artery.debug"] = True

    return click.option(
        "--debug", is_flag=True, expose_value=False, callback=note, help="Show tracebacks."
    )(command)


def language_option(command: _Command) -> _Command:
    """Give a group ``--lang``: what its commands answer in, and its own help."""
    return _language_option(exposed=False)(command)


def _language_option(*, exposed: bool) -> Callable[[_Command], _Command]:
    def note(context: click.Context, _: click.Parameter, value: Language) -> Language:
        context.meta.setdefault(LANGUAGE, value)  # for help, and errors outside of the command
        return value

    return click.option(
        "--lang",
        type=click.Choice(_LANGUAGES),
        default=_language,
        is_eager=True,
        expose_value=exposed,
        callback=note,
        help="Language of the answer and of this help (default: from the locale).",
    )


def _language() -> Language:
    """Return the language that the whole line asks for, or else the locale's."""
    context = click.get_current_context(silent=True)
    asked: Language | None = context.meta.get(LANGUAGE) if context is not None else None
    return asked or locale_language()


def form_options(command: _Command) -> _Command:
    """Give a command ``--json`` and ``--lang``: the form of its answer."""
    as_json = click.option("--json", "as_json", is_flag=True, help="One JSON document, SI units.")
    return as_json(_language_option(exposed=True)(command))


def shared_options(command: _Command) -> _Command:
    """Give a command ``--json``, ``--lang``, ``--out`` and ``--debug``, and guard its outputs."""
    for option in (
        guarded,
        debug_option,
        click.option(
            "-o",
            "--out",
            metavar="FILE",
            default="-",
            callback=writable,
            help="Write the answer to FILE (- = stdout).",
        ),
        form_options,
    ):
        command = option(command)
    return command


def set_option(command: _Command) -> _Command:
    """Give a command ``--set PATH=VALUE``, repeatable, as the tuple ``overrides``."""
    return click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="PATH=VALUE",
        callback=_checked_overrides,
        help="Override one value, for example chip.memory.bandwidth='4 TB/s'.",
    )(command)


def node_option(command: _Command) -> _Command:
    """Give a command ``--node SYSTEM``, which :func:`set_option` puts among the overrides."""

    def note(context: click.Context, _: click.Parameter, value: str | None) -> None:
        if value is not None:
            context.meta["artery.node"] = value

    return click.option(
        "--node",
        metavar="SYSTEM",
        expose_value=False,
        is_eager=True,
        callback=note,
        help="What the hosts of a network file are, for example dgx-h100.",
    )(command)


def model_argument(command: _Command) -> _Command:
    """Give a command its ``MODEL``: a catalog name, a config.json (or its folder), or ``-``."""
    return click.argument("model", metavar="MODEL")(command)


def system_option(command: _Command) -> _Command:
    """Give a command ``--on SYSTEM``: a catalog name with an optional ``:CHIPS``, or a file."""
    return click.option(
        "--on",
        required=True,
        metavar="SYSTEM",
        help="The system: a catalog name with an optional :CHIPS, or a file.",
    )(command)


def locale_language() -> Language:
    """Return ``zh`` if the locale is Chinese (POSIX: LC_ALL, LC_MESSAGES, LANG), else ``en``."""
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    first = next((name for name in names if name), "")
    return "zh" if first.casefold().startswith("zh") else "en"


def asked_language(words: Sequence[str]) -> Language:
    """Return the language that a command line asks for, read before it is parsed.

    What the parser refuses is said in it too, and help, which may come before ``--lang``; without
    that it is the locale's.
    """
    asked = [one for one in _languages_in(words) if one in _LANGUAGES]
    return "zh" if [locale_language(), *asked][-1] == "zh" else "en"


def unknown_language(words: Sequence[str]) -> str | None:
    """Return the first language that a command line asks for and that there is not."""
    return next((one for one in _languages_in(words) if one not in _LANGUAGES), None)


def _languages_in(words: Sequence[str]) -> list[str]:
    """Return what a command line says after ``--lang``, known or not."""
    own = words[: words.index("--")] if "--" in words else words  # the rest is another program's
    found = []
    for word, following in zip(own, [*own, ""][1:], strict=True):
        name, equals, value = word.partition("=")
        if name == "--lang":
            found.append(value if equals else following)
    return found


def _checked_overrides(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    for value in values:
        path, equals, _ = value.partition("=")
        if not equals or not path.strip():
            raise click.BadParameter(f'"{value}" must be PATH=VALUE', context, parameter)
    node = context.meta.get("artery.node")
    return (*values, f"node={node}") if node is not None else values
