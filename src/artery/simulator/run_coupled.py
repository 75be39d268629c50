"""Jobs as pipes, one variable each: run, and how far off that may be."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from artery.core.system import System
from artery.native.coupled import Steady, coupled
from artery.native.work import PICOSECONDS, Links
from artery.simulator.adding import Adders, adding_pipes, busiest
from artery.simulator.choice import BETWEEN, BROKEN, FEW, SHORT, TREES, Chosen
from artery.simulator.pipes import Coupled, coupled_pipes
from artery.simulator.placed import Ints, Placed, latest, releases
from artery.simulator.routes import domain
from artery.simulator.scenario import Scenario
from artery.simulator.siblings import Siblings
from artery.simulator.simulation import Simulation
from artery.simulator.wires import Wires


def run_coupled(
    system: System, wires: Wires, jobs: tuple[Placed, ...], scenario: Scenario, chosen: Chosen
) -> Simulation:
    """Return what comes out where the jobs' pipes are one variable each."""
    pipes = coupled_pipes(system, wires, jobs, scenario)
    links, adders = wires.links, Adders.of(wires.network, scenario)
    if adders is not None:
        links, pipes = adding_pipes(adders, links, pipes, jobs)
    alone = coupled(links, pipes.pipelines)
    siblings = Siblings.of(pipes.pipelines, alone, len(links.rate), _between_nodes(wires, pipes))
    steady = siblings.waited(links, pipes.pipelines, alone)
    carried = steady.bytes[: len(wires.network.rate)]
    late = latest(jobs, scenario.late)
    times = _ends(steady, pipes, late)
    return Simulation(
        seconds=max(
            (one + two for one, two in zip(releases(jobs), times, strict=True)), default=0.0
        ),
        jobs=times,
        finish=tuple(np.zeros(0) for _ in times),
        carried=carried if pipes.alike is None else pipes.alike.everywhere(carried),
        network=wires.network,
        chosen=replace(chosen, error=_error(scenario, chosen, wires, pipes, steady)),
        events=steady.flowed.played.events,
        unfinished=int(np.count_nonzero(steady.time < 0)),
        pairs=pipes.pairs,
        routed=pipes.routed,
        messages=None,
        replay=partial(_replayed, links, pipes, siblings, late),
        alike=pipes.alike,
        adding=busiest(wires.network, scenario, steady.bytes),
    )


def _between_nodes(wires: Wires, pipes: Coupled) -> NDArray[np.bool_]:
    """Return which edges lead from one node to another, each as often as it has ways."""
    size, pairs = domain(wires.network), pipes.pairs
    there = np.asarray(pairs.source) // size != np.asarray(pairs.target) // size
    edges = len(pipes.pipelines.start) - 1
    return np.repeat(there, edges // max(len(there), 1))


def _error(
    scenario: Scenario, chosen: Chosen, wires: Wires, pipes: Coupled, steady: Steady
) -> float:
    """Return how far off the coupled form may be where its suite found it worse than elsewhere."""
    if _between(steady) and pipes.pipelines.depth.any():
        return BROKEN if scenario.failed or scenario.failed_switches else BETWEEN
    trees = pipes.pipelines.depth == 0
    found = chosen.error
    if np.count_nonzero(trees) > 1:
        cut = pipes.pipelines.amount[trees] / np.maximum(pipes.pipelines.segment[trees], 1)
        found = max(SHORT if cut.min() < FEW else TREES, found)
    return max(BETWEEN, found) if _meet(wires, pipes, steady) else found


def _meet(wires: Wires, pipes: Coupled, steady: Steady) -> bool:
    """Whether pipes share a link between switches that sends most of the time.

    A link on which there is more than any one pipe brings there is shared.
    """
    cables = wires.network.between
    link = np.concatenate([cables, cables + wires.network.cables])
    if not len(link) or not len(steady.time):
        return False
    carried = steady.bytes[link]
    busy = carried * (PICOSECONDS / wires.network.rate[link])
    alone = int((pipes.pipelines.amount * steady.crossings).max())
    return bool(((busy > steady.time.max() / 2) & (carried > 1.01 * alone)).any())


def _between(steady: Steady) -> bool:
    """Whether the longest of several pipes fills for about as long as it flows."""
    if len(steady.time) < 2:
        return False
    last = int(steady.time.argmax())
    return bool(steady.flow[last] < 2 * steady.fill[last] < 4 * steady.flow[last])


def _replayed(
    links: Links, pipes: Coupled, siblings: Siblings, late: list[float], rate: Ints
) -> float:
    """Return the seconds at other rates of the network's links."""
    narrow = rate if pipes.alike is None else pipes.alike.narrowest(rate)
    links = links.at(narrow)
    steady = siblings.waited(links, pipes.pipelines, coupled(links, pipes.pipelines))
    return max(_ends(steady, pipes, late), default=0.0)


def _ends(steady: Steady, pipes: Coupled, late: list[float]) -> tuple[float, ...]:
    """Return the seconds of each job: the longest phase, filled through all the others.

    Slices take the phases one after the other, so that the phases overlap but for one slice.
    """
    found = []
    for number, more in enumerate(late):
        mine = pipes.job == number
        phases = np.unique(pipes.phase[mine])
        ends = [int(steady.time[mine & (pipes.phase == p)].max(initial=0)) for p in phases]
        fills = [int(steady.fill[mine & (pipes.phase == p)].max(initial=0)) for p in phases]
        last = int(np.argmax(ends)) if ends else 0
        others = sum(fill for place, fill in enumerate(fills) if place != last)
        found.append((max(ends, default=0) + others) / PICOSECONDS + more)
    return tuple(found)
