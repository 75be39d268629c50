"""The agents of a run as the supervisor has them: connected, started, ended."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.runner.supervisor.channel import Channel
from artery.runner.supervisor.lifeline import PREFIX, tied

EVERYWHERE: Final = ("0.0.0.0", "::", "")  # noqa: S104 - what a listener may be told
"""Addresses that mean all of a machine's own."""

LEAVE: Final = 5.0
"""Seconds that an agent has to clean up before it is killed (assumed)."""


@dataclass(slots=True)
class Host:
    """One agent. ``pid`` is its process if it runs on this machine, else 0.

    ``stores`` counts the stores that it was asked to start: what it says of one before the last is
    no news any more.
    """

    name: str
    channel: Channel
    address: str
    places: int
    pid: int
    memory: Path
    joined: bool = False
    heard: float = 0.0
    store_port: int = 0
    stores: int = 0
    pids: dict[str, int] = field(default_factory=dict)


class Hosts:
    """Listens for agents and starts those of this machine."""

    def __init__(self, listen: tuple[str, int], token: str) -> None:
        self._token = token
        self._mark = secrets.token_hex(16)
        try:
            self._listener = socket.create_server(listen)
        except OSError as error:
            where, why = f"{listen[0]}:{listen[1]}", error.strerror or str(error)
            rule, fix = "must be a free port of this machine", "for example 0.0.0.0:29400"
            found = f"{where}: {why}"
            raise InputError(Problem(field="--listen", found=found, rule=rule, fix=fix)) from error
        self._listener.settimeout(5.0)
        self.address: tuple[str, int] = self._listener.getsockname()[:2]
        self.by_name: dict[str, Host] = {}
        self._children: dict[int, subprocess.Popen[bytes]] = {}
        self._since: dict[int, float] = {}
        self._memories: set[Path] = set()
        self._count = 0

    def fileno(self) -> int:
        """Return the listener's file number, for a selector."""
        return self._listener.fileno()

    def start(self, places: int) -> None:
        """Start an agent on this machine."""
        host, port = self.address
        if host in EVERYWHERE:
            host = "127.0.0.1"
        words = [sys.executable, "-m", "artery.runner.supervisor.agent", host, str(port)]
        surroundings = {
            **os.environ,
            "ARTERY_TOKEN": self._token,
            "ARTERY_PARENT": str(os.getpid()),
            "ARTERY_CHILD": self._mark,
        }
        child = subprocess.Popen(
            [*words, str(places)],
            stdin=subprocess.DEVNULL,
            stdout=sys.__stderr__ if _has_file(sys.__stderr__) else subprocess.DEVNULL,
            env=surroundings,
            start_new_session=True,
            preexec_fn=tied,  # noqa: PLW1509 - one system call, its library loaded before
        )
        self._children[child.pid] = child
        self._since[child.pid] = time.monotonic()

    def accept(self) -> Host | None:
        """Take an agent in; ``None`` if it does not know the token."""
        try:
            end, (address, *_) = self._listener.accept()
        except OSError:
            return None
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        channel = Channel(end)
        hello = next(iter(channel.receive()), {})
        if hello.get("kind") != "hello" or hello.get("token") != self._token:
            channel.close()
            return None
        # The number alone may be that of a process of another machine.
        local = hello["pid"] in self._children and hello.get("child") == self._mark
        memory = Path(hello["memory"])
        host = Host(
            f"h{self._count}",
            channel,
            address,
            int(hello["places"]),
            hello["pid"] if local else 0,
            memory,
            heard=time.monotonic(),
        )
        self._count += 1
        self.by_name[host.name] = host
        if local:
            self._memories.add(memory)
        return host

    def of(self, member: str) -> Host | None:
        """Return the host of a member."""
        return self.by_name.get(member.rpartition(".")[0])

    def reached_at(self, host: Host, others: Iterable[Host]) -> str:
        """Return the address at which ``others`` reach a host.

        One of this machine is reached from elsewhere where those who came from there came to.
        """
        far = next((other for other in others if not other.pid), None)
        return far.channel.here() if host.pid and far is not None else host.address

    def tell(self, member: str, what: str, **fields: Any) -> None:  # noqa: ANN401 - JSON
        """Send something to a worker, through its agent."""
        host = self.of(member)
        if host is not None:
            host.channel.send("tell", member=member, what=what, **fields)

    def expel(self, name: str) -> None:
        """Have nothing more to do with a host; end its processes if they are here."""
        host = self.by_name.pop(name, None)
        if host is None:
            return
        host.channel.close()
        if host.pid:
            for pid in (host.pid, *host.pids.values()):
                _signal(pid, signal.SIGKILL)
            self._reap(host.pid)
            self._forget_memory(host.memory)

    def ended_with(self, host: Host) -> int:
        """Return the exit code of a host's agent, minus the signal if one ended it, else 0."""
        child = self._children.get(host.pid)
        if child is not None:
            with suppress(subprocess.TimeoutExpired):
                return child.wait(1.0)
        return 0

    def lost_before_joining(self) -> list[int]:
        """Return and forget agents of this machine that ended without a word; their exit codes."""
        known = {host.pid for host in self.by_name.values()}
        codes = []
        for pid, child in list(self._children.items()):
            if pid not in known and child.poll() is not None:
                codes.append(child.returncode)
                del self._children[pid]
        return codes

    def end_mute(self, limit: float) -> int:
        """End agents of this machine that did not call within ``limit`` seconds; return how many.

        One that is stopped before it has called says nothing and does not end.
        """
        known = {host.pid for host in self.by_name.values()}
        late = time.monotonic() - limit
        mute = [pid for pid in self._children if pid not in known and self._since[pid] < late]
        for pid in mute:
            _signal(pid, signal.SIGKILL)
            self._reap(pid)
        return len(mute)

    def end(self) -> None:
        """End all agents, and whatever they left on this machine."""
        for host in self.by_name.values():
            host.channel.send("end")
        until = time.monotonic() + LEAVE
        for child in self._children.values():
            with suppress(subprocess.TimeoutExpired):
                child.wait(max(0.0, until - time.monotonic()))
        for host in list(self.by_name.values()):
            self.expel(host.name)
        for pid in list(self._children):
            _signal(pid, signal.SIGKILL)
            self._reap(pid)
        for memory in list(self._memories):
            self._forget_memory(memory)
        self._listener.close()

    def _reap(self, pid: int) -> None:
        child = self._children.pop(pid, None)
        if child is not None:
            with suppress(subprocess.TimeoutExpired):
                child.wait(LEAVE)

    def _forget_memory(self, memory: Path) -> None:
        self._memories.discard(memory)
        if memory.name.startswith(PREFIX):
            shutil.rmtree(memory, ignore_errors=True)


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _has_file(stream: Any) -> bool:  # noqa: ANN401 - whatever stands for stderr
    try:
        return stream is not None and stream.fileno() >= 0
    except (OSError, ValueError):
        return False
