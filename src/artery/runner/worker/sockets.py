"""A process's connections to its peers: told apart from its others, cut, or led into nothing.

A collective that waits for a peer cannot be called off; but it fails at once when its own
connections are shut down. Linux lists a process's files in ``/proc/self/fd``.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

_FILES = Path("/proc/self/fd")


def connections() -> dict[int, str]:
    """Return the file numbers of this process's internet sockets, with what they are."""
    if not _FILES.is_dir():
        return {}
    found: dict[int, str] = {}
    for entry in _FILES.iterdir():
        try:
            name = str(entry.readlink())
        except OSError:
            continue
        if name.startswith("socket:") and _is_internet(int(entry.name)):
            found[int(entry.name)] = name
    return found


def _is_internet(number: int) -> bool:
    try:
        with socket.socket(fileno=os.dup(number)) as own:
            return own.family in (socket.AF_INET, socket.AF_INET6)
    except OSError:
        return False


def _listens(end: socket.socket) -> bool:
    return bool(end.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))


def cut(before: dict[int, str]) -> None:
    """Shut down every internet connection that was not there ``before``: who waits on it fails."""
    for number in _new(before):
        try:
            with socket.socket(fileno=os.dup(number)) as own:
                if not _listens(own):  # gloo ends the process if that fails
                    own.shutdown(socket.SHUT_RDWR)
        except OSError:
            continue  # it is closed already


def swallow(before: dict[int, str]) -> list[socket.socket]:
    """Lead every new connection into nothing: the peers see no end, and no byte more.

    The sockets that are returned keep the old connections open, and the ends that nobody reads.
    """
    kept: list[socket.socket] = []
    for number in _new(before):
        old = socket.socket(fileno=os.dup(number))
        kept.append(old)
        if _listens(old):
            continue
        near, far = socket.socketpair()
        os.dup2(near.fileno(), number)
        near.close()
        kept.append(far)
    return kept


def _new(before: dict[int, str]) -> list[int]:
    return [number for number, name in connections().items() if before.get(number) != name]
