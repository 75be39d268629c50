"""How fast messages are played: ``python -m benchmarks.messages [CASE]``.

Each case runs in a process of its own, so that its memory is its own. The paths are found before
the clock starts; what they cost is given beside it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time

import numpy as np

from artery.catalog import system
from artery.cluster.routing import network, paths
from artery.native.gates import at_times, by_steps
from artery.native.messages import Transport, messages, twin
from artery.native.work import Links, Played, Transfers, Work
from benchmarks.reference import fastest, gather, peak_memory, print_case

SYSTEM = "rail-clos-h100"
FAILED = 0.01
"""Share of the cables between switches that are down."""
WHOLE = Transport(segment=0)


@dataclass(frozen=True, slots=True)
class Speed:
    """One case: CPU seconds (best of five) and of its paths, ns per entry of the gather."""

    name: str
    seconds: float
    paths: float
    gather: float
    events: int
    memory: float

    @property
    def rate(self) -> float:
        """Hop events per CPU second."""
        return self.events / self.seconds

    @property
    def gathers(self) -> float:
        """How many entries a random gather fetches in the time of one event."""
        return self.seconds / self.events / (self.gather * 1e-9)


def all_to_all() -> Speed:
    """Play an all-to-all of 1,024 chips, all messages at once."""
    chips, size = 1024, 250_000
    source = np.repeat(np.arange(chips), chips - 1)
    turn = np.tile(np.arange(1, chips), chips)
    links, start, link, taken = _routed(chips, source, (source + turn) % chips)
    n = source.size
    transfers = Transfers(np.full(n, size), np.arange(n, dtype=np.int32), start, link)
    work = Work(links, transfers, at_times(np.zeros(n, np.int64)))
    return _speed("all-to-all of 1,024", lambda: messages(work, WHOLE, times=False), taken)


def halving() -> Speed:
    """Play halving-doubling over 131,072 chips."""
    work, taken = _halving(131_072)
    name = "halving-doubling of 131,072"
    return _speed(name, lambda: messages(work, WHOLE, times=False), taken)


def small() -> Speed:
    """Play halving-doubling over 1,024 chips."""
    work, taken = _halving(1024)
    return _speed("halving-doubling of 1,024", lambda: messages(work, WHOLE), taken)


def python() -> Speed:
    """Play the same in plain Python."""
    work, taken = _halving(1024)
    return _speed("halving-doubling of 1,024, Python twin", lambda: twin(work, WHOLE), taken)


def _halving(chips: int) -> tuple[Work, float]:
    """Return halving-doubling of 1 GiB over all chips, and the CPU seconds of its paths."""
    levels = chips.bit_length() - 1
    rank = np.arange(chips, dtype=np.int32)
    near = np.repeat(np.arange(levels, dtype=np.int32), chips)
    pairs = np.tile(rank, levels)
    links, start, link, taken = _routed(chips, pairs, pairs ^ (1 << near))
    level = np.concatenate([near[::-1], near])
    source = np.tile(rank, 2 * levels)
    step = np.repeat(np.arange(2 * levels, dtype=np.int32), chips)
    gates = by_steps(source, source ^ (1 << level), step, chips)[0]
    size = (2**30 // chips) << level.astype(np.int64)
    return Work(links, Transfers(size, level * chips + source, start, link), gates), taken


def _routed(
    chips: int, source: np.ndarray, target: np.ndarray
) -> tuple[Links, np.ndarray, np.ndarray, float]:
    built = system(f"{SYSTEM}:{chips}")
    began = process_time()
    net = network(built).fail(FAILED, seed=0)
    found = paths(built, net, source, target)
    return Links(net.rate, net.latency), found.start, found.link, process_time() - began


def _speed(name: str, play: Callable[[], Played], taken: float) -> Speed:
    events = play().events
    seconds = fastest(play)
    memory = peak_memory()
    return Speed(name, seconds, taken, gather(), events, memory)


CASES = {one.__name__: one for one in (small, python, all_to_all, halving)}


def measure() -> list[Speed]:
    """Return every case, each from a fresh process. Raises ``CalledProcessError`` if one fails."""
    command = [sys.executable, "-m", "benchmarks.messages"]
    runs = [subprocess.run([*command, name], check=True, capture_output=True) for name in CASES]
    return [Speed(**json.loads(run.stdout)) for run in runs]


if __name__ == "__main__":
    print_case("".join(sys.argv[1:]), CASES)
