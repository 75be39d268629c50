"""Writes an answer whole, or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from artery.errors import InputError, Problem
from artery.places import is_file, is_folder, is_there


def write_whole(path: str, text: str) -> None:
    """Write ``text`` to ``path`` in UTF-8, ending in a newline; ``-`` is stdout.

    The file appears complete or not at all: a temporary file in the same folder is written,
    synced and renamed over the old one. What is no regular file (``/dev/null``, a named pipe) is
    written to as it is.

    Raises:
        InputError: the file cannot be written.
    """
    whole = text if text.endswith("\n") else text + "\n"
    if path == "-":
        with printing():
            _print(whole)
        return
    try:
        _check_name(path)
        _replace(path, whole)
    except (OSError, ValueError) as error:
        fix = "name a file in a folder that exists and that you may write to"
        raise unwritten(path or '""', error, fix) from None


def check_writable(path: str) -> None:
    """Raise ``InputError`` if ``write_whole`` could not write to ``path`` as things stand."""
    if path == "-":
        return
    try:
        _check_name(path)
        if is_special(path):
            return
        target = _target(path)
        # A name may be too long, a folder read-only or none: only a file made there shows it.
        prefix = f".{target.name}."
        with tempfile.NamedTemporaryFile(prefix=prefix, dir=target.parent):
            return
    except (OSError, ValueError) as error:
        fix = "name a file in a folder that exists and that you may write to"
        raise unwritten(path or '""', error, fix) from None


def is_special(path: str) -> bool:
    """Whether a device or a pipe is at ``path``, which is written to as it is."""
    return is_there(path) and not is_file(path) and not is_folder(path)


def overwrites(out: str, path: str) -> bool:
    """Whether what is written to ``out`` would take the place of the file at ``path``."""
    return path != "-" and is_file(path) and os.path.realpath(path) == os.path.realpath(out)


def _check_name(path: str) -> None:
    """Raise ``OSError`` for what can be no file's name, as writing to it would."""
    if not path:
        raise FileNotFoundError(0, "no name")
    if is_folder(path):
        raise IsADirectoryError(0, "is a directory")


def write_or_print(write: Callable[[str], None], path: str) -> None:
    """Call ``write`` with ``path``; if that cannot be written, with ``-``, and raise all the same.

    For answers that took real work: they are not lost with a file.

    Raises:
        InputError: the file cannot be written; the answer is on stdout.
    """
    try:
        write(path)
    except InputError:
        if path != "-":
            write("-")
        raise


def check_folder(path: str) -> None:
    """Raise ``InputError`` if files could not be written into the folder at ``path``."""
    try:
        with tempfile.TemporaryFile(dir=path):
            return
    except OSError as error:
        fix = "name a folder that exists and that you may write to"
        raise unwritten(path, error, fix) from None


@contextmanager
def printing() -> Iterator[None]:
    """Everything printed inside has reached stdout at the end, or :class:`InputError` is raised.

    A reader that has had enough is no error here: :class:`BrokenPipeError` goes on up.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritten("<stdout>", error, "make room there, or use -o FILE") from None


def unwritten(place: str, error: OSError | ValueError, fix: str) -> InputError:
    """Return what is wrong with the place that an answer could not be written to."""
    found = getattr(error, "strerror", None) or str(error)
    return InputError(Problem(file=place, found=found, rule="the answer must be writable", fix=fix))


def _print(text: str) -> None:
    """Write ``text`` to stdout in UTF-8, as JSON must be (RFC 8259, section 8.1), in any locale."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:  # replaced by a stream of text alone
        sys.stdout.write(text)
        return
    sys.stdout.flush()
    stream.write(text.encode("utf-8", errors="replace"))


def _replace(path: str, text: str) -> None:
    if is_special(path):
        # A device or a pipe: renaming a file over it would take it away.
        Path(path).write_text(text, encoding="utf-8", newline="\n")
        return
    # Through a link, so that the target is replaced and not the link itself.
    target = _target(path)
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


def _target(path: str) -> Path:
    """Return what would be replaced: the file behind links, or raise ``OSError`` for a loop."""
    with suppress(FileNotFoundError):  # which writing makes
        Path(path).stat()
    return Path(os.path.realpath(path))


def _mode(target: Path) -> int:
    """Return the permissions of the file to be replaced, or those of a new file."""
    if is_there(target):
        return target.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
