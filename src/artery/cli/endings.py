"""How a command ends badly: the message on stderr, and the exit code."""

from __future__ import annotations

import os
import traceback
from typing import Final

import click

from artery.errors import ArteryError, InputError, Problem
from artery.report.words import Language

_INTERRUPTED: Final = 130
_BUG: Final = 1


def report(error: BaseException, *, debug: bool, language: Language = "en") -> int:
    """Print ``error`` for a person and return the exit code; ``debug`` adds the traceback.

    It is said in ``language``, as far as the table of errors knows it.
    """
    if debug:
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    match error:
        case click.UsageError():
            return _usage(error, language)
        case click.ClickException():
            _line(told(error.format_message(), language), language)
            return error.exit_code
        case InputError():
            return _input(error, language)
        case ArteryError():
            _line(told(str(error), language), language)
            return error.exit_code
        case KeyboardInterrupt() | click.Abort():
            click.echo(told("interrupted", language), err=True)
            # CPython notes an interrupt that passed through exec of text, as dataclasses use it,
            # and would end by the signal at last; exec of other text takes the note away.
            exec("")  # noqa: S102
            return _INTERRUPTED
    return _bug(error, debug=debug, language=language)


def told(text: str, language: Language) -> str:
    """Return the text of an error in ``language``."""
    if language == "en":
        return text
    from artery.report.said import refused

    return refused(text, language)


def _line(text: str, language: Language) -> None:
    word = told("error", language)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    click.echo(f"{word if plain else click.style(word, fg='red')}  {text}", err=True)


def _usage(error: click.UsageError, language: Language) -> int:
    _line(told(error.format_message(), language), language)
    if error.ctx is not None:
        click.echo(error.ctx.get_usage(), err=True)
        click.echo(told(f"Try: {error.ctx.command_path} --help", language), err=True)
    return error.exit_code


def _input(error: InputError, language: Language) -> int:
    count = len(error.problems)
    for problem in error.problems:
        _line(str(problem) if language == "en" else _chinese(problem), language)
    if count > 1:
        click.echo(told(f"{count} problems", language), err=True)
    return error.exit_code


def _chinese(problem: Problem) -> str:
    """Return a problem in Chinese, with its place as it is."""
    from artery.report.said import said

    parts = (problem.found, problem.rule, problem.fix)
    text = "，".join(said(part, "zh", "errors") for part in parts if part)
    return "  ".join(part for part in (problem.place, problem.field, text) if part)


def _bug(error: BaseException, *, debug: bool, language: Language) -> int:
    _line(told(f"internal: {type(error).__name__}: {error}", language), language)
    hint = "" if debug else "; run it again with --debug for the traceback"
    asked = (
        f"This is a bug in artery{hint}. Please report the command line, what is printed here "
        "and the output of `artery doctor --json`."
    )
    click.echo(told(asked, language), err=True)
    return _BUG
