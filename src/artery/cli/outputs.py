"""Files that a command writes: never over those that it reads, and never two in one place.

Else what stands there is replaced, whole and at once, as docs/adr/0009 says. What is wrong is said
before any work is done.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Final, TypeVar

import click

from artery.errors import UsageError
from artery.places import is_file
from artery.report.writing.files import check_writable, overwrites

_Command = TypeVar("_Command", bound=Callable[..., Any])

_OF_FILES: Final = ("FILE", "FOLDER", "TRACE", "OTHER", "PATH", "RUN")
"""What options and arguments that name files take; others may, where they look like paths."""


def writable(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Return the name of a file to be written, or raise ``InputError`` before any work is done."""
    if value is not None:
        check_writable(value)
    return value


def guarded(command: _Command) -> _Command:
    """Have a command refuse outputs over its inputs, and two outputs in one place.

    Its outputs are the options whose callback is :func:`writable`; whatever else names a file that
    is there is taken to be read.
    """

    @wraps(command)
    def checked(*words: Any, **options: Any) -> Any:  # noqa: ANN401 - click's
        _check(click.get_current_context())
        return command(*words, **options)

    return checked  # type: ignore[return-value]


def _check(context: click.Context) -> None:
    outputs: dict[str, str] = {}
    read: list[str] = []
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if parameter.callback is not writable:
            read += _files(parameter, value)
        elif value not in (None, os.devnull):
            outputs[max(parameter.opts, key=len)] = value
    _refuse_twice(outputs)
    for flag, name in outputs.items():
        for path in read:
            if name != "-" and overwrites(name, path):
                raise UsageError(
                    f"{flag} would write over {path}, which is read; name another file"
                )


def _refuse_twice(outputs: dict[str, str]) -> None:
    """Raise ``UsageError`` for two outputs in one place, of which only the last would be left."""
    seen: dict[str, str] = {}
    for flag, name in outputs.items():
        place = name if name == "-" else os.path.realpath(name)
        if place in seen:
            raise UsageError(f"{seen[place]} and {flag} both write {name!r}; name a file for each")
        seen[place] = flag


def _files(parameter: click.Parameter, value: object) -> Iterator[str]:
    """Yield the files that are named: alone, before ``:CHIPS``, or after ``PATH=``."""
    takes = parameter.metavar or ""
    sure = any(word in takes for word in _OF_FILES)
    for text in value if isinstance(value, tuple) else (value,):
        if not isinstance(text, str):
            continue
        for path in (text, text.rpartition(":")[0], text.partition("=")[2]):
            # A bare word may be a name of the catalog, whatever lies in the current folder.
            if path and (sure or "." in path or os.sep in path) and is_file(path):
                yield path
