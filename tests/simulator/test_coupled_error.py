"""Coupled rings that meet, against every message: as far off as the answer says, and no further."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from artery.catalog import system
from artery.core.system import System
from artery.native import core
from artery.simulator.choice import BETWEEN
from artery.simulator.scenario import Scenario
from artery.simulator.shapes import shaped
from artery.simulator.simulate import simulate
from artery.simulator.simulation import Simulation

MIB = 2**20
LEAVES = Path(__file__).parents[1] / "fixtures" / "systems" / "four-leaves.toml"
CASES = tuple(product((1, 4, 8, 16, 32, 64), (0.0, 0.05), (0, 1, 2)))
"""MiB of an all-reduce over 64 chips on hashed paths, share of cables down, seed."""


@pytest.fixture(scope="module")
def leaves() -> System:
    return system(f"{LEAVES}:64")


def played(built: System, size: int, scenario: Scenario) -> Simulation:
    return simulate(built, shaped(built, "all_reduce", "ring", size, np.arange(64)), scenario)


def test_rings_are_no_further_off_than_is_said(leaves: System) -> None:
    """Rings that meet at several links are too fast by up to a tenth, and said to be."""
    cases = CASES if core().library is not None else CASES[:6]
    errors = []
    for mib, failed, seed in cases:
        scenario = Scenario(engine="coupled", failed=failed, seed=seed)
        short = played(leaves, mib * MIB, scenario)
        long = played(leaves, mib * MIB, Scenario(engine="messages", failed=failed, seed=seed))
        off = short.seconds / long.seconds - 1
        assert abs(off) <= short.chosen.error, (mib, failed, seed, off, short.chosen.error)
        errors.append(off)
    assert max(errors) < 0.01  # never too slow
    assert min(errors) > -BETWEEN


def test_rings_that_do_not_meet_are_within_the_suite(leaves: System) -> None:
    found = played(leaves, 256 * MIB, Scenario(engine="coupled", routing="static"))
    assert found.chosen.error < BETWEEN
