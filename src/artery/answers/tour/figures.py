"""What a stop of the tour returns: its figures by name, in SI units."""

from __future__ import annotations

from collections.abc import Mapping

from artery.answers.expect import expect

Figures = Mapping[str, float]


def all_reduce_seconds(on: str, size: int) -> float:
    """Return the seconds that an all-reduce of ``size`` bytes should take on all of ``on``."""
    return expect("all_reduce", on, sizes=[size]).rows[0].speed.seconds
