"""The shape of a curve of bandwidth by size: plateau, knee, and whether it falls.

Latency and bandwidth make a curve that rises to a plateau. One that falls as messages grow is
congestion or loss; one that is flat and tiny never used the fast transport.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final, Literal

from artery.diagnoser.case import Curve, Point

Shape = Literal["plateau", "rising", "falling", "flat", "uneven", "point"]

LARGE: Final = 16 * 2**20
"""Bytes. Assumed: below, start-up times rule rather than bandwidth."""

_COLLAPSE: Final = 0.5
"""Assumed: no library changes its algorithm so badly that half of the bandwidth is lost."""


@dataclass(frozen=True, slots=True)
class Reading:
    """``plateau`` is the middle of the largest sizes, B/s; ``knee`` where half of it is reached.

    ``fall`` are the points before and after bandwidth fell below half, if it did.
    """

    shape: Shape
    plateau: float
    knee: int | None
    fall: tuple[Point, Point] | None


def shape_of(curve: Curve) -> Reading:
    """Return the shape of ``curve``, which has a point at least.

    ``plateau``: the last doubling gained less than a tenth. ``rising``: larger messages would
    still gain. ``falling``: below half of what a smaller message had. ``flat``: no size from 1 MiB
    up gains over another. ``uneven``: up and down by more than a fifth.
    """
    points = curve.points
    large = [point.busbw for point in points if point.size >= LARGE] or [curve.last.busbw]
    plateau = median(large[-3:])
    knee = next((point.size for point in points if point.busbw >= plateau / 2), None)
    fall = fall_of(points)
    return Reading(_shape(points, fall), plateau, knee, fall)


def fall_of(points: tuple[Point, ...]) -> tuple[Point, Point] | None:
    """Return the two neighbours between which bandwidth fell below half and stayed there."""
    for before, after in pairwise(points):
        later = max(point.busbw for point in points if point.size >= after.size)
        if before.busbw > 0 and later < before.busbw * _COLLAPSE:
            return before, after
    return None


def _shape(points: tuple[Point, ...], fall: tuple[Point, Point] | None) -> Shape:
    if len(points) < 2:
        return "point"
    if fall is not None:
        return "falling"
    wide = [point.busbw for point in points if point.size >= 2**20]
    if len(wide) >= 4 and max(wide) < 1.3 * min(wide) and points[-1].size >= 64 * 2**20:
        return "flat"
    steps = pairwise(points)
    if any(after.busbw < 0.8 * before.busbw for before, after in steps if before.size >= LARGE):
        return "uneven"
    last, before = points[-1].busbw, points[-2].busbw
    return "plateau" if last < 1.1 * before else "rising"
