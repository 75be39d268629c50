"""How a command ends badly: the message on stderr, and the exit code."""

from __future__ import annotations

import os
import traceback
from typing import Final

import click

from artery.errors import ArteryError, InputError

_INTERRUPTED: Final = 130
_BUG: Final = 1


def report(error: BaseException, *, debug: bool) -> int:
    """Print ``error`` for a person and return the exit code; ``debug`` adds the traceback."""
    if debug:
        click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    match error:
        case click.UsageError():
            return _usage(error)
        case click.ClickException():
            _line(error.format_message())
            return error.exit_code
        case InputError():
            return _input(error)
        case ArteryError():
            _line(str(error))
            return error.exit_code
        case KeyboardInterrupt() | click.Abort():
            click.echo("interrupted", err=True)
            return _INTERRUPTED
    return _bug(error, debug=debug)


def _line(text: str) -> None:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    click.echo(f"{'error' if plain else click.style('error', fg='red')}  {text}", err=True)


def _usage(error: click.UsageError) -> int:
    _line(error.format_message())
    if error.ctx is not None:
        click.echo(f"{error.ctx.get_usage()}\nTry: {error.ctx.command_path} --help", err=True)
    return error.exit_code


def _input(error: InputError) -> int:
    for problem in error.problems:
        _line(str(problem))
    if len(error.problems) > 1:
        click.echo(f"{len(error.problems)} problems", err=True)
    return error.exit_code


def _bug(error: BaseException, *, debug: bool) -> int:
    _line(f"internal: {type(error).__name__}: {error}")
    hint = "" if debug else "; run it again with --debug for the traceback"
    click.echo(
        f"This is a bug in artery{hint}. Please report the command line, what is printed here "
        "and the output of `artery doctor --json`.",
        err=True,
    )
    return _BUG
