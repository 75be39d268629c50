"""What a lab could leave behind: processes, namespaces, interfaces, sockets, ports, files."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MARKS: Final = (b"artery.runner.lab", b"nsenter", b"ibsim", b"opensm")
"""What the command lines of a lab's processes have."""

PATIENCE: Final = 60.0
"""Seconds in which the kernel may still be clearing away what was killed."""


@dataclass(frozen=True)
class Machine:
    """What there is at one moment."""

    processes: frozenset[int]
    namespaces: frozenset[str]
    interfaces: frozenset[str]
    sockets: frozenset[str]
    listening: frozenset[str]
    mounts: frozenset[str]


def machine() -> Machine:
    """Return what there is now."""
    processes, namespaces = set(), set()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            namespaces.add(str((folder / "ns/net").readlink()))
            line = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if any(mark in line for mark in MARKS):
            processes.add(int(folder.name))
    unix = Path("/proc/net/unix").read_text("ascii", errors="replace").splitlines()
    tcp = Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]
    mounts = Path("/proc/self/mounts").read_text("utf-8", errors="replace").splitlines()
    return Machine(
        frozenset(processes),
        frozenset(namespaces),
        frozenset(path.name for path in Path("/sys/class/net").iterdir()),
        frozenset(line.split()[-1] for line in unix if "artery-lab" in line),
        # The lab's rendezvous is at 29500, 733C in base 16.
        frozenset(one for line in tcp if (one := line.split()[1]).endswith(":733C")),
        frozenset(line for line in mounts if "artery" in line or "netns" in line),
    )


@contextmanager
def nothing_remains(folder: Path) -> Iterator[None]:
    """Fail if the machine has something at the end that it had not at the beginning.

    ``folder`` is where temporary files go meanwhile; it must be empty at the end.
    """
    before = machine()
    old = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        if old is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = old
    end = time.monotonic() + PATIENCE
    while (after := machine()) != before and time.monotonic() < end:
        time.sleep(0.05)
    for name in Machine.__dataclass_fields__:
        left = getattr(after, name) - getattr(before, name)
        assert not left, f"{name} left behind: {sorted(left)}"
    assert not list(folder.iterdir()), "files were left behind"
