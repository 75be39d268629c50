"""``Schedule``: a collective as steps of transfers, a function from step to arrays.

Three readers share it: a verifier plays it on integers, the simulator times it on a network,
a runner executes it on real processes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from artery.core.pricing import Collective

PipeKind = Literal["ring", "tree", "star"]


@dataclass(frozen=True, slots=True)
class Step:
    """The transfers of one step, as arrays of one length.

    Rank ``source`` sends the ``count`` chunks from ``first`` on to rank ``target``, which adds
    them to its own where ``reduce`` is true and else overwrites. Several entries with the same
    source and target are one message.
    """

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    first: NDArray[np.int64]
    count: NDArray[np.int64]
    reduce: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Pipe:
    """One pipelined path through which a share of the message flows.

    ``weight`` is the share of the message. A ``ring`` lists the ranks in ring order in
    ``source`` with their successors in ``target``; a ``tree`` lists every edge from child to
    parent; a ``star`` lists every rank with the switch-reduced root as target. ``volume`` is how
    many times the share crosses each edge, one way (ring all-reduce: 2·(n-1)/n; tree: 1 up and
    1 down); ``depth`` is how many steps the first byte takes.
    """

    kind: PipeKind
    weight: float
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    volume: float
    depth: int
    both_ways: bool = False


@dataclass(frozen=True, slots=True)
class Schedule:
    """A collective over ``ranks`` ranks, its buffer cut into ``chunks`` equal chunks.

    ``step(k)`` for k from 0 to ``steps`` - 1 gives the transfers of one step. A rank starts its
    transfers of step k once all that it received in step k - 1 is delivered and all that it sent
    in it has left. For all-to-all, chunk s·ranks + d is what rank s holds for rank d.
    ``wire`` is the claimed number of chunks that the busiest rank sends. ``pipes`` describe the
    pipelined form, if there is one. ``source`` names the paper.
    """

    name: str
    collective: Collective
    ranks: int
    chunks: int
    steps: int
    step: Callable[[int], Step]
    wire: float
    pipes: tuple[Pipe, ...] = ()
    source: str = ""
    limits: tuple[str, ...] = field(default_factory=tuple)
