from __future__ import annotations

import pytest

from artery.diagnoser.case import Curve, Point
from artery.diagnoser.shape import shape_of

MIB = 2**20


def curve(*rates: float, start: int = 4 * MIB, factor: int = 2) -> Curve:
    points = tuple(Point(start * factor**i, rate * 1e9) for i, rate in enumerate(rates))
    return Curve("all_reduce", 16, 2, points, "a.log")


@pytest.mark.parametrize(
    ("measured", "shape"),
    [
        (curve(10, 60, 150, 220, 228, 230), "plateau"),
        (curve(10, 20, 40, 80), "rising"),
        (curve(12, 20, 29, 6, 5.5), "falling"),
        (curve(2.6, 2.9, 3, 3, 3, 3), "flat"),
        (curve(10, 60, 200, 230, 150, 220, 221), "uneven"),
        (curve(40), "point"),
    ],
)
def test_shapes_are_told_apart(measured: Curve, shape: str) -> None:
    assert shape_of(measured).shape == shape


def test_a_fall_names_both_sides_of_the_cliff() -> None:
    fall = shape_of(curve(12, 20, 29, 6, 5.5)).fall
    assert fall is not None
    assert [(point.size // MIB, point.busbw) for point in fall] == [(16, 29e9), (32, 6e9)]


def test_a_dip_that_recovers_is_no_fall() -> None:
    assert shape_of(curve(12, 20, 29, 6, 35)).fall is None


def test_plateau_is_the_middle_of_the_largest_and_the_knee_half_of_it() -> None:
    read = shape_of(curve(10, 60, 150, 220, 228, 230))
    assert read.plateau == 228e9
    assert read.knee == 16 * MIB
