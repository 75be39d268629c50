"""The copy of a state in a host's memory: a file in a memory file system, replaced as a whole.

It belongs to the host, not to the process that wrote it, so it outlives a process that is killed.
"""

from __future__ import annotations

import hashlib
import os
import struct
from pathlib import Path
from typing import Final

from artery.runner.checkpoint.folder import Torn

_HEAD: Final = struct.Struct("<8sqq32s")
_MAGIC: Final = b"artery-1"


def write_copy(path: Path, step: int, state: bytes) -> None:
    """Replace the copy at ``path`` by the state after ``step`` steps.

    Raises:
        OSError: there is no room; the copy before stays.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with part.open("wb") as file:
            file.write(_HEAD.pack(_MAGIC, step, len(state), hashlib.sha256(state).digest()))
            file.write(state)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def copied_step(path: Path) -> int:
    """Return the step of the copy at ``path``, -1 if there is none."""
    try:
        with path.open("rb") as file:
            magic, step, _, _ = _HEAD.unpack(file.read(_HEAD.size))
    except (OSError, struct.error):
        return -1
    return int(step) if magic == _MAGIC else -1


def read_copy(path: Path) -> tuple[int, bytes]:
    """Return the step and state of the copy at ``path``; :class:`Torn` if it is not whole."""
    try:
        whole = path.read_bytes()
        magic, step, length, digest = _HEAD.unpack(whole[: _HEAD.size])
    except (OSError, struct.error) as error:
        raise Torn(f"{path.name}: {error}") from error
    state = whole[_HEAD.size :]
    if magic != _MAGIC or len(state) != length or hashlib.sha256(state).digest() != digest:
        raise Torn(f"{path.name}: the checksum does not match")
    return step, state
