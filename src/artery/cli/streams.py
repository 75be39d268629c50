"""Standard input, output and error as they may come: closed, full, or in a narrow encoding."""

from __future__ import annotations

import io
import os
import sys


def prepare() -> None:
    """Make the three streams usable: a character that one cannot show becomes ``?``.

    Python gives ``None`` for a stream that was closed (``>&-``). Reading then finds nothing, what
    goes to stderr is dropped, and writing the answer to stdout fails, as it must.
    """
    if sys.stdin is None:
        sys.stdin = _null(os.O_RDONLY, "r")
    if sys.stdout is None:
        sys.stdout = _null(os.O_RDONLY, "w")
    if sys.stderr is None:
        sys.stderr = _null(os.O_WRONLY, "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _null(flags: int, mode: str) -> io.TextIOWrapper:
    handle = os.open(os.devnull, flags)
    return io.TextIOWrapper(os.fdopen(handle, f"{mode}b"), encoding="utf-8")


def drop_stdout() -> None:
    """Whoever read our output has had enough; keep the interpreter from saying so at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
