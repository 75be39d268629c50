"""Several queue pairs for a pair of ranks: what every engine makes of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from artery.catalog import system
from artery.simulator.scenario import Scenario
from artery.simulator.shapes import shaped
from artery.simulator.simulate import simulate

pytestmark = pytest.mark.usefixtures("compiled_loops")
LEAVES = Path(__file__).parents[1] / "fixtures" / "systems" / "four-leaves.toml"


def seconds(scenario: Scenario, size: int, collective: str = "all_reduce") -> float:
    built = system(f"{LEAVES}:64")
    name = "ring" if collective == "all_reduce" else "grouped"
    jobs = shaped(built, collective, name, size, np.arange(64))  # type: ignore[arg-type]
    return simulate(built, jobs, scenario).seconds


@pytest.mark.parametrize("queues", [2, 8])
@pytest.mark.parametrize("engine", ["fluid", "messages"])
def test_large_messages_are_cut_over_all_queues_in_every_engine(queues: int, engine: str) -> None:
    scenario = Scenario(queue_pairs=queues, engine=engine)  # type: ignore[arg-type]
    pipeline = seconds(replace(scenario, engine="coupled"), 2**32)
    assert seconds(scenario, 2**32) == pytest.approx(pipeline, rel=0.03)


def test_more_queues_never_slow_a_large_ring_much() -> None:
    times = [
        seconds(Scenario(queue_pairs=queues, engine="fluid"), 2**32) for queues in (1, 2, 4, 8)
    ]
    assert all(more < 1.02 * less for less, more in pairwise(times))
    assert times[-1] < 0.5 * times[0]


def test_messages_below_a_slice_for_each_queue_take_one_in_turn() -> None:
    one, eight = (Scenario(queue_pairs=n, engine="messages") for n in (1, 8))
    assert seconds(eight, 2**16) != seconds(one, 2**16)
