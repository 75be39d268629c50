"""``Work``: what an algorithm asks of the links, before any library has its say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from artery.core.arrays import Floats


@dataclass(frozen=True, slots=True)
class Work:
    """Steps, bytes and seconds of one algorithm, as arrays over groups.

    ``inner_steps`` and ``outer_steps`` are the steps in a row inside nodes and between them.
    ``inner_bytes`` is what the busiest chip sends inside its node and ``outer_bytes`` what the
    busiest node sends to others, both per byte of size. ``inner_seconds`` and ``outer_seconds``
    are these over the rate of the links; transfers inside and between nodes are pipelined, so
    the operation takes the longer of the two, or one after the other: ``in_turn``.
    ``least_seconds`` per byte go by on cables of other classes than the tier's own, which chips
    share: a library fills them. ``inner_fill`` and ``outer_fill`` are the seconds per byte of a
    piece until it is where it goes, beyond those of the bytes: chips of chains and trees pass on
    whole pieces.
    """

    inner_steps: Floats
    outer_steps: Floats
    inner_bytes: Floats
    outer_bytes: Floats
    inner_seconds: Floats
    outer_seconds: Floats
    least_seconds: Floats | float = 0.0
    inner_fill: Floats | float = 0.0
    outer_fill: Floats | float = 0.0
    in_turn: bool = False

    def seconds(self, inner: Floats, outer: Floats) -> Floats:
        """Return the seconds of what takes so many inside nodes and between them."""
        return inner + outer if self.in_turn else np.maximum(inner, outer)
