"""What chains and trees pass on as one: a piece over all channels, by the library's protocol."""

from __future__ import annotations

import numpy as np
import pytest

from artery.answers.libraries import library_of
from artery.answers.simulate import simulate
from artery.answers.simulate.played import Question, prepared
from artery.catalog import system
from artery.core.pricing import Collective
from artery.simulator.coupled.pipes import NVLS, PACKET, slice_of
from artery.simulator.placed import Placed
from artery.simulator.scenario import Scenario

GIB = 2**30


def jobs_of(
    collective: Collective, algorithm: str, spec: str, size: int = GIB
) -> tuple[Placed, ...]:
    on = system(spec)
    question = Question(on, library_of(on, None), collective, size, np.arange(on.chips), Scenario())
    return prepared(question, algorithm)[0]


@pytest.mark.parametrize(
    ("collective", "algorithm"), [("all_reduce", "tree"), ("broadcast", "ring")]
)
def test_all_channels_together_pass_on_one_slot(collective: Collective, algorithm: str) -> None:
    """Simple, at a size of which nobody sends flags: 512 KiB over eight cards, and both trees."""
    jobs = jobs_of(collective, algorithm, "dgx-h100:32")
    assert len(jobs) == 8
    assert sum(slice_of(job) * len(job.schedule.pipes) for job in jobs) == 512 * 1024


def test_lines_with_flags_are_passed_on_one_by_one() -> None:
    assert {slice_of(job) for job in jobs_of("broadcast", "ring", "dgx-h100:32", 2**20)} == {PACKET}


def test_switches_inside_nodes_have_chunks_of_their_own() -> None:
    assert {slice_of(job) for job in jobs_of("all_reduce", "nvls", "dgx-h100")} == {NVLS}


def test_lines_fill_all_of_a_library_s_slots() -> None:
    """Eight lines under way would leave a chain over long cables to latency: five times as long."""
    found = simulate("reduce", "aws-p6-b200:16", algorithm="ring", size="32M", links=0)
    assert found.closed is not None
    assert found.seconds == pytest.approx(found.closed.seconds, rel=0.1)
