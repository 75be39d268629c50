"""The range over seeds: never without the run that is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from artery.catalog import system
from artery.simulator import seeds
from artery.simulator.scenario import Scenario
from artery.simulator.seeds import FEW, Range, drawn
from artery.simulator.shapes import shaped
from artery.simulator.simulate import simulate

LEAVES = Path(__file__).parents[1] / "fixtures" / "systems" / "four-leaves.toml"


def test_percentiles_need_twenty_seeds() -> None:
    few, many = [float(one) for one in range(9, FEW + 8)], [50.0, *map(float, range(100))]
    assert Range.of(few) == Range(FEW - 1, 9.0, 18.0, 27.0, whole=True)
    found = Range.of(many)
    assert not found.whole
    assert (found.low, found.median, found.high) == pytest.approx((5, 50, 94), abs=0.6)


@pytest.mark.parametrize("odd", [-1.0, 100.0])
def test_a_first_run_beyond_the_percentiles_is_within_what_is_told(odd: float) -> None:
    found = Range.of([odd, *map(float, range(100))])
    assert found.whole
    assert found.low <= odd <= found.high


@pytest.mark.parametrize("at_once", [1, 7, seeds.AT_ONCE])
@pytest.mark.parametrize(
    ("on", "differ"),
    [
        ("dgx-h100:16", False),  # a leaf for every chip: one way
        (f"{LEAVES}:64", True),  # two spines, for the last of eight neighbours in a ring
    ],
)
def test_other_paths_are_found_however_few_are_looked_at_together(
    on: str, at_once: int, monkeypatch: pytest.MonkeyPatch, *, differ: bool
) -> None:
    monkeypatch.setattr(seeds, "AT_ONCE", at_once)
    built = system(on)
    jobs = shaped(built, "all_reduce", "ring", 2**20, np.arange(built.chips))
    run = simulate(built, jobs, Scenario())
    assert drawn(built, run, Scenario(), 8) is differ
    assert not drawn(built, run, Scenario(), 1)
