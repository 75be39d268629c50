"""What ties a process to its parent, and a host's memory to its processes."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

PREFIX: Final = "artery-memory-"
LOCK: Final = "lock"
"""The file in a folder that its owner holds locked."""

_UNLOCKED: Final = 86400.0
"""Seconds after which a folder that was never locked counts as left (assumed)."""

_HELD: Final[list[int]] = []
"""Locks of this process, open until it ends."""

_PR_SET_PDEATHSIG: Final = 1
_SHARED_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a memory file system, not a place for secrets


def die_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """Have the kernel send ``number`` when ``parent`` dies; where it cannot, sockets tell it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)  # it has died already


_LIBRARY: Final = ctypes.CDLL(None) if sys.platform == "linux" else None


def tied() -> None:
    """Between fork and exec: have the kernel kill this process when its parent dies.

    It holds until the process asks for another signal itself, so from its first moment on.
    """
    if _LIBRARY is not None:
        _LIBRARY.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def new_memory() -> Path:
    """Return a new folder in this host's memory, this process's as long as it lives.

    Folders of owners that were killed are removed on the way.
    """
    root = _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    for old in abandoned(root, PREFIX):
        shutil.rmtree(old, ignore_errors=True)
    place = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=root))
    fresh = place / f"{LOCK}.new"
    handle = os.open(fresh, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    locked(handle)
    _HELD.append(handle)
    fresh.rename(place / LOCK)  # nobody finds it unlocked
    return place


def abandoned(root: Path, prefix: str) -> Iterator[Path]:
    """Yield the folders in ``root`` whose owners are gone: nobody holds the lock in them.

    Not the number of a process tells: it may be one of another namespace, or taken anew.
    """
    for place in root.glob(f"{prefix}*"):
        with suppress(OSError):
            if place.is_dir() and _free(place, time.time() - place.stat().st_mtime):
                yield place


def _free(place: Path, age: float) -> bool:
    """Whether nobody owns a folder that nothing was put into for ``age`` seconds."""
    try:
        handle = os.open(place / LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return age > _UNLOCKED
    try:
        return locked(handle)
    finally:
        os.close(handle)


def locked(handle: int) -> bool:
    """Lock an open file until it is closed; false if somebody else holds it."""
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
