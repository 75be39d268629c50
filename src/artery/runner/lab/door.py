"""The door of a lab: a socket whose name is no file, so that nothing is left when its owner ends.

Requests and answers are lines of JSON. The kernel says who is at the other end (``SO_PEERCRED``):
only the user who made the lab is let in, and a socket of another user is not taken for a lab.
"""

from __future__ import annotations

import json
import os
import re
import socket
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

PREFIX: Final = "artery-lab"
NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")
"""What a lab may be called."""

RUN: Final = "ARTERY_LAB_RUN"
"""The variable that marks the processes of one run."""

PATIENCE: Final = 90.0
"""Seconds that a lab may take to answer (assumed): rerouting 256 devices takes some of them."""


@dataclass(frozen=True, slots=True)
class Peer:
    """The process at the other end of a socket, in the numbers of this one's namespaces."""

    process: int
    user: int


def address(name: str) -> str:
    """Return the address of the lab ``name`` of this user; the zero byte makes it no file."""
    return f"\0{PREFIX}-{os.geteuid()}-{name}"


def known() -> tuple[str, ...]:
    """Return the names of this user's labs that are up, from ``/proc/net/unix``."""
    try:
        lines = Path("/proc/net/unix").read_text("ascii", errors="replace").splitlines()
    except OSError:
        return ()
    head = f" @{PREFIX}-{os.geteuid()}-"
    found = {line.rpartition(head)[2] for line in lines if head in line}
    return tuple(sorted(name for name in found if NAME.fullmatch(name)))


def peer(connection: socket.socket) -> Peer:
    """Return who is at the other end."""
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    process, user, _ = struct.unpack("3i", found)
    return Peer(process, user)


def send(connection: socket.socket, message: dict[str, Any]) -> None:
    """Send one line."""
    connection.sendall(json.dumps(message).encode() + b"\n")


def receive(connection: socket.socket) -> dict[str, Any] | None:
    """Return the next line as an object, ``None`` if the other end is gone or makes no sense."""
    parts: list[bytes] = []
    while not parts or not parts[-1].endswith(b"\n"):
        try:
            part = connection.recv(1 << 16)
        except OSError:
            return None
        if not part:
            return None
        parts.append(part)
    try:
        found = json.loads(b"".join(parts))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
