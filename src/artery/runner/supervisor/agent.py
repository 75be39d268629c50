"""An agent: one host's part of a run. It starts workers, looks after them, tells the supervisor.

``python -m artery.runner.supervisor.agent HOST PORT PLACES``, with the run's token in
``ARTERY_TOKEN``. A warm agent imports torch and loads the data once, then forks its workers: they
are there in milliseconds and share that memory. A cold one starts an interpreter for each.
"""

from __future__ import annotations

import gc
import getpass
import os
import selectors
import shutil
import signal
import socket
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from artery.errors import InputError
from artery.runner.checkpoint.memory import copied_step
from artery.runner.faults import Faults, read_faults
from artery.runner.phases import PhaseLog
from artery.runner.settings import Settings
from artery.runner.supervisor.channel import Channel
from artery.runner.supervisor.lifeline import die_with_parent, new_memory
from artery.runner.supervisor.process import Worker, ending, spawned
from artery.runner.worker.progress import read_mark

REFUSED: Final = 3
"""The exit code of an agent that the supervisor did not take."""

GIVEN_UP: Final = 4
"""The exit code of an agent that lost its supervisor, or that the run went on without."""

CUT_OFF: Final = 60.0
"""Seconds after which an agent ends that reaches its supervisor no more (assumed): long before, it
was counted as lost."""

BEAT: Final = 0.1
"""Seconds between two looks at the workers (assumed)."""


