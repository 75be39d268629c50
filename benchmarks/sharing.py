"""How fast links are shared: max-min, fluid, coupled; ``python -m benchmarks.sharing [CASE]``.

Each case runs in a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from artery.catalog import system
from artery.cluster.routing import Network, Paths, network, paths
from artery.native.coupled import coupled
from artery.native.fluid import fluid
from artery.native.gates import by_steps
from artery.native.maxmin import maxmin
from artery.native.pipelines import Pipelines
from artery.native.work import Links, Transfers, Work
from benchmarks.reference import fastest, gather, peak_memory, print_case

SYSTEM = "rail-clos-h100"
FAILED = 0.01
"""Share of the cables between switches that are down."""


@dataclass(frozen=True, slots=True)
class Shared:
    """One case: CPU seconds (best of five), bytes of memory, and ns per entry of the gather."""

    name: str
    seconds: float
    memory: float
    gather: float
    detail: str

    @property
    def gathers(self) -> float:
        """How many entries a random gather fetches in that time."""
        return self.seconds / (self.gather * 1e-9)


def _fabric(chips: int) -> tuple[Network, Callable[[np.ndarray, np.ndarray], Paths]]:
    built = system(f"{SYSTEM}:{chips}")
    net = network(built).fail(FAILED, seed=0)
    return net, lambda source, target: paths(built, net, source, target)


def permutations() -> Shared:
    """Solve max-min for eight random permutations of 131,072 chips, a million flows."""
    chips, rounds = 131_072, 8
    random = np.random.default_rng(0)
    net, route = _fabric(chips)
    target = np.concatenate([random.permutation(chips) for _ in range(rounds)])
    found = route(np.tile(np.arange(chips), rounds), target)
    capacity = net.rate.astype(np.float64)
    answer = maxmin(found.start, found.link, capacity)
    seconds = fastest(lambda: maxmin(found.start, found.link, capacity))
    detail = f"{target.size:,} flows, {found.link.size:,} crossings, off by {answer.violation:.0e}"
    return Shared("max-min, 8 permutations of 131,072", seconds, peak_memory(), gather(), detail)


def ring() -> Shared:
    """Play every message of a ring all-reduce over 1,024 chips in random order as fluid."""
    chips, chunk = 1024, 250_000
    order = np.random.default_rng(0).permutation(chips)
    net, route = _fabric(chips)
    found = route(order, np.roll(order, -1))
    rank, steps = np.arange(chips), 2 * (chips - 1)
    source = np.tile(rank, steps)
    gates, mixed = by_steps(source, (source + 1) % chips, np.repeat(np.arange(steps), chips), chips)
    path = source[mixed].astype(np.int32)
    transfers = Transfers(np.full(path.size, chunk), path, found.start, found.link)
    work = Work(Links(net.rate, net.latency), transfers, gates)
    answer = fluid(work)
    seconds = fastest(lambda: fluid(work))
    detail = f"{path.size:,} transfers, {path.size / seconds / 1e6:.1f} million a second, "
    detail += f"{answer.filled / path.size:.1f} rates each, {answer.unfair} unfair"
    return Shared("fluid, ring of 1,024 at random", seconds, peak_memory(), gather(), detail)


def rings() -> Shared:
    """Route and couple eight rings over 131,072 chips, nodes in random order."""
    chips, rings_, size = 131_072, 8, 2**30
    nodes = np.random.default_rng(0).permutation(chips // 8)
    orders = [(nodes[:, None] * 8 + (np.arange(8) + r) % 8).ravel() for r in range(rings_)]
    source, target = np.concatenate(orders), np.concatenate([np.roll(one, -1) for one in orders])
    depth = np.full(rings_, 2 * (chips - 1))
    chunk = np.full(rings_, size // rings_ // chips)

    def answer() -> float:
        net, route = _fabric(chips)
        found = route(source, target)
        pipes = Pipelines(
            found.start, found.link, np.arange(rings_ + 1) * chips, np.arange(rings_ + 1),
            depth, depth * chunk, chunk, chunk,
        )  # fmt: skip
        return float(coupled(Links(net.rate, net.latency), pipes).time.max()) / 1e12

    seconds = fastest(answer)
    memory = peak_memory()
    detail = f"all-reduce of 1 GiB in {answer():.3f} s, paths included"
    return Shared("coupled, 8 rings of 131,072", seconds, memory, gather(), detail)


CASES = {one.__name__: one for one in (permutations, ring, rings)}


def measure() -> list[Shared]:
    """Return every case, each from a fresh process. Raises ``CalledProcessError`` if one fails."""
    command = [sys.executable, "-m", "benchmarks.sharing"]
    runs = [subprocess.run([*command, name], check=True, capture_output=True) for name in CASES]
    return [Shared(**json.loads(run.stdout)) for run in runs]


if __name__ == "__main__":
    print_case("".join(sys.argv[1:]), CASES)
