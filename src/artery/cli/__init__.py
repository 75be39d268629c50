"""The command line: one file per command, loaded when it is called.

:func:`main` is the entry point. It turns every ending into an exit code: 0 ok, 1 a bug, 2 usage,
3 invalid input, 4 infeasible, 5 a threshold broken, 130 interrupted. The commands call
:mod:`artery.answers` and :mod:`artery.report`, nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import click

from artery.cli import commands, endings, streams
from artery.cli.options import asked_language
from artery.report.writing.files import unwritten


def main(
    arguments: Sequence[str] | None = None, *, interrupted: Callable[[], bool] = lambda: False
) -> int:
    """Run one command line (``sys.argv`` by default) and return its exit code.

    ``interrupted`` says whether Ctrl-C came: it may come out of an import as another error.
    """
    code = 0
    streams.prepare()
    try:
        code = _run(list(sys.argv[1:] if arguments is None else arguments), interrupted)
        sys.stdout.flush()
    except BrokenPipeError:
        streams.drop_stdout()
    except OSError as error:  # a full disk; said already if the command itself noticed
        streams.drop_stdout()
        language = asked_language(sys.argv[1:] if arguments is None else arguments)
        full = unwritten("<stdout>", error, "make room")
        code = code or endings.report(full, debug=False, language=language)
    return code


def _run(words: list[str], interrupted: Callable[[], bool]) -> int:
    debug = False
    language = asked_language(words)
    try:
        with commands.root.make_context("artery", words) as context:
            try:
                commands.root.invoke(context)
            finally:
                debug = bool(context.meta.get("artery.debug"))
                language = context.meta.get("artery.lang", language)
    except click.exceptions.Exit as finished:
        return finished.exit_code
    except BrokenPipeError:
        raise
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 (the one place that meets all)
        met = KeyboardInterrupt() if interrupted() else error
        return endings.report(met, debug=debug, language=language)
    return 0
