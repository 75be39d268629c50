"""The processes of a host as its agent knows them: how one is started, and how one ended."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass

from artery.runner.supervisor.channel import Channel
from artery.runner.worker.link import UNMET


@dataclass(slots=True)
class Worker:
    """One process of this host."""

    member: str
    pid: int
    channel: Channel
    reported: tuple[object, ...] = ()


def ending(status: int) -> str:
    """Return how a process ended, in words."""
    if os.WIFSIGNALED(status):
        return f"killed by {signal.Signals(os.WTERMSIG(status)).name}"
    code = os.waitstatus_to_exitcode(status)
    return "its ranks did not meet" if code == UNMET else f"ended with exit code {code}"


def spawned(words: list[str], end: socket.socket) -> int:
    """Start a process that inherits ``end``; return its number. The agent reaps it itself."""
    child = subprocess.Popen(
        words, pass_fds=[end.fileno()], stdin=subprocess.DEVNULL, stdout=sys.stderr
    )
    child.returncode = 0
    return child.pid
