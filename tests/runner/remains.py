"""What a run may leave behind: processes, files, ports. Found by a mark in the environment."""

from __future__ import annotations

import os
import time
from pathlib import Path

MARK = "ARTERY_TEST_MARK"


def marked(mark: str) -> list[int]:
    """Return the processes that carry the mark, but for zombies, which have no environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def none_left(mark: str, patience: float = 60.0) -> bool:
    """Whether all marked processes are gone within ``patience`` seconds."""
    end = time.monotonic() + patience
    while marked(mark):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def ports_of(pids: list[int]) -> set[str]:
    """Return the local addresses on which these processes listen for TCP."""
    inodes = set()
    for pid in pids:
        try:
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                inodes.add(str(entry.readlink()).removeprefix("socket:[").removesuffix("]"))
        except OSError:
            continue
    return {address for address, inode in _listening() if inode in inodes}


def still_listening(addresses: set[str]) -> set[str]:
    """Return those of the addresses on which somebody still listens."""
    return addresses & {address for address, _ in _listening()}


def _listening() -> list[tuple[str, str]]:
    """Return address and inode of every TCP socket that listens."""
    found = []
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A":
                found.append((words[1], words[9]))
    return found


def folders(place: Path) -> list[str]:
    """Return the folders of runs in ``place``."""
    return sorted(entry.name for entry in place.glob("artery-run-*"))
