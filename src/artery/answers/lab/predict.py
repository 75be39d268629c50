"""What an all-reduce should take in a lab: by formula, and played under many draws of hashes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from artery.answers.lab.system import lab_library, system_again
from artery.answers.simulate.asked import failures
from artery.answers.simulate.played import Outcome, Question, closed, play
from artery.cluster.network import Network
from artery.cluster.routing import network
from artery.core.system import System
from artery.runner.lab.shape import End, Shape
from artery.simulator.scenario import Scenario

ALGORITHM: Final = "ring"
"""What gloo runs by default (``AllreduceOptions::Algorithm``, gloo/allreduce.h)."""

DRAWS: Final = 64
"""Draws of hashes that are played for the range, and among which the lab's own is looked for."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """Seconds of one size: the closed form, and what was played under all draws of hashes.

    ``low`` and ``high`` are the least and the largest of them; ``seen`` is the one whose wires
    carry what the lab's carried (``None``: no draw was that).
    """

    closed: float
    low: float
    high: float
    seen: float | None


@dataclass(frozen=True, slots=True)
class Flows:
    """How many of the ring's flows each wire carries, upwards and downwards."""

    up: tuple[int, ...]
    down: tuple[int, ...]

    @property
    def worst(self) -> int:
        """The flows on the busiest wire: how many times slower than alone each of them is."""
        return max((*self.up, *self.down), default=0)


def flows(carried: Sequence[tuple[int, int]], moved: float) -> Flows:
    """Return the flows behind bytes that wires carried, of which one flow moved ``moved``."""
    return Flows(
        tuple(round(up / moved) for up, _ in carried),
        tuple(round(down / moved) for _, down in carried),
    )


def predict(
    shape: Shape,
    order: Sequence[int],
    sizes: Sequence[int],
    down: Sequence[int],
    seen: Flows | None,
) -> tuple[Predicted, ...]:
    """Return what an all-reduce of each size should take with a rank on each host of ``order``.

    ``down`` are the numbers of wires that are down, ``seen`` the flows that wires really carried
    (``None``: they were drawn as the first draw is).
    """
    system = system_again(shape)
    wires = network(system)
    chips = np.array(order, dtype=np.int64) * system.chips_per_node
    failed: tuple[int, ...] = ()
    if down:
        named = ",".join(_way(shape.wires[wire].lower, shape.wires[wire].upper) for wire in down)
        found = failures(named, wires)
        failed = found if isinstance(found, tuple) else ()
    links = _links(shape, wires)
    library = lab_library(system, shape)
    scenario = Scenario(transport="tcp", failed=failed or 0.0)
    answers = []
    draw: int | None = None
    for number, size in enumerate(sizes):
        question = Question(system, library, "all_reduce", size, chips, scenario)
        played = [_draw(question, seed) for seed in range(1 if _certain(system) else DRAWS)]
        if not number and seen is None:
            draw = 0
        elif not number and seen is not None:
            draw = _like(played, links, size, len(order), seen)
        times = [one.seconds for one in played]
        answers.append(
            Predicted(
                closed(question, ALGORITHM)[0].seconds,
                min(times),
                max(times),
                None if draw is None else times[draw],
            )
        )
    return tuple(answers)


def _draw(question: Question, seed: int) -> Outcome:
    return play(replace(question, scenario=replace(question.scenario, seed=seed)), ALGORITHM)


def _certain(system: System) -> bool:
    """Whether there is one way only between any two hosts: one switch."""
    return sum(group.count for group in system.groups if group.kind == "switch") == 1


def _like(
    played: Sequence[Outcome],
    links: tuple[NDArray[np.int64], NDArray[np.int64]],
    size: int,
    ranks: int,
    seen: Flows,
) -> int | None:
    """Return the draw whose wires carry the flows that were seen, else one with such a worst wire.

    A large network has more outcomes than draws; what its busiest wire carries decides the time.
    """
    moved = 2 * (ranks - 1) / ranks * size
    found = []
    for outcome in played:
        carried = outcome.simulation.carried
        pairs = list(zip(carried[links[0]].tolist(), carried[links[1]].tolist(), strict=True))
        found.append(flows(pairs, moved))
    for number, one in enumerate(found):
        if one == seen:
            return number
    return next((number for number, one in enumerate(found) if one.worst == seen.worst), None)


def _links(shape: Shape, wires: Network) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the directed link of every wire upwards, and downwards."""
    numbers: dict[str, int] = {}
    for group in wires.groups:
        for number in range(group.count):
            numbers[f"{group.name} {number}"] = len(numbers)
    edges = wires.edges()
    between: dict[tuple[int, int], list[int]] = {}
    for link, ends in enumerate(zip(edges.source.tolist(), edges.target.tolist(), strict=True)):
        between.setdefault(ends, []).append(link)
    up: list[int] = []
    down: list[int] = []
    for wire in shape.wires:
        ends = numbers[wire.lower.alias], numbers[wire.upper.alias]
        up.append(between[ends].pop(0))
        down.append(between[ends[1], ends[0]].pop(0))
    return np.array(up, dtype=np.int64), np.array(down, dtype=np.int64)


def _way(lower: End, upper: End) -> str:
    return f"{lower.alias} -> {upper.alias}"
