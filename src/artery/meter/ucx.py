"""``ucx_perftest`` between two processes: one serves, the other measures.

Flags as in UCX's ``perftest.c``: ``-t`` test, ``-s`` bytes, ``-n`` iterations, ``-w`` of warm-up,
``-p`` port. Run with UCX 1.13.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from contextlib import closing
from typing import Any, Final

from artery.errors import InputError, Problem, RunError
from artery.formats.mpi.ucx_perftest import FORMAT
from artery.formats.text import Text

TOOL: Final = "ucx_perftest"
LISTENS: Final = 5.0
"""Seconds after which a server listens, or never will (assumed)."""

LATENCY, BANDWIDTH = "tag_lat", "tag_bw"


def found() -> str:
    """Return the path of ``ucx_perftest``; raises ``InputError`` where it is not installed."""
    path = shutil.which(TOOL)
    if path is None:
        fix = "install UCX (Debian: ucx-utils), or leave --tool ucx out"
        raise InputError(Problem(found=f"no {TOOL} on PATH", rule="--tool ucx runs it", fix=fix))
    return path


def free_port() -> int:
    """Return a port that nobody listens on just now."""
    with closing(socket.socket()) as one:
        one.bind(("", 0))
        port: int = one.getsockname()[1]
        return port


def served(port: int, *, lan: bool) -> subprocess.Popen[bytes]:
    """Start the side that answers one test on ``port``; the caller waits for it or ends it."""
    return subprocess.Popen(
        [found(), "-p", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=_environ(lan=lan),
    )


def _environ(*, lan: bool) -> dict[str, str]:
    """Return the environment of a test; ``lan``: over TCP, what the user has set stays.

    UCX takes shared memory between hosts that are namespaces of one machine, around their network.
    """
    return {**({"UCX_TLS": "tcp"} if lan else {}), **os.environ}


def tested(
    host: str,
    port: int,
    test: str,
    size: int,
    *,
    warmup: int,
    repeats: int,
    timeout: float,
    lan: bool,
) -> dict[str, Any]:
    """Return what a test against the server on ``host`` gave: latency (s), bandwidth (B/s).

    ``lan``: over TCP, for hosts that are namespaces of one machine.

    Raises :class:`artery.errors.RunError` with what the tool said.
    """
    command = [found(), host, "-p", str(port), "-t", test, "-s", str(size), "-n", str(repeats),
               "-w", str(warmup)]  # fmt: skip
    end = time.monotonic() + timeout
    while True:
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False,
                timeout=max(end - time.monotonic(), 1.0), stdin=subprocess.DEVNULL,
                env=_environ(lan=lan),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise RunError(f"{TOOL} to {host}:{port} gave no answer in {timeout:g} s") from None
        if not done.returncode:
            return dict(FORMAT.read(Text(TOOL, done.stdout)).fields)
        if time.monotonic() > min(end, end - timeout + LISTENS):
            said = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise RunError(f"{TOOL} to {host}:{port} failed: {' '.join(said) or done.returncode}")
        time.sleep(0.05)
