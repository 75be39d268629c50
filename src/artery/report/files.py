"""Writes an answer whole, or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from artery.errors import InputError, Problem


def write_whole(path: str, text: str) -> None:
    """Write ``text`` to ``path`` in UTF-8, ending in a newline; ``-`` is stdout.

    The file appears complete or not at all: a temporary file in the same folder is written,
    synced and renamed over the old one.

    Raises:
        InputError: the file cannot be written.
    """
    whole = text if text.endswith("\n") else text + "\n"
    if path == "-":
        sys.stdout.write(whole)
        return
    try:
        _replace(Path(path), whole)
    except OSError as error:
        found = error.strerror or str(error)
        fix = "name a file in a folder that exists and that you may write to"
        raise InputError(
            Problem(file=path, found=found, rule="the answer must be writable", fix=fix)
        ) from None


def _replace(path: Path, text: str) -> None:
    if path.is_dir():
        raise IsADirectoryError(0, "is a directory")
    # Through a link, so that the target is replaced and not the link itself.
    target = path.resolve()
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(_mode(target))
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _mode(target: Path) -> int:
    """Return the permissions of the file to be replaced, or those of a new file."""
    if target.exists():
        return target.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
