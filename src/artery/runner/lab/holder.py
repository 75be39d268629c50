"""The process that holds a lab: ``python -m artery.runner.lab.holder SOCKET OWNER MODE``.

It is started as the first process of a process-id namespace (``unshare --pid --fork``), reads the
shape from its input, builds the network, writes ``ready`` and answers at its door until it is told
to end. Its end is the end of all: of every process in the lab, and of every namespace, for nobody
else keeps one open.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from artery.runner.lab import door
from artery.runner.lab.kernel import KernelNetwork
from artery.runner.lab.namespaces import RefusedError
from artery.runner.lab.shape import Shape, from_json
from artery.runner.lab.tap import TapNetwork

TICK: Final = 1.0
"""Seconds between two looks for children that have ended."""


class Holder:
    """A network and the door to it."""

    def __init__(
        self, network: KernelNetwork | TapNetwork, entrance: socket.socket, mode: str
    ) -> None:
        self.network = network
        self.mode = mode
        self.entrance = entrance
        self.waiting = selectors.DefaultSelector()
        self.runs: dict[socket.socket, str] = {}

    def serve(self, owner: int | None) -> None:
        """Answer until told to end, or until the process behind the file ``owner`` has ended."""
        self.waiting.register(self.entrance, selectors.EVENT_READ)
        if owner is not None:
            self.waiting.register(owner, selectors.EVENT_READ, "owner")
        while True:
            for key, _ in self.waiting.select(TICK):
                if key.data == "owner":
                    return
                if key.fileobj is self.entrance:
                    if self._guest():
                        return
                elif isinstance(key.fileobj, socket.socket):
                    self._end_run(key.fileobj)
            self._reap()

    def _guest(self) -> bool:
        """Answer one request; return whether it was to end."""
        guest, _ = self.entrance.accept()
        guest.settimeout(door.PATIENCE)
        if door.peer(guest).user != os.geteuid():
            guest.close()
            return False
        request = door.receive(guest) or {}
        try:
            answer = self._answer(request)
        except (RefusedError, KeyError, IndexError, TypeError, ValueError) as error:
            answer = {"error": f"{error}"}
        with suppress(OSError):
            door.send(guest, answer)
        if request.get("do") == "run":
            self.runs[guest] = str(request.get("run"))
            self.waiting.register(guest, selectors.EVENT_READ)
        else:
            guest.close()
        return request.get("do") == "down"

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        match request.get("do"):
            case "describe":
                return {
                    "mode": self.mode,
                    "shape": self.network.shape.to_json(),
                    "namespaces": dict(self.network.where),
                    "share": {str(wire): left for wire, left in self.network.share.items()},
                    "runs": len(self.runs),
                }
            case "carried":
                return {"carried": self.network.carried()}
            case "limit":
                self.network.limit(int(request["wire"]), float(request["share"]))
                return {}
            case "run" | "down":
                return {}
        return {"error": "no such request"}

    def _end_run(self, guest: socket.socket) -> None:
        """End what is left of a run whose caller has gone."""
        self.waiting.unregister(guest)
        guest.close()
        mark = f"{door.RUN}={self.runs.pop(guest)}".encode()
        for folder in Path("/proc").iterdir():
            if folder.name.isdecimal() and int(folder.name) != os.getpid():
                with suppress(OSError):
                    if mark in (folder / "environ").read_bytes().split(b"\0"):
                        os.kill(int(folder.name), signal.SIGKILL)

    def _reap(self) -> None:
        """Bury children: the first process of a namespace inherits every orphan."""
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def build(shape: Shape) -> KernelNetwork | TapNetwork:
    """Return the network of ``shape``, up."""
    return TapNetwork.build(shape) if shape.engine == "tap" else KernelNetwork.build(shape)


def main() -> int:
    """Hold a lab; return the exit code."""
    entrance = socket.socket(fileno=int(sys.argv[1]))
    owner = int(sys.argv[2]) if sys.argv[2] != "-" else None
    # What is typed at the terminal is meant for the command, not for what it left running.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        network = build(from_json(sys.stdin.readline()))
    except (RefusedError, OSError) as error:
        print(error, flush=True)  # noqa: T201 (the answer to whoever started it)
        return 1
    _name_hosts(network.shape)
    entrance.listen(16)
    print("ready", flush=True)  # noqa: T201 (the same)
    _let_go()
    Holder(network, entrance, sys.argv[3]).serve(owner)
    return 0


def _name_hosts(shape: Shape) -> None:
    """Let hosts be found by their names: ``/etc/hosts`` of the lab's own mount namespace.

    A convenience: where mounts are forbidden hosts have their addresses only.
    """
    lines = [f"{host.cards[0].address} {host.name}\n" for host in shape.hosts]
    laid = (
        "mount -t tmpfs artery-lab /tmp && cat /etc/hosts - > /tmp/hosts && "
        "mount --bind /tmp/hosts /etc/hosts; umount -l /tmp"
    )
    with suppress(OSError, subprocess.SubprocessError):
        subprocess.run(
            ["sh", "-c", laid],
            input="".join(lines),
            text=True,
            capture_output=True,
            check=False,
            timeout=10,
        )


def _let_go() -> None:
    """Close the input and the outputs: whoever waits for their end must not wait for the lab."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.close(nothing)


if __name__ == "__main__":
    sys.exit(main())
