"""What needs torch beside the workers: what they share when they are forked, and the store.

``python -m artery.runner.supervisor.warm FD`` holds a store that tells its port over that file.
"""

from __future__ import annotations

import os
import signal
import socket
import sys

import torch
from torch.distributed import TCPStore  # type: ignore[attr-defined]

from artery.runner.checkpoint.state import packed, unpacked
from artery.runner.settings import Settings
from artery.runner.supervisor.channel import Channel
from artery.runner.supervisor.lifeline import die_with_parent
from artery.runner.task import Task
from artery.runner.tasks import find_task
from artery.runner.worker import process as _process  # noqa: F401 - imported once, for all forks
from artery.runner.worker.training import Training


def warmed(settings: Settings) -> Task:
    """Return the task of a run, its data loaded, and have all imported that a worker needs.

    Everything is done once but a backward pass: that would start threads, which a fork does not
    take along.
    """
    torch.set_num_threads(1)
    task = find_task(settings.model, settings.data, size=settings.size)
    training = Training(task, settings, 0, 1)
    task.tried(training.model)
    unpacked(packed(training.state()))
    return task


def hold_store(end: socket.socket) -> None:
    """Hold a store at a free port, tell the port, and stay as long as the agent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = Channel(end)
    store = TCPStore("0.0.0.0", 0, None, is_master=True, wait_for_workers=False)  # noqa: S104 - ranks come from other hosts
    channel.send("store", port=store.port)
    end.settimeout(None)
    while channel.open:
        for _ in channel.receive():
            pass


if __name__ == "__main__":
    die_with_parent(os.getppid())
    hold_store(socket.socket(fileno=int(sys.argv[1])))
