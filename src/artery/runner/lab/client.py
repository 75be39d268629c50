"""Labs from outside: start one, find one, ask it, enter its hosts, end it."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.runner.lab import door
from artery.runner.lab.modes import Mode, unshare
from artery.runner.lab.shape import Shape, from_json

SETUP: Final = 120.0
"""Seconds in which a lab must be up (assumed): one of 256 devices takes some ten."""

ENDING: Final = 30.0
"""Seconds in which a lab must be gone (assumed)."""


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab that is up, as it said when it was asked.

    ``process`` holds it, ``namespaces`` are its open files by device, ``share`` is what is left of
    the wires that are not whole, by number.
    """

    name: str
    process: int
    mode: Mode
    shape: Shape
    namespaces: dict[str, int]
    share: dict[int, float]
    runs: int

    def entering(self, host: str) -> list[str]:
        """Return the beginning of a command that runs on ``host``."""
        user = ["--user", "--preserve-credentials"] if self.mode == "user" else []
        network = f"--net=/proc/{self.process}/fd/{self.namespaces[host]}"
        enter = ["nsenter", f"--target={self.process}", *user, "--mount", "--pid", network, "--"]
        # Entering a mount namespace forgets the working folder.
        return [*enter, "sh", "-c", 'cd "$0" && exec "$@"', os.getcwd()]  # noqa: PTH109

    def limit(self, wire: int, share: float) -> None:
        """Leave ``share`` of a wire's rate: 0 takes it down, 1 repairs it."""
        ask(self.name, {"do": "limit", "wire": wire, "share": share})

    def carried(self) -> list[tuple[int, int]]:
        """Return the bytes that each wire has carried: from its lower end, and from its upper."""
        found = ask(self.name, {"do": "carried"})["carried"]
        return [(one, other) for one, other in found]


def start(name: str, shape: Shape, mode: Mode, *, bound: bool = False) -> Lab:
    """Return a new lab; with ``bound`` it ends when this process does, however it does.

    Raises ``InputError`` if one of that name is there, or the machine refuses.
    """
    entrance = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        entrance.bind(door.address(name))
    except OSError:
        entrance.close()
        raise _wrong(f'lab "{name}"', "is up already", f"artery lab down --name {name}") from None
    owner = os.pidfd_open(os.getpid()) if bound else None
    files = [entrance.fileno(), *([owner] if owner is not None else [])]
    module = [sys.executable, "-m", "artery.runner.lab.holder", str(entrance.fileno())]
    command = [*unshare(mode), *module, "-" if owner is None else str(owner), mode]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=files,
        start_new_session=True,
        text=True,
    )
    try:
        said = _until_ready(process, shape)
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        entrance.close()
        if owner is not None:
            os.close(owner)
    if said != "ready":
        process.kill()
        process.wait()
        raise _wrong(f"{mode} mode", f"refused: {said}", "artery doctor says what is possible")
    # The lab outlives this process; its parent is told so, or it would wait for it at its end.
    process.returncode = 0
    found = find(name)
    if found is None:
        raise _wrong(f'lab "{name}"', "ended at once", "try again")
    return found


def _until_ready(process: subprocess.Popen[str], shape: Shape) -> str:
    """Give the shape; return ``ready``, or what went wrong."""
    if process.stdin is None or process.stdout is None:
        raise TypeError("the process was started without pipes")
    with suppress(BrokenPipeError):
        process.stdin.write(shape.to_json() + "\n")
        process.stdin.close()
    ready, _, _ = select.select([process.stdout], [], [], SETUP)
    if not ready:
        return f"not up after {SETUP:.0f} s"
    lines = [process.stdout.readline().strip()]
    if lines[0] != "ready":
        lines += [line.strip() for line in process.stdout]
    process.stdout.close()
    return lines[0] if lines[0] == "ready" else (lines[-1] or "it ended without a word")


def find(name: str) -> Lab | None:
    """Return the lab of that name, ``None`` if it is not there."""
    asked = _asked(name, {"do": "describe"})
    if asked is None:
        return None
    process, found = asked
    return Lab(
        name=name,
        process=process,
        mode=found["mode"],
        shape=from_json(found["shape"]),
        namespaces=found["namespaces"],
        share={int(wire): left for wire, left in found["share"].items()},
        runs=found["runs"],
    )


def needed(name: str) -> Lab:
    """Return the lab of that name; raises ``InputError`` if it is not there."""
    found = find(name)
    if found is None:
        others = ", ".join(door.known())
        fix = f"--name {others}" if others else "artery lab up SYSTEM"
        raise _wrong(f'lab "{name}"', "is not up", fix)
    return found


def ask(name: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return a lab's answer; raises ``InputError`` if there is none, or it refuses."""
    asked = _asked(name, request)
    if asked is None:
        raise _wrong(f'lab "{name}"', "is not up", "artery lab up SYSTEM")
    if "error" in asked[1]:
        raise _wrong(f'lab "{name}"', f"refused: {asked[1]['error']}", "artery lab status")
    return asked[1]


@contextmanager
def running(name: str) -> Iterator[dict[str, str]]:
    """Yield the variables that mark a run; what is left of it at the end is ended by the lab.

    The line to the lab stays open meanwhile, so that this holds when this process is killed.
    """
    run = f"{os.getpid()}-{time.monotonic_ns()}"
    line = _connected(name)
    if line is None:
        raise _wrong(f'lab "{name}"', "is not up", "artery lab up SYSTEM")
    with line:
        door.send(line, {"do": "run", "run": run})
        door.receive(line)
        yield {door.RUN: run}


def end(name: str) -> bool:
    """End a lab and wait until it is gone; return whether there was one."""
    line = _connected(name)
    if line is None:
        return False
    with line:
        process = door.peer(line).process
        watched = os.pidfd_open(process)
        try:
            door.send(line, {"do": "down"})
            if not select.select([watched], [], [], ENDING)[0]:
                signal.pidfd_send_signal(watched, signal.SIGKILL)
                select.select([watched], [], [], ENDING)
        finally:
            os.close(watched)
    while name in door.known():
        time.sleep(0.01)
    return True


def _asked(name: str, request: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
    """Return the process that holds a lab, and its answer."""
    line = _connected(name)
    if line is None:
        return None
    with line:
        door.send(line, request)
        answer = door.receive(line)
        return None if answer is None else (door.peer(line).process, answer)


def _connected(name: str) -> socket.socket | None:
    """Return a line to a lab of this user, ``None`` if there is none."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.settimeout(door.PATIENCE)
    try:
        line.connect(door.address(name))
        if door.peer(line).user == os.geteuid():
            return line
    except OSError:
        pass
    line.close()
    return None


def _wrong(found: str, rule: str, fix: str) -> InputError:
    return InputError(Problem(field="lab", found=found, rule=rule, fix=fix))
