"""``lab bench``: a real all-reduce in a lab, beside the closed form and the simulator."""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from artery.answers.arguments import refused
from artery.answers.lab import LabAnswer, described, lab_down, lab_up, ranked, told
from artery.answers.lab.predict import Flows, Predicted, flows, predict
from artery.errors import InputError, Problem, RunError, UsageError
from artery.meter.surroundings import cores
from artery.runner.extra import installed
from artery.runner.lab import client, commanded

if TYPE_CHECKING:
    from artery.answers.lab.system import LabSystem

_REAL: Final = ("engine", "delay", "queue", "loss")
"""Options that only a lab of real hosts has."""


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One size: seconds of the repeats, whether every sum was right, and what was predicted."""

    size: int
    seconds: tuple[float, ...]
    right: bool
    predicted: Predicted

    @property
    def least(self) -> float:
        """The least of the repeats."""
        return min(self.seconds)

    @property
    def median(self) -> float:
        """The median of the repeats."""
        return statistics.median(self.seconds)

    @property
    def simulated(self) -> float:
        """What was played for the hashes that were seen, else for the luckiest."""
        return self.predicted.low if self.predicted.seen is None else self.predicted.seen


@dataclass(frozen=True, slots=True)
class BenchAnswer:
    """An all-reduce in a lab with a rank on each host of ``order``.

    ``flows`` are those of the ring on each wire (``None``: paced), ``load`` is the machine's load
    average meanwhile.
    """

    lab: LabAnswer
    order: tuple[str, ...]
    algorithm: str
    rows: tuple[BenchRow, ...]
    flows: Flows | None
    load: float
    cores: int


def lab_bench(
    on: str | None = None,
    *,
    name: str = "lab",
    order: str = "packed",
    sizes: Sequence[int] = (4 << 20, 16 << 20),
    repeats: int = 7,
    timeout: float = 600.0,
    heard: Callable[[str, str], None] | None = None,
    **options: Any,  # noqa: ANN401 - those of lab_up, typed there
) -> BenchAnswer:
    """Return a measured all-reduce beside its predictions.

    With ``on`` a lab of that system is made for it and taken down; without, the lab ``name`` is
    used. Raises ``InputError``, and ``RunError`` if a rank fails.
    """
    installed("torch", "the ranks of a lab")
    asked = _Asked(order, tuple(sizes), repeats, timeout)
    if options.get("mode") == "paced":
        return _paced(on, asked, options)
    if on is None:
        return _measured(client.needed(name), asked, heard)
    own = f"bench-{os.getpid()}"
    lab_up(on, name=own, bound=True, **options)
    try:
        return _measured(client.needed(own), asked, heard)
    finally:
        lab_down(own)


COUNTED: Final = 512 * 2**10
"""Bytes that a flow of the ring must move to be counted (assumed): rendezvous and barriers moved
some 28 KiB beside it (assumed)."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be measured."""

    order: str
    sizes: tuple[int, ...]
    repeats: int
    timeout: float


def _measured(
    lab: client.Lab, asked: _Asked, heard: Callable[[str, str], None] | None
) -> BenchAnswer:
    """Run the ranks, count what wires carried, and predict the same."""
    hosts = ranked(lab, asked.order)
    if len(hosts) < 2:
        raise InputError(
            Problem(field="order", found="one rank", rule="has nothing to reduce", fix="two hosts")
        )
    before = lab.carried()
    words = [sys.executable, "-m", "artery.runner.lab.allreduce"]
    arguments = [",".join(map(str, asked.sizes)), str(asked.repeats)]
    ended = commanded.command(
        lab, [*words, *arguments], order=hosts, patience=asked.timeout, heard=heard
    )
    found = _document(ended)
    carried = [
        (late[0] - early[0], late[1] - early[1])
        for early, late in zip(before, lab.carried(), strict=True)
    ]
    ranks = len(hosts)
    # Every flow of the ring carries this much; the rest is rendezvous and barriers.
    moved = 2 * (ranks - 1) / ranks * sum(asked.sizes) * found["calls"]
    seen = flows(carried, moved) if moved >= COUNTED else None
    down = [wire for wire, share in lab.share.items() if share == 0.0]
    predicted = predict(lab.shape, hosts, asked.sizes, down, seen)
    return BenchAnswer(
        lab=told(lab),
        order=tuple(lab.shape.hosts[host].name for host in hosts),
        algorithm="ring",
        rows=tuple(
            BenchRow(row["size_bytes"], tuple(row["seconds"]), row["right"], one)
            for row, one in zip(found["rows"], predicted, strict=True)
        ),
        flows=seen,
        load=os.getloadavg()[0],
        cores=cores(),
    )


def _paced(on: str | None, asked: _Asked, options: Mapping[str, Any]) -> BenchAnswer:
    """Return artery's own ring, its sends held back as the wires would: no real network.

    Processes share one token bucket a wire; both they and the simulator hash with seed 0.
    """
    from artery.answers.bench import bench_collectives

    found = _to_pace(on, asked, options)
    ranks = found.system.chips
    answer = bench_collectives(
        "all_reduce",
        ranks=ranks,
        sizes=",".join(map(str, asked.sizes)),
        algorithm="ring",
        on=found.shape.system,
        overrides=found.overrides,
        paced=True,
        warmup=1,
        repeats=asked.repeats,
        seconds=asked.timeout,
        timeout=asked.timeout,
    )
    if answer is None:
        raise UsageError("--mode paced starts its own processes; do not start it under a launcher")
    order = tuple(range(ranks))
    predicted = predict(found.shape, order, asked.sizes, (), None)
    return BenchAnswer(
        lab=described(found.shape, "paced", "paced", {}, 0),
        order=tuple(host.name for host in found.shape.hosts),
        algorithm="ring",
        rows=tuple(
            BenchRow(row.size, tuple(row.times.seconds), not row.wrong, one)
            for row, one in zip(answer.rows, predicted, strict=True)
        ),
        flows=None,
        load=os.getloadavg()[0],
        cores=cores(),
    )


def _to_pace(on: str | None, asked: _Asked, options: Mapping[str, Any]) -> LabSystem:
    """Return the system whose wires are kept to; refuses what only real hosts can have."""
    from artery.answers.lab.system import lab_system
    from artery.runner.lab.shape import Conditions

    if on is None:
        raise UsageError("--mode paced has no lab that stays up: name a SYSTEM")
    kernel = [name for name in _REAL if options.get(name) is not None]
    if kernel or asked.order != "packed":
        raise UsageError(f"--mode paced takes no --{(kernel or ['order'])[0]}")
    found = lab_system(
        on,
        options.get("overrides", ()),
        rate=options.get("rate"),
        rate_scale=options.get("rate_scale"),
        engine="kernel",
        conditions=Conditions(),
    )
    if found.system.chips_per_node > 1:
        raise refused(
            "SYSTEM", on, "has several chips a node", "a system of one: lab-switch, ethernet-10g:4"
        )
    return found


def _document(ended: Sequence[commanded.Ended]) -> dict[str, Any]:
    """Return what rank 0 found; raises ``RunError`` with the last words of who failed."""
    failed = next((one for one in ended if one.exit_code), None)
    if failed is not None:
        words = "\n  ".join((failed.errors or failed.output).strip().splitlines()[-8:])
        raise RunError(f"{failed.host} ended with exit code {failed.exit_code}\n  {words}")
    lines = [line for line in ended[0].output.splitlines() if line.startswith("{")]
    if not lines:
        raise RunError(f"{ended[0].host} said nothing of what it measured")
    found: dict[str, Any] = json.loads(lines[-1])
    return found
