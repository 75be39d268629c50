"""A transport between threads of one process: what a schedule does, without processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import Queue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from artery.runner.executor.mpi_transport import TYPES
from artery.runner.executor.transport import Parcel, Work

PATIENCE = 20.0
"""Seconds until a thread that waits for ever gives up."""


class Exchange:
    """Where the threads leave parcels for one another."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self.boxes: dict[tuple[int, int, int], Queue[NDArray[Any]]] = {}
        self.lock = threading.Lock()

    def box(self, source: int, target: int, tag: int) -> Queue[NDArray[Any]]:
        with self.lock:
            return self.boxes.setdefault((source, target, tag), Queue())


class _Sent:
    def wait(self) -> object:
        return None


class _Coming:
    def __init__(self, box: Queue[NDArray[Any]], view: NDArray[Any]) -> None:
        self.box, self.view = box, view

    def wait(self) -> object:
        self.view[...] = self.box.get(timeout=PATIENCE)
        return None


class ThreadTransport:
    """One thread's end of an exchange; sends are copied, as a network would."""

    def __init__(self, exchange: Exchange, process: int) -> None:
        self.exchange, self.process = exchange, process
        self.processes = exchange.processes
        self.parcels = 0

    def empty(self, elements: int, dtype: str) -> NDArray[Any]:
        return np.empty(elements, TYPES[dtype])

    def filled(self, buffer: NDArray[Any], values: NDArray[Any]) -> None:
        buffer[...] = values

    def read(self, buffer: NDArray[Any]) -> NDArray[Any]:
        return buffer.astype(np.float64) if buffer.dtype.kind == "f" else buffer

    def post(
        self, sends: Sequence[Parcel], receives: Sequence[Parcel]
    ) -> tuple[list[Work], list[Work]]:
        self.parcels += len(sends)
        for one in sends:
            box = self.exchange.box(self.process, one.peer, one.tag)
            box.put(np.array(one.view, copy=True))
        come: list[Work] = [
            _Coming(self.exchange.box(one.peer, self.process, one.tag), one.view)
            for one in receives
        ]
        return [_Sent() for _ in sends], come

    def progress(self) -> None:
        return

    def finish(self) -> None:
        return


def together(processes: int, part: Callable[[ThreadTransport], Any]) -> list[Any]:
    """Return what ``part`` returned in each thread; the first exception is raised again."""
    exchange = Exchange(processes)
    results: list[Any] = [None] * processes
    errors: list[BaseException] = []

    def run(process: int) -> None:
        try:
            results[process] = part(ThreadTransport(exchange, process))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever started it
            errors.append(error)

    threads = [threading.Thread(target=run, args=(each,), daemon=True) for each in range(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(3 * PATIENCE)
    if errors:
        raise errors[0]
    return results
