"""Which links are told as the hottest."""

from __future__ import annotations

import numpy as np

from artery.catalog import system
from artery.simulator.loads import busy_seconds, hottest
from artery.simulator.scenario import Scenario
from artery.simulator.shapes import shaped
from artery.simulator.simulate import simulate


def test_of_links_that_are_as_hot_the_first_are_told() -> None:
    """What is told does not depend on how numpy chooses among equals on a kind of processor."""
    on = system("rail-clos-h100:256")
    jobs = shaped(on, "all_reduce", "ring", 2**24, np.arange(256))
    found = simulate(on, jobs, Scenario())
    busy = busy_seconds(found).tolist()
    first = sorted(range(len(busy)), key=lambda link: (-busy[link], link))
    for count in (1, 7, 100):
        assert [link.link for link in hottest(found, count)] == first[:count]
