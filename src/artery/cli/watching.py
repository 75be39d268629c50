"""A line on stderr that says what a long answer is at, on a terminal alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

import click

from artery.answers.telling import Heard, telling

PATIENCE = 5.0
"""Assumed: seconds after which who waits is told that the compiled loops are missing."""


class _Watch:
    """Says on stderr what is being done: a line that is written over, on a terminal alone.

    Where the C loops are missing, it also says after ``PATIENCE`` seconds why nothing comes.
    """

    def __init__(self) -> None:
        from artery.answers.simulate import twins

        self._shown, self._doing = False, ""
        why = twins()
        self._timer = Timer(PATIENCE, self._hint, [why])
        self._timer.daemon = True
        if why is not None:
            self._timer.start()

    def _hint(self, why: str) -> None:
        click.echo(
            f"still {self._doing or 'at work'}: {why}, which are many times slower; with a C "
            "compiler installed, install artery again (artery doctor shows both), or ask for fewer "
            "chips",
            err=True,
        )

    def told(self, text: str) -> None:
        """Hear what is being done."""
        self._doing = text
        if sys.stderr.isatty():
            click.echo(f"\r\x1b[K{text}", err=True, nl=False)
            self._shown = True

    def over(self) -> None:
        """Take the line away."""
        self._timer.cancel()
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)


@contextmanager
def watching(*, long: bool = True) -> Iterator[Heard]:
    """Say what is being done within, where it may be ``long``; give who is to be told."""
    if not long:
        yield lambda _: None
        return
    watch = _Watch()
    try:
        with telling(watch.told):
            yield watch.told
    finally:
        watch.over()
