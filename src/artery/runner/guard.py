"""``python -m artery.runner.guard COMMAND...``: runs a command that ends when its starter does.

For launchers that do not hand their standard input on, mpirun say: the guard watches its own, and
when that ends it asks the command to end, then makes it, and takes the run's folder away.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from artery.runner.launch import FOLDER, GRACE, WATCHED, gone, until_input_ends


def ended(process: subprocess.Popen[bytes]) -> None:
    """End ``process``: ask it, so that a launcher ends what it has started, then make it."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main(command: Sequence[str]) -> int:
    """Run ``command`` and return its exit code; a signal that killed it is 128 and more."""
    environ = {name: value for name, value in os.environ.items() if name != WATCHED}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environ)

    alone = threading.Event()

    def watch() -> None:
        until_input_ends()
        alone.set()
        ended(process)
        if FOLDER in os.environ:
            gone(Path(os.environ[FOLDER]))
        os._exit(1)

    def leave(number: int, _: object) -> None:
        ended(process)
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, leave)
    watcher = threading.Thread(target=watch, daemon=True, name="artery-guard")
    if os.environ.get(WATCHED) == "1":
        watcher.start()
    code = process.wait()
    if alone.is_set():
        watcher.join()  # which ends this process
    return 128 - code if code < 0 else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
