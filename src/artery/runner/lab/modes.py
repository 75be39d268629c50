"""How a lab can be made here: as root, in a user namespace without root, or only paced."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Mode = Literal["root", "user", "paced"]

TOOLS: Final = ("unshare", "nsenter", "ip", "tc")
"""What a lab of namespaces is made with: util-linux and iproute2."""

_ADMIN: Final = (1 << 12) | (1 << 21)
"""``CAP_NET_ADMIN`` and ``CAP_SYS_ADMIN`` (linux/capability.h)."""

_PATIENCE: Final = 20.0
"""Seconds to wait for one trial (assumed)."""


@dataclass(frozen=True, slots=True)
class Found:
    """One mode: whether it is possible here, and what was found."""

    mode: Mode
    able: bool
    detail: str


def is_root() -> bool:
    """Whether this process may make namespaces without a user namespace.

    What counts are capabilities: the user 0 of a container may lack them.
    """
    try:
        status = Path("/proc/self/status").read_text("ascii", errors="replace")
    except OSError:
        return False
    held = next((line for line in status.splitlines() if line.startswith("CapEff:")), "CapEff: 0")
    return int(held.split()[1], 16) & _ADMIN == _ADMIN


def unshare(mode: Mode) -> list[str]:
    """Return the beginning of a command that starts the first process of a lab."""
    user = ["--user", "--map-root-user"] if mode == "user" else []
    return ["unshare", *user, "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def modes() -> tuple[Found, ...]:
    """Return every mode with whether it is possible here; it tries and leaves nothing behind."""
    return _tried("root"), _tried("user"), Found("paced", able=True, detail=_PACED)


def best() -> Mode:
    """Return the mode that is nearest to a real network here."""
    return next(found.mode for found in modes() if found.able)


def taps() -> tuple[bool, str]:
    """Return whether a switch in user space is possible here, and what was found.

    It takes a device that root may open everywhere, and others where the system lets them.
    """
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return False, f"/dev/net/tun: {error.strerror}"
    return True, "/dev/net/tun"


_PACED: Final = "sends are delayed by token buckets on any system; no real network"


def _tried(mode: Mode) -> Found:
    """Make a shaped wire in a namespace of its own, for a moment."""
    if not sys.platform.startswith("linux"):
        return Found(mode, able=False, detail="needs Linux")
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return Found(mode, able=False, detail=f"not on PATH: {', '.join(missing)}")
    if mode == "root" and not is_root():
        return Found(mode, able=False, detail="not root")
    trial = (
        "ip link add artery0 type veth peer name artery1 && "
        "tc qdisc add dev artery0 root tbf rate 1mbit burst 80000 limit 100000"
    )
    try:
        done = subprocess.run(
            [*unshare(mode), "sh", "-c", trial],
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Found(mode, able=False, detail=f"{error}")
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["refused"]
        return Found(mode, able=False, detail=said[0])
    return Found(mode, able=True, detail="namespaces, veth and tbf tried")
