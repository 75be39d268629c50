"""The chip to measure: a GPU through CUDA (or ROCm, which torch calls cuda too), or the CPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from artery.errors import UsageError
from artery.meter.clock import Times, repeated
from artery.meter.surroundings import free_memory, surroundings


@dataclass(frozen=True, slots=True)
class Device:
    """One chip: its ``kind`` (``cuda`` or ``cpu``), its number, and what it calls itself."""

    kind: str
    index: int
    name: str

    @property
    def torch(self) -> torch.device:
        """The same for torch."""
        return torch.device(self.kind, self.index) if self.kind == "cuda" else torch.device("cpu")

    def free(self) -> int | None:
        """Return the bytes of its memory that are free; ``None`` where nobody says."""
        if self.kind == "cuda":
            return int(torch.cuda.mem_get_info(self.index)[0])
        return free_memory()

    def times(
        self, action: Callable[[], object], *, warmup: int, repeats: int, most: float
    ) -> Times:
        """Return the times of ``action`` on the chip; ``most`` seconds are spent at most.

        On a GPU between two events on its stream, so that the time to launch does not count.
        """
        if self.kind != "cuda":
            return repeated(action, warmup=warmup, repeats=repeats, most=most)
        # One run by the clock of the host says how many fit.
        once = repeated(action, warmup=warmup, repeats=1, after=torch.cuda.synchronize)
        count = max(1, min(repeats, int(most / max(once.least, 1e-7))))
        marks = [(_mark(), _mark()) for _ in range(count)]
        for begin, end in marks:
            begin.record()
            action()
            end.record()
        torch.cuda.synchronize()
        return Times(tuple(begin.elapsed_time(end) * 1e-3 for begin, end in marks))


def _mark() -> torch.cuda.Event:
    return torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]


def device(asked: str = "auto") -> Device:
    """Return the chip: ``auto`` (a GPU if there is one), ``cpu``, ``cuda`` or ``cuda:N``.

    Raises :class:`artery.errors.UsageError` for one that is not there.
    """
    there = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if asked == "cpu" or (asked == "auto" and not there):
        return Device("cpu", 0, str(surroundings()["processor"] or "cpu"))
    kind, _, index = asked.partition(":")
    number = int(index) if index.isascii() and index.isdigit() else 0 if not index else -1
    if kind not in {"auto", "cuda"} or number < 0:
        raise UsageError(f'there is no device "{asked}"; use auto, cpu, cuda or cuda:N')
    if number >= there:
        raise UsageError(f"torch sees {there} GPU(s), not {asked}; use auto or cpu")
    torch.cuda.set_device(number)
    return Device("cuda", number, torch.cuda.get_device_name(number))
