"""A worker that starts from nothing.

``python -m artery.runner.worker.cold FD MEMBER RUN MEMORY``.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from dataclasses import asdict
from pathlib import Path

from artery.errors import InputError
from artery.runner.phases import PhaseLog
from artery.runner.settings import Settings
from artery.runner.supervisor.channel import Channel
from artery.runner.supervisor.lifeline import die_with_parent


def main(words: list[str]) -> None:
    """Import torch, load the task of the run, and serve."""
    handle, member, run, memory = words
    die_with_parent(os.getppid(), signal.SIGKILL)
    settings = Settings.read(_settings(Path(run)))
    log = PhaseLog(Path(run) / "phases.jsonl")
    begun = time.time()
    from artery.runner.tasks import find_task
    from artery.runner.worker.process import Home, work

    end = socket.socket(fileno=int(handle))
    try:
        task = find_task(settings.model, settings.data, size=settings.size)
    except InputError as error:
        Channel(end).send("refused", problems=[asdict(p) for p in error.problems])
        return
    log.write("import", begun, time.time() - begun, member=member)
    log.close()
    work(end, Home(member, Path(run), Path(memory)), settings, task)


def _settings(run: Path) -> dict[str, object]:
    import json

    document: dict[str, object] = json.loads((run / "settings.json").read_text("utf-8"))
    return document


if __name__ == "__main__":
    main(sys.argv[1:])
