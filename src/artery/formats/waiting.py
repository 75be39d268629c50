"""Reading that takes long is told, and pipes are kept so that they can be read more than once."""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from artery.errors import InputError, Problem
from artery.places import is_file, is_pipe

LOG: Final = logging.getLogger("artery.files")
"""Hears of files that take more than a second, and of pipes that nobody writes to; without a
handler of the program's own, Python shows it on standard error."""

SOON: Final = 1.0
AGAIN: Final = 10.0
"""Seconds until the first word, and between the others."""

SMALL: Final = 2**20
"""Bytes of a file that is read at once; if a second passes, it is for something else."""

MOST: Final = 8 * 2**30
"""Assumed: bytes that a pipe may carry to disk; more are no log or trace."""

_PIECE: Final = 4 * 2**20
_KEPT: ContextVar[tuple[str, str] | None] = ContextVar("artery.kept", default=None)
_TOLD: ContextVar[str | None] = ContextVar("artery.told", default=None)


def place_of(path: str) -> Path:
    """Return where the bytes of ``path`` are: the file itself, or what was kept of a pipe."""
    kept = _KEPT.get()
    return Path(kept[1]) if kept is not None and kept[0] == path else Path(path)


@contextmanager
def told(path: str) -> Iterator[None]:
    """Tell, while the block runs, that ``path`` is still being read, if that takes long.

    Inside another block for the same path nothing is told twice.
    """
    if path == _TOLD.get():
        yield
        return
    token, done = _TOLD.set(path), threading.Event()

    def tell() -> None:
        start, pause = time.monotonic(), SOON if _may_take_long(path) else AGAIN
        while not done.wait(pause):
            LOG.warning("reading %s: %.0f s%s", path, time.monotonic() - start, _about(path))
            pause = AGAIN

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()
        _TOLD.reset(token)


def _may_take_long(path: str) -> bool:
    """Whether it is no small file."""
    try:
        return not is_file(path) or Path(path).stat().st_size >= SMALL
    except (OSError, ValueError):
        return True


def _about(path: str) -> str:
    """Return what is known of a file that takes long."""
    if path == "-":
        return " (standard input, until it ends)"
    if is_pipe(path) and place_of(path) == Path(path):
        return " (a pipe, until whoever writes to it closes it)"
    try:
        return f" ({place_of(path).stat().st_size / 2**20:,.0f} MiB)"
    except (OSError, ValueError):
        return ""


@contextmanager
def kept(path: str) -> Iterator[None]:
    """Keep, while the block runs, what a pipe carries; any other path is left alone.

    Raises ``InputError`` for a pipe that carries more than a file may have.
    """
    if path == "-" or not is_pipe(path) or place_of(path) != Path(path):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="artery-") as folder:
        file = Path(folder) / "pipe"
        _copy(path, file)
        token = _KEPT.set((path, str(file)))
        try:
            yield
        finally:
            _KEPT.reset(token)


def _copy(path: str, file: Path) -> None:
    size = 0
    try:
        with Path(path).open("rb") as pipe, file.open("wb") as out:
            while piece := pipe.read(_PIECE):
                size += len(piece)
                if size > MOST:
                    rule = f"at most {MOST // 2**30} GiB are read from a pipe"
                    fix = "cut out the part that matters"
                    raise InputError(Problem(file=path, found="more", rule=rule, fix=fix))
                out.write(piece)
    except OSError as error:
        found, rule = error.strerror or str(error), "must be a pipe that can be read"
        raise InputError(Problem(file=path, found=found, rule=rule, fix="check it")) from None
