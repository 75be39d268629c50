"""A worker under a supervisor: waits for a rank, trains, leaves, waits again.

It lives as long as its agent: when the agent is gone it ends, however deep in a collective.
"""

from __future__ import annotations

import os
import queue
import signal
import socket
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from artery.runner.faults import Faults, read_faults
from artery.runner.settings import Settings
from artery.runner.supervisor.channel import Channel
from artery.runner.task import Task
from artery.runner.worker import address, sockets
from artery.runner.worker.attempt import Attempt, Place, disband
from artery.runner.worker.failing import last_frames, reason
from artery.runner.worker.link import GO_ON, PEER, UNMET, Assignment, Stopped
from artery.runner.worker.progress import Progress


@dataclass(frozen=True, slots=True)
class Home:
    """Where a worker lives: its name, its run's folder, its host's memory."""

    member: str
    run: Path
    memory: Path


class AgentLink:
    """The agent at the other end of a socket; a thread reads what it says."""

    def __init__(self, end: socket.socket) -> None:
        self.assigned: queue.Queue[Assignment] = queue.Queue()
        self._channel = Channel(end)
        self._wishes: dict[int, int] = {}
        self._stopped = 0
        self._attempt = 0
        self._before: dict[int, str] = {}
        self._done: set[int] = set()
        self._kept: list[socket.socket] = []
        self._answer = threading.Condition()

    def start(self) -> None:
        """Begin to listen."""
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, kind: str, **fields: object) -> None:
        """Report something to the agent."""
        self._channel.send(kind, **fields)

    def wish(self, attempt: int) -> int:
        """Return what this rank is told to do between two steps."""
        return self._wishes.get(attempt, GO_ON)

    def stopped(self, attempt: int) -> bool:
        """Whether ``attempt`` is over."""
        return attempt <= self._stopped

    def enter(self, attempt: int) -> None:
        """Note which connections there are before an attempt: those that follow are its own."""
        self._before = sockets.connections()
        self._attempt = attempt

    def leave(self) -> None:
        """Be in no attempt any more."""
        self._attempt = 0

    def swallow(self) -> None:
        """Lose the network of this attempt."""
        self._kept += sockets.swallow(self._before)

    def elsewhere(self, index: int, patience: float = 3.0) -> None:
        """Ask the supervisor for a fault outside of this process; wait until it has happened."""
        self.send("fault", index=index)
        with self._answer:
            self._answer.wait_for(lambda: index in self._done, patience)

    def _listen(self) -> None:
        while self._channel.open:
            for message in self._channel.receive():
                self._hear(message)
        os._exit(1)  # the agent is gone: so is this host

    def _hear(self, message: dict[str, Any]) -> None:
        match message.pop("kind"):
            case "begin":
                message["store"] = tuple(message["store"])
                self.assigned.put(Assignment(**message))
            case "pause":
                self._wishes[message["attempt"]] = message["wish"]
            case "stop":
                self._stopped = max(self._stopped, message["attempt"])
                if self._attempt == message["attempt"]:
                    sockets.cut(self._before)
                else:  # it was done here already
                    self.send("left", attempt=message["attempt"], step=0, reason="")
            case "swallow":
                self._kept += sockets.swallow(self._before)
            case "fault_done":
                with self._answer:
                    self._done.add(message["index"])
                    self._answer.notify_all()


def work(end: socket.socket, home: Home, settings: Settings, task: Task) -> None:
    """Serve as a worker until the agent ends it."""
    import torch

    torch.set_num_threads(1)
    link = AgentLink(end)
    faults = Faults(
        read_faults(settings.faults),
        home.run / "faults",
        lambda fault: link.elsewhere(fault.index),
        link.swallow,
    )
    signal.signal(signal.SIGTERM, lambda *_: link.send("term"))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    progress = Progress(home.memory / f"progress-{home.member}")
    place = Place(home.run / "checkpoints", home.memory / "copy", home.run / "phases.jsonl")
    chosen = address.VARIABLE in os.environ
    link.start()
    link.send("ready")
    while True:
        given = link.assigned.get()
        if link.stopped(given.attempt):
            link.send("left", attempt=given.attempt, step=0, reason="")
            continue
        if not chosen:
            address.be_reached_at(given.address)
        link.enter(given.attempt)
        faults.rank, faults.attempt = given.rank, given.attempt
        attempt = Attempt(
            task, settings, given, place=place, link=link, faults=faults, progress=progress
        )
        said = _result(attempt)
        link.leave()
        if not attempt.met:
            os._exit(UNMET)  # torch counts groups per process: a failed one spoils those after it
        link.send(**said)
        disband()


def _result(attempt: Attempt) -> dict[str, Any]:
    """Run an attempt; an error becomes the reason for which it was left."""
    number = attempt.given.attempt
    try:
        return attempt.run()
    except Stopped:
        why = ""
    except Exception as error:  # noqa: BLE001 - the user's model and data may raise anything
        over = attempt.link.stopped(number) or not attempt.met
        why = "" if over else reason(error)
        if why not in ("", PEER):
            attempt.link.send("frames", text=last_frames(error))
    return {"kind": "left", "attempt": number, "step": attempt.step, "reason": why}
