from __future__ import annotations

from typing import Any

import pytest

from artery.collective.algorithms import ALGORITHMS
from artery.collective.schedules import names, schedule, shapes
from artery.collective.schedules.registry import builders
from artery.core.pricing import Collective
from artery.errors import InputError, UnknownNameError, UsageError


def test_every_algorithm_with_a_closed_form_has_a_schedule_of_that_name() -> None:
    assert set(ALGORITHMS) <= set(names())


def test_every_collective_of_a_closed_form_has_a_schedule() -> None:
    missing = {
        (name, collective)
        for name, algorithm in ALGORITHMS.items()
        for collective in algorithm.collectives - builders()[name].collectives
    }
    assert missing == {("torus", "broadcast"), ("torus", "reduce")}


def test_names_by_collective() -> None:
    assert "pairwise" in names("alltoall")
    assert "pairwise" not in names("all_reduce")


def test_unknown_names_are_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match='did you mean "hierarchical"'):
        schedule("hierarchcal", "all_reduce", 4)
    with pytest.raises(UnknownNameError, match='did you mean "channels"'):
        schedule("ring", "all_reduce", 4, channel=2)
    assert schedule("HalvingDoubling", "all_reduce", 4).name == "halving_doubling"


def test_shapes_say_what_an_algorithm_takes() -> None:
    assert shapes("rail_aligned") == ("per_node",)
    with pytest.raises(UsageError, match="rail_aligned needs per_node"):
        schedule("rail_aligned", "alltoall", 16)


def test_what_an_algorithm_does_not_do_is_refused_with_those_that_do() -> None:
    with pytest.raises(UsageError, match="use one of collnet, ring, tree"):
        schedule("pat", "broadcast", 4)


@pytest.mark.parametrize(
    ("name", "collective", "ranks", "shape", "rule"),
    [
        ("ring", "all_reduce", 0, {}, "at least one member"),
        ("ring", "all_reduce", 4, {"channels": 0}, "channels is a whole number from 1 on"),
        ("ring", "broadcast", 4, {"root": 4}, "one of the ranks 0 to 3"),
        ("ring", "all_reduce", 3, {"orders": [[0, 1, 1]]}, "each of the 3 ranks once"),
        ("hierarchical", "all_reduce", 12, {"levels": (4, 4)}, "number of ranks, 12, 3 x 4 does"),
        ("torus", "all_reduce", 12, {"dims": (4, 4)}, "number of ranks, 12"),
        ("rail_aligned", "alltoall", 12, {"per_node": 8}, "divide the number of ranks, 12"),
        ("collnet", "all_reduce", 4, {"radix": 1}, "joins at least two"),
        ("nvls", "all_reduce", 4, {"operation": "prod"}, "NVLS switches do not add that"),
        ("nvls", "all_reduce", 4, {"operation": "max", "dtype": "fp32"}, "NVLS switches"),
        ("collnet", "all_reduce", 4, {"dtype": "fp8"}, "SHARP switches do not add that"),
    ],
)
def test_impossible_shapes_are_refused_with_the_rule(
    name: str, collective: Collective, ranks: int, shape: dict[str, Any], rule: str
) -> None:
    with pytest.raises(InputError, match=rule):
        schedule(name, collective, ranks, **shape)


def test_switches_copy_what_they_cannot_add() -> None:
    assert schedule("nvls", "all_gather", 4, dtype="fp8").steps == 2


@pytest.mark.parametrize("name", names())
def test_a_single_rank_has_nothing_to_do(name: str) -> None:
    for collective in builders()[name].collectives:
        alone = schedule(name, collective, 1)
        assert (alone.steps, alone.wire, alone.pipes) == (0, 0, ())
        with pytest.raises(IndexError):
            alone.step(0)