@dataclass(slots=True)
class Agent:
    """Serves the supervisor at the other end of ``control`` until it says ``end``.

    ``parent`` is the supervisor's process if that started this one, else 0.
    """

    control: Channel
    name: str = ""
    workers: dict[str, Worker] = field(default_factory=dict)
    memory: Path = field(default_factory=new_memory)
    leaving: bool = False
    parent: int = 0
    _run: Path = Path()
    _settings: Settings = field(default_factory=lambda: Settings(model=""))
    _warm: bool = True
    _task: Any = None
    _store: Worker | None = None
    _stores: int = 0
    _ended: bool = False
    _mute: bool = False
    _next_beat: float = 0.0
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)

    def serve(self) -> None:
        """Do what the supervisor says; clean up whatever happens."""
        wake, notice = socket.socketpair()
        for end in (wake, notice):
            end.setblocking(False)
        signal.set_wakeup_fd(notice.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._told)
        signal.signal(signal.SIGCONT, self._continued)
        try:
            self._selector.register(self.control, selectors.EVENT_READ, None)
            self._selector.register(wake, selectors.EVENT_READ, wake)
            while not self._ended and self.control.open:
                self._turn(wake)
        finally:
            self._clean_up()

    @property
    def dismissed(self) -> bool:
        """Whether the supervisor said that it is over."""
        return self._ended

    def _continued(self, _: int, __: object) -> None:
        """Go if the supervisor is dead: the kernel says so by this signal, whatever is done."""
        if self.parent and os.getppid() != self.parent:
            self._clean_up()
            os._exit(GIVEN_UP)

    def _told(self, number: int, _: object) -> None:
        if number == signal.SIGTERM:
            self.leaving = True

    def _turn(self, wake: socket.socket) -> None:
        """Wait a moment for whatever happens, then look after everybody."""
        for key, _ in self._selector.select(BEAT):
            if key.fileobj is self.control:
                for message in self.control.receive():
                    if not self._mute:
                        self._hear(message)
            elif key.data is wake:
                with suppress(BlockingIOError):
                    wake.recv(4096)
            else:
                self._relay(key.data)
        self._reap()
        if not self._mute:
            self._beat()

    # The supervisor

    def _hear(self, message: dict[str, Any]) -> None:
        getattr(self, f"_do_{message.pop('kind')}")(**message)

    def _do_start(self, members: list[str]) -> None:
        for member in members:
            self._start(member)

    def _do_tell(self, member: str, what: str, **message: object) -> None:
        worker = self.workers.get(member)
        if worker is not None:
            worker.channel.send(what, **message)

    def _do_mute(self) -> None:
        """Lose the network: say and hear nothing more (a drill)."""
        self._mute = True
        for worker in self.workers.values():
            worker.channel.send("swallow")

    def _do_end(self) -> None:
        self._ended = True

    def _do_welcome(self, name: str, settings: dict[str, Any], run: str, warm: bool) -> None:
        """Learn what the run is, and get everything ready that workers share."""
        self.name, self._run, self._warm = name, Path(run), warm
        self._settings = Settings.read(settings)
        faults = Faults(read_faults(self._settings.faults), self._run / "faults")
        faults.import_of(int(self.name.removeprefix("h")))
        if self._warm:
            log = PhaseLog(self._run / "phases.jsonl")
            with log.timed("import", host=self.name):
                from artery.runner.supervisor.warm import warmed

                try:
                    self._task = warmed(self._settings)
                except InputError as error:
                    self.control.send("refused", problems=[asdict(p) for p in error.problems])
                    return
            log.close()
            gc.collect()
            gc.freeze()  # pages that the collector does not touch stay shared after a fork
        self.control.send("joined")

    def _beat(self) -> None:
        """Tell how far the workers are, and thereby that this host lives."""
        if time.monotonic() < self._next_beat:
            return
        self._next_beat = time.monotonic() + BEAT
        if self.leaving:
            self.control.send("leaving")
        news = []
        for worker in self.workers.values():
            mark = read_mark(self._mark_of(worker.member))
            told = (mark.attempt, mark.step, mark.meeting, mark.busy, mark.computed, mark.at)
            if told != worker.reported:
                worker.reported = told
                news.append((worker.member, *told))
        self.control.send("beat", marks=news)

    # Workers

    def _start(self, member: str) -> None:
        # Systems clear away shared memory, for one when a user logs out.
        self.memory.mkdir(mode=0o700, exist_ok=True)
        ours, theirs = socket.socketpair()
        pid = self._fork(member, ours, theirs) if self._warm else self._spawn(member, theirs)
        theirs.close()
        worker = Worker(member, pid, Channel(ours))
        self.workers[member] = worker
        self._selector.register(worker.channel, selectors.EVENT_READ, worker)
        self.control.send("started", member=member, pid=pid)

    def _fork(self, member: str, ours: socket.socket, end: socket.socket) -> int:
        parent = os.getpid()
        pid = os.fork()
        if pid:
            return pid
        try:
            self._forget(parent, ours)
            from artery.runner.worker.process import Home, work

            work(end, Home(member, self._run, self.memory), self._settings, self._task)
        except BaseException as error:  # noqa: BLE001 - nothing may run on into the agent's own code
            print(f"{member}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)  # noqa: T201
        finally:
            os._exit(1)

    def _forget(self, parent: int, ours: socket.socket) -> None:
        """Close in a child what belongs to the agent."""
        die_with_parent(parent)
        ours.close()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGCONT):
            signal.signal(number, signal.SIG_DFL)
        self._selector.close()
        self.control.close()
        for worker in (*self.workers.values(), *([self._store] if self._store else [])):
            worker.channel.close()
        os.dup2(2, 1)  # what a worker prints is no answer

    def _spawn(self, member: str, end: socket.socket) -> int:
        words = [sys.executable, "-m", "artery.runner.worker.cold", str(end.fileno()), member]
        return spawned([*words, str(self._run), str(self.memory)], end)

    def _relay(self, worker: Worker) -> None:
        """Pass on what a worker says."""
        for message in worker.channel.receive():
            self._pass_on(worker, message)
        if not worker.channel.open:
            self._unwatch(worker)

    def _pass_on(self, worker: Worker, message: dict[str, Any]) -> None:
        """Pass on one message, with what is in this host's memory."""
        kind = message.pop("kind")
        if kind == "left":
            message["copy"] = self._copied()
        if self._mute:
            return
        if worker.member == "store":
            self.control.send("store", pid=worker.pid, number=self._stores, **message)
        else:
            self.control.send("worker", member=worker.member, what=kind, **message)

    def _unwatch(self, worker: Worker) -> None:
        with suppress(KeyError, ValueError):
            self._selector.unregister(worker.channel)

    def _copied(self) -> int:
        return copied_step(self.memory / "copy")

    def _mark_of(self, member: str) -> Path:
        return self.memory / f"progress-{member}"

    def _do_kill(self, member: str) -> None:
        worker = self.workers.get(member)
        if worker is not None:
            with suppress(ProcessLookupError):
                os.kill(worker.pid, signal.SIGKILL)

    def _reap(self) -> None:
        """Notice who has ended."""
        by_pid = {worker.pid: worker for worker in self.workers.values()}
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if self._store is not None and pid == self._store.pid:
                self._unwatch(self._store)
                self._store.channel.close()
                self._store = None
                if not self._mute:
                    self.control.send("store_lost", number=self._stores, reason=ending(status))
            elif pid in by_pid:
                self._gone(by_pid[pid], status)

    def _gone(self, worker: Worker, status: int) -> None:
        self._unwatch(worker)
        for message in worker.channel.rest():
            self._pass_on(worker, message)
        worker.channel.close()
        del self.workers[worker.member]
        path = self._mark_of(worker.member)
        mark = read_mark(path)
        path.unlink(missing_ok=True)
        if not self._mute:
            self.control.send(
                "lost",
                member=worker.member,
                reason=ending(status),
                attempt=mark.attempt,
                step=mark.step,
                at=mark.at,
                copy=self._copied(),
            )

    # The store

    def _do_start_store(self, number: int) -> None:
        """Start a process where ranks meet; it outlives any of them. One before it ends."""
        self._do_kill_store(signal.SIGKILL)
        self._stores = number
        ours, theirs = socket.socketpair()
        pid = self._fork_store(ours, theirs) if self._warm else self._spawn_store(theirs)
        theirs.close()
        if self._store is not None:
            self._unwatch(self._store)
            self._store.channel.close()
        self._store = Worker("store", pid, Channel(ours))
        self._selector.register(self._store.channel, selectors.EVENT_READ, self._store)

    def _fork_store(self, ours: socket.socket, end: socket.socket) -> int:
        parent = os.getpid()
        pid = os.fork()
        if pid:
            return pid
        try:
            self._forget(parent, ours)
            from artery.runner.supervisor.warm import hold_store

            hold_store(end)
        finally:
            os._exit(1)

    @staticmethod
    def _spawn_store(end: socket.socket) -> int:
        words = [sys.executable, "-m", "artery.runner.supervisor.warm", str(end.fileno())]
        return spawned(words, end)

    def _do_kill_store(self, signal_number: int) -> None:
        if self._store is not None:
            with suppress(ProcessLookupError):
                os.kill(self._store.pid, signal_number)

    # The end

    def _clean_up(self) -> None:
        """Leave no process and no file."""
        signal.set_wakeup_fd(-1)
        pids = [worker.pid for worker in self.workers.values()]
        pids += [self._store.pid] if self._store is not None else []
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in pids:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
        shutil.rmtree(self.memory, ignore_errors=True)
        with suppress(
            OSError, KeyError
        ):  # torch makes it for its compiler; in use, it is not empty
            (Path(tempfile.gettempdir()) / f"torchinductor_{getpass.getuser()}").rmdir()
        self.control.close()


def main(words: list[str]) -> int:
    """Join the run at ``HOST PORT`` with ``PLACES`` places; return the exit code."""
    host, port, places = words
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")  # a lost peer is no news to us
    parent = int(os.environ.get("ARTERY_PARENT") or "0")
    if parent:
        # Wakes an agent that is stopped, and reaches one that imports torch: it cleans up and ends.
        die_with_parent(parent, signal.SIGCONT)
    end = socket.create_connection((host, int(port)), timeout=10.0)
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if sys.platform == "linux":
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * CUT_OFF))
    agent = Agent(Channel(end), parent=parent)
    agent.control.send(
        "hello",
        token=os.environ.pop("ARTERY_TOKEN", ""),
        places=int(places),
        pid=os.getpid(),
        child=os.environ.pop("ARTERY_CHILD", ""),
        memory=str(agent.memory),
    )
    agent.serve()
    if not agent.name:
        return REFUSED
    return 0 if agent.dismissed else GIVEN_UP


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
