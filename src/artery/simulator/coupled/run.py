"""Jobs as pipes, one variable each: run, and how far off that may be."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from artery.core.arrays import Ints
from artery.core.system import System
from artery.native.coupled import Steady, coupled
from artery.native.pipelines import Pipelines
from artery.native.work import PICOSECONDS, Links
from artery.simulator.adding import Adders, adding_pipes, busiest
from artery.simulator.choice import BETWEEN, BROKEN, OTHERS, TORN, TREES, Chosen
from artery.simulator.coupled.chains import passed_both_ways
from artery.simulator.coupled.pipes import Coupled, coupled_pipes
from artery.simulator.coupled.siblings import Siblings
from artery.simulator.network.routes import domain
from artery.simulator.network.wires import Wires
from artery.simulator.placed import Placed, latest, releases
from artery.simulator.scenario import Scenario
from artery.simulator.simulation import Simulation


def run_coupled(
    system: System, wires: Wires, jobs: tuple[Placed, ...], scenario: Scenario, chosen: Chosen
) -> Simulation:
    """Return what comes out where the jobs' pipes are one variable each."""
    pipes = coupled_pipes(system, wires, jobs, scenario)
    links, adders = wires.links, Adders.of(wires.network, scenario)
    if adders is not None:
        links, pipes = adding_pipes(adders, links, pipes, jobs)
    alone, homes = coupled(links, pipes.pipelines), _homes(wires, pipes)
    siblings = Siblings.of(pipes.pipelines, alone, len(links.rate), homes)
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
        chosen=replace(chosen, error=_error(scenario, chosen, wires, pipes, steady, homes=homes)),
        events=steady.flowed.played.events,
        unfinished=int(np.count_nonzero(steady.time < 0)),
        pairs=pipes.pairs,
        routed=pipes.routed,
        messages=None,
        replay=partial(_replayed, links, pipes, siblings, late),
        alike=pipes.alike,
        adding=busiest(wires.network, scenario, steady.bytes),
    )


def _homes(wires: Wires, pipes: Coupled) -> Ints:
    """Return the node in which each edge lies, -1 from one to another; as often as it has ways."""
    size, pairs = domain(wires.network), pipes.pairs
    source, target = np.asarray(pairs.source) // size, np.asarray(pairs.target) // size
    edges = len(pipes.pipelines.start) - 1
    return np.repeat(np.where(source == target, source, -1), edges // max(len(source), 1))


def _error(
    scenario: Scenario,
    chosen: Chosen,
    wires: Wires,
    pipes: Coupled,
    steady: Steady,
    *,
    homes: Ints,
) -> float:
    """Return how far off the coupled form may be where its suite found it worse than elsewhere."""
    broken = bool(scenario.failed or scenario.failed_switches)
    rings = pipes.pipelines.depth.any()
    if _between(steady) and rings:
        return BROKEN if broken else BETWEEN
    if np.count_nonzero(pipes.pipelines.depth == 0) > 1:
        found = max(_of_trees(pipes.pipelines, homes, broken=broken), chosen.error)
        return max(BETWEEN, found) if rings and _meet(wires, pipes, steady) else found
    return max(BETWEEN, chosen.error) if _meet(wires, pipes, steady) else chosen.error


def _of_trees(lines: Pipelines, homes: Ints, *, broken: bool) -> float:
    """Return how far off several trees may be, by their slices."""
    trees = lines.depth == 0
    slices = float((lines.amount[trees] / np.maximum(lines.segment[trees], 1)).min())
    if (homes >= 0).all() or not passed_both_ways(lines)[trees].all():
        return next(error for least, error in OTHERS.items() if slices >= least)
    if broken and slices < min(filter(None, TREES)):
        return TORN
    return next(error for least, error in TREES.items() if slices >= least)


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
