"""How a command ends badly: the message on stderr, and the exit code."""

from __future__ import annotations

import os
import traceback
from dataclasses import replace
from typing import Final

import click

from artery.errors import ArteryError, InputError, Problem
from artery.report.words import Language

_INTERRUPTED: Final = 130
_BUG: Final = 1


def report(error: BaseException, *, debug: bool, language: Language = "en") -> int:
    """Print ``error`` for a person and return the exit code; ``debug`` adds the traceback.

    What is wrong with an input is said in ``language``, as far as its table of errors knows it.
    """
    if debug:
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    match error:
        case click.UsageError():
            return _usage(error)
        case click.ClickException():
            _line(error.format_message())
            return error.exit_code
        case InputError():
            return _input(error, language)
        case ArteryError():
            _line(str(error))
            return error.exit_code
        case KeyboardInterrupt() | click.Abort():
            click.echo("interrupted", err=True)
            # CPython notes an interrupt that passed through exec of text, as dataclasses use it,
            # and would end by the signal at last; exec of other text takes the note away.
            exec("")  # noqa: S102
            return _INTERRUPTED
    return _bug(error, debug=debug)


def _line(text: str, language: Language = "en") -> None:
    word = "错误" if language == "zh" else "error"
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    click.echo(f"{word if plain else click.style(word, fg='red')}  {text}", err=True)


def _usage(error: click.UsageError) -> int:
    _line(error.format_message())
    if error.ctx is not None:
        click.echo(f"{error.ctx.get_usage()}\nTry: {error.ctx.command_path} --help", err=True)
    return error.exit_code


def _input(error: InputError, language: Language) -> int:
    count = len(error.problems)
    for problem in error.problems:
        _line(str(_told(problem, language)), language)
    if count > 1:
        click.echo(f"共 {count} 个问题" if language == "zh" else f"{count} problems", err=True)
    return error.exit_code


def _told(problem: Problem, language: Language) -> Problem:
    """Return a problem in ``language``."""
    if language == "en":
        return problem
    from artery.report.said import said

    found, rule, fix = (
        said(text, language, "errors") for text in (problem.found, problem.rule, problem.fix)
    )
    return replace(problem, found=found, rule=rule, fix=fix)


def _bug(error: BaseException, *, debug: bool) -> int:
    _line(f"internal: {type(error).__name__}: {error}")
    hint = "" if debug else "; run it again with --debug for the traceback"
    click.echo(
        f"This is a bug in artery{hint}. Please report the command line, what is printed here "
        "and the output of `artery doctor --json`.",
        err=True,
    )
    return _BUG
