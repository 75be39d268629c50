"""A command on every host of a lab, each with its rank, watched together."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Final

from artery.runner.lab.client import Lab, running

PORT: Final = 29_500
"""The port of the rendezvous: hosts are namespaces of their own, so it is always free."""

GRACE: Final = 5.0
"""Seconds that the others have to end when one has failed (torchrun's own patience is 30)."""

TIMED_OUT: Final = 124
"""The exit code of what was ended for its time, as of ``timeout`` (coreutils)."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How the command ended on one host: 124 if its time was up.

    A signal's number is negative, as Python has it; -9 also of those that were ended because
    another had failed. ``output`` and ``errors`` are what it wrote to its two outputs.
    """

    host: str
    rank: int
    exit_code: int
    seconds: float
    output: str
    errors: str


def environment(lab: Lab, order: Sequence[int], rank: int, patience: float) -> dict[str, str]:
    """Return the variables of one rank; ``order`` gives the host of each.

    One thread a rank: more of them on few cores take several times as long (measured).
    """
    host = lab.shape.hosts[order[rank]]
    first = lab.shape.hosts[order[0]]
    return {
        "RANK": str(rank),
        "LOCAL_RANK": "0",
        "WORLD_SIZE": str(len(order)),
        "LOCAL_WORLD_SIZE": "1",
        "MASTER_ADDR": first.cards[0].address,
        "MASTER_PORT": str(PORT),
        "GLOO_SOCKET_IFNAME": host.cards[0].interface,
        "OMP_NUM_THREADS": "1",
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
        "ARTERY_HOST": host.name,
        "ARTERY_TIMEOUT": f"{patience:g}",
    }


def command(
    lab: Lab,
    words: Sequence[str],
    *,
    order: Sequence[int],
    patience: float,
    heard: Callable[[str, str], None] | None = None,
    extra: Mapping[str, str] | None = None,
) -> tuple[Ended, ...]:
    """Run ``words`` on the hosts of ``order``, rank by rank; return how each ended.

    ``heard`` is called with the host and every line that it says. When one fails the others have
    some seconds left; all that is left at the end, or after ``patience`` seconds, is ended.
    """
    with running(lab.name) as marks:
        started = [
            subprocess.Popen(
                [*lab.entering(lab.shape.hosts[host].name), *words],
                env={
                    **os.environ,
                    **environment(lab, order, rank, patience),
                    **(extra or {}),
                    **marks,
                },
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            for rank, host in enumerate(order)
        ]
        watch = _Watch(lab, order, started, heard)
        try:
            watch.until(time.monotonic() + patience)
        finally:
            for process in started:
                _end(process)
        return watch.ended()


@dataclass(slots=True)
class _Said:
    """What one rank has said in one of its two voices, and how much of it was passed on."""

    rank: int
    text: bytearray = field(default_factory=bytearray)
    passed: int = 0


class _Watch:
    """The processes of a run, and what they say."""

    def __init__(
        self,
        lab: Lab,
        order: Sequence[int],
        started: Sequence[subprocess.Popen[bytes]],
        heard: Callable[[str, str], None] | None,
    ) -> None:
        self._hosts = [lab.shape.hosts[host].name for host in order]
        self._started = started
        self._heard = heard
        self._begun = time.monotonic()
        self._seconds = [0.0] * len(started)
        self._late = False
        self._output = [_Said(rank) for rank in range(len(started))]
        self._errors = [_Said(rank) for rank in range(len(started))]
        self._pipes = selectors.DefaultSelector()
        for rank, process in enumerate(started):
            for pipe, said in ((process.stdout, self._output), (process.stderr, self._errors)):
                if pipe is not None:
                    os.set_blocking(pipe.fileno(), False)
                    self._pipes.register(pipe, selectors.EVENT_READ, said[rank])

    def until(self, deadline: float) -> None:
        """Listen until all have ended, or it is time."""
        while any(process.returncode is None for process in self._started):
            for key, _ in self._pipes.select(0.05):
                self._listen(key.fileobj, key.data)  # type: ignore[arg-type]
            for rank, process in enumerate(self._started):
                if process.returncode is None and (code := process.poll()) is not None:
                    self._seconds[rank] = time.monotonic() - self._begun
                    if code:
                        deadline = min(deadline, time.monotonic() + GRACE)
            if time.monotonic() > deadline:
                self._late = not any(process.returncode for process in self._started)
                return

    def ended(self) -> tuple[Ended, ...]:
        """Return how each ended, with all that it said."""
        for key in list(self._pipes.get_map().values()):
            self._listen(key.fileobj, key.data, last=True)  # type: ignore[arg-type]
        self._pipes.close()
        for process in self._started:
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
        return tuple(
            Ended(
                host=self._hosts[rank],
                rank=rank,
                exit_code=self._code(process),
                seconds=self._seconds[rank] or time.monotonic() - self._begun,
                output=self._output[rank].text.decode(errors="replace"),
                errors=self._errors[rank].text.decode(errors="replace"),
            )
            for rank, process in enumerate(self._started)
        )

    def _code(self, process: subprocess.Popen[bytes]) -> int:
        code = process.returncode or 0
        return TIMED_OUT if self._late and code == -signal.SIGKILL else code

    def _listen(self, pipe: IO[bytes], said: _Said, *, last: bool = False) -> None:
        """Take what a rank says; whole lines are passed on, at the end what is left too."""
        with suppress(BlockingIOError):
            while part := os.read(pipe.fileno(), 1 << 16):
                said.text += part
            self._pipes.unregister(pipe)
            last = True
        end = len(said.text) if last else said.text.rfind(b"\n") + 1
        if self._heard is not None and end > said.passed:
            lines = said.text[said.passed : end].decode(errors="replace").splitlines()
            said.passed = end
            for line in lines:
                self._heard(self._hosts[said.rank], line)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process with its group: ``nsenter`` waits outside for the command inside."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
