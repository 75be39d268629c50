"""What ties a process to its parent, and a host's memory to its processes."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Final

PREFIX: Final = "artery-memory-"
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
    """Return a new folder in this host's memory, marked with the process that owns it.

    Folders of owners that are dead are removed on the way.
    """
    root = _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    for old in root.glob(f"{PREFIX}*"):
        if not _alive(old.name.removeprefix(PREFIX).partition("-")[0]):
            shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=root))


def _alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, ValueError):
        return False
    except PermissionError:
        return True
    return True
