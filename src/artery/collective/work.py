"""``Work``: what an algorithm asks of the links, before any library has its say."""

from __future__ import annotations

from dataclasses import dataclass

from artery.collective.arrays import Floats


@dataclass(frozen=True, slots=True)
class Work:
    """Steps, bytes and seconds of one algorithm, as arrays over groups.

    ``inner_steps`` and ``outer_steps`` are the steps in a row inside nodes and between them.
    ``inner_bytes`` is what the busiest chip sends inside its node and ``outer_bytes`` what the
    busiest node sends to others, both per byte of size. ``inner_seconds`` and ``outer_seconds``
    are these over the rate of the links; transfers inside and between nodes are pipelined, so
    the operation takes the longer of the two.
    """

    inner_steps: Floats
    outer_steps: Floats
    inner_bytes: Floats
    outer_bytes: Floats
    inner_seconds: Floats
    outer_seconds: Floats
