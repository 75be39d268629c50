"""An all-to-all of which a sample stands for all: the loads of its links, or some of its rounds."""

from __future__ import annotations

import numpy as np

from artery.core.system import System
from artery.native.work import PICOSECONDS
from artery.simulator.choice import Chosen
from artery.simulator.placed import Ints, Placed, latest
from artery.simulator.rounds import in_rounds, sample
from artery.simulator.routes import Ends, Routes
from artery.simulator.sampled import loads
from artery.simulator.scenario import Scenario
from artery.simulator.simulation import Simulation
from artery.simulator.transport import transport_of
from artery.simulator.wires import Wires, at_rates


def run_sampled(
    system: System, wires: Wires, job: Placed, scenario: Scenario, chosen: Chosen
) -> Simulation:
    """Return what comes out by the busiest link of a sample, or by some rounds."""
    if in_rounds((job,), scenario):
        return _some_rounds(system, wires, job, scenario, chosen)
    found = loads(system, wires, job, scenario)
    message = job.total / job.schedule.ranks
    late = latest((job,), scenario.late)[0]

    def replayed(rate: Ints) -> float:
        return found.seconds(message, rate)[1] + late

    least, usual, most = (one + late for one in found.seconds(message, wires.network.rate))
    return Simulation(
        seconds=job.release / PICOSECONDS + usual,
        jobs=(usual,),
        finish=(np.zeros(0),),
        carried=found.carried(message),
        network=wires.network,
        chosen=chosen,
        events=found.paths,
        unfinished=0,
        pairs=_nobody(),
        routed=_nowhere(),
        messages=None,
        replay=replayed,
        between=(least, most),
    )


def _some_rounds(
    system: System, wires: Wires, job: Placed, scenario: Scenario, chosen: Chosen
) -> Simulation:
    """Return what comes out by windows of the rounds."""
    transport = transport_of(system, scenario, chosen)
    late = latest((job,), scenario.late)[0]
    found = sample(system, wires, job, scenario, transport)
    least, usual, most = (one + late for one in found.seconds)

    def replayed(rate: Ints) -> float:
        return sample(system, at_rates(wires, rate), job, scenario, transport).seconds[1] + late

    return Simulation(
        seconds=job.release / PICOSECONDS + usual,
        jobs=(usual,),
        finish=(np.zeros(0),),
        carried=found.carried,
        network=wires.network,
        chosen=chosen,
        events=found.played,
        unfinished=0,
        pairs=_nobody(),
        routed=_nowhere(),
        messages=None,
        replay=replayed,
        replayed=found.events,
        between=(least, most),
    )


def _nobody() -> Ends:
    """Return no pairs: who crosses which link is not known of a sample."""
    none = np.zeros(0, dtype=np.int64)
    return Ends(none, none)


def _nowhere() -> Routes:
    none = np.zeros(0, dtype=np.int64)
    return Routes(none, np.zeros(1, dtype=np.int64), none.astype(np.int32))
