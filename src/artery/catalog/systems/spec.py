"""``NAME:CHIPS`` and ``NAME:4x4x8``: a system as written on the command line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from artery.errors import InputError, Problem

MOST_CHIPS = 4_000_000
"""Assumed: more than any system built or announced; a slip of the pen above."""

_COUNT = re.compile(r"[0-9]{1,12}")
_SHAPE = re.compile(r"[0-9]{1,6}(x[0-9]{1,6}){1,2}")


@dataclass(frozen=True, slots=True)
class Spec:
    """``name`` of a system or path to its file, and ``chips`` or the ``shape`` of a torus."""

    name: str
    chips: int | None = None
    shape: tuple[int, ...] | None = None


def parse_spec(text: str) -> Spec:
    """Return ``NAME``, ``NAME:CHIPS`` or ``NAME:4x4x8`` taken apart.

    Raises :class:`artery.errors.InputError` if what follows the last colon is no number of chips
    from 1 up and no shape. A colon inside a path is left to the path.
    """
    name, colon, size = text.strip().rpartition(":")
    if not colon or "/" in size or "\\" in size:
        return Spec(text.strip())
    folded = size.strip().casefold().replace("_", "").replace("×", "x")
    if _SHAPE.fullmatch(folded):
        shape = tuple(int(side) for side in folded.split("x"))
        if all(shape):
            return Spec(name, shape=shape)
    elif _COUNT.fullmatch(folded) and 1 <= int(folded) <= MOST_CHIPS:
        return Spec(name, chips=int(folded))
    raise InputError(
        Problem(
            field="system",
            found=f'"{text}"',
            rule=f"after the colon stands a number of chips from 1 to {MOST_CHIPS:,}, or a shape",
            fix=f'for example "{name}:64", or "tpu-v4-pod:4x4x8"',
        )
    )
