"""An all-to-all of which a sample stands for all: the loads of its links, or some of its rounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from artery.core.arrays import Ints
from artery.core.system import System
from artery.native.work import PICOSECONDS
from artery.simulator.choice import Chosen
from artery.simulator.explicit.rounds import in_rounds, sample
from artery.simulator.explicit.sampled import loads
from artery.simulator.explicit.transport import transport_of
from artery.simulator.network.routes import Ends, Routes
from artery.simulator.network.wires import Wires, at_rates
from artery.simulator.placed import Placed, latest
from artery.simulator.scenario import Scenario
from artery.simulator.simulation import Simulation


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """What stands for the whole.

    ``seconds`` in 5, 50 and 95 of a hundred draws; ``carried`` bytes per directed link; ``events``
    counts what was looked at. ``again`` gives the usual seconds at other rates of the links; it
    plays ``replayed`` hops.
    """

    seconds: tuple[float, float, float]
    carried: Ints
    events: int
    again: Callable[[Ints], float]
    replayed: int = 0


def run_sampled(
    system: System, wires: Wires, job: Placed, scenario: Scenario, chosen: Chosen
) -> Simulation:
    """Return what comes out by the busiest link of a sample, or by some rounds."""
    if in_rounds((job,), scenario):
        found = _some_rounds(system, wires, job, scenario, chosen)
    else:
        found = _some_loads(system, wires, job, scenario)
    late = latest((job,), scenario.late)[0]
    least, usual, most = (one + late for one in found.seconds)
    return Simulation(
        seconds=job.release / PICOSECONDS + usual,
        jobs=(usual,),
        finish=(np.zeros(0),),
        carried=found.carried,
        network=wires.network,
        chosen=chosen,
        events=found.events,
        unfinished=0,
        pairs=_nobody(),
        routed=_nowhere(),
        messages=None,
        replay=lambda rate: found.again(rate) + late,
        replayed=found.replayed,
        between=(least, most),
    )


def _some_loads(system: System, wires: Wires, job: Placed, scenario: Scenario) -> _Sample:
    """Return what comes out by the loads of links."""
    found = loads(system, wires, job, scenario)
    message = job.total / job.schedule.ranks
    return _Sample(
        seconds=found.seconds(message, wires.network.rate),
        carried=found.carried(message),
        events=found.paths,
        again=lambda rate: found.seconds(message, rate)[1],
    )


def _some_rounds(
    system: System, wires: Wires, job: Placed, scenario: Scenario, chosen: Chosen
) -> _Sample:
    """Return what comes out by windows of the rounds."""
    transport = transport_of(system, scenario, chosen)
    found = sample(system, wires, job, scenario, transport)

    def again(rate: Ints) -> float:
        return sample(system, at_rates(wires, rate), job, scenario, transport).seconds[1]

    return _Sample(found.seconds, found.carried, found.played, again, replayed=found.events)


def _nobody() -> Ends:
    """Return no pairs: who crosses which link is not known of a sample."""
    none = np.zeros(0, dtype=np.int64)
    return Ends(none, none)


def _nowhere() -> Routes:
    none = np.zeros(0, dtype=np.int64)
    return Routes(none, np.zeros(1, dtype=np.int64), none.astype(np.int32))
