"""What stands at a path that somebody gave: asked of any text, however long or strange it is.

``pathlib`` raises for a name that no file can have (longer than 255 bytes, with a NUL byte in
it); nothing stands there, and whoever asks goes on to say so in its own words.
"""

from __future__ import annotations

import stat
from pathlib import Path


def is_file(path: str | Path) -> bool:
    """Whether an ordinary file is at ``path``."""
    return stat.S_ISREG(_mode(path))


def is_folder(path: str | Path) -> bool:
    """Whether a folder is at ``path``; the empty text names none."""
    return stat.S_ISDIR(_mode(path))


def is_pipe(path: str | Path) -> bool:
    """Whether ``path`` is a pipe, as ``<(command)`` gives, which can be read once only."""
    return stat.S_ISFIFO(_mode(path))


def is_there(path: str | Path) -> bool:
    """Whether there is anything at ``path``."""
    return bool(_mode(path))


def why_nothing(path: str | Path) -> str:
    """Return why nothing is at ``path``: a loop of links, a closed folder, or no such file."""
    try:
        Path(path).stat()
    except (FileNotFoundError, ValueError):
        return "no such file"
    except OSError as error:
        return error.strerror or str(error)
    return "no such file"  # it has come or gone meanwhile


def _mode(path: str | Path) -> int:
    """The kind of what is there, as ``stat`` has it; 0 for nothing."""
    try:
        return Path(path).stat().st_mode if path != "" else 0
    except (OSError, ValueError):
        return 0
