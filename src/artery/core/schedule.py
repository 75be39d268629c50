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
    """One pipelined path through which a share of the message flows, from source to target.

    ``weight`` is the share of the message. A ``ring`` lists the ranks in ring order in
    ``source`` with their successors in ``target`` (or several disjoint rings of one length, each
    with that share); a ``tree`` lists every edge from child to parent, from parent to child if
    data only come down; a ``star`` lists the edges from ranks to their switch, or from switches
    to their ranks; several trees or stars may also stand side by side. ``volume`` is how
    many times the share crosses each edge, one way (ring all-reduce: 2·(n-1)/n; tree: 1 up and,
    with ``both_ways``, 1 down); ``depth`` is how many steps the first byte takes. Pipes of one
    ``phase`` run together; each slice of the message takes the phases one after the other.
    """

    kind: PipeKind
    weight: float
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    volume: float
    depth: int
    both_ways: bool = False
    phase: int = 0


@dataclass(frozen=True, slots=True)
class Schedule:
    """A collective over ``ranks`` ranks, its buffer cut into ``chunks`` equal chunks.

    ``step(k)`` for k from 0 to ``steps`` - 1 gives the transfers of one step. A rank starts its
    transfers of step k once all that it received in step k - 1 is delivered and all that it sent
    in it has left. Both ends take the transfers of a step in the order of the arrays.

    Chunks lie in rank order: block r of an all-gather or reduce-scatter is the chunks from
    r·chunks/ranks on. If ``owner`` is given, chunk c is a part of block ``owner[c]`` instead (the
    buffer is packed in another order). For all-to-all, chunks are cut into ranks² groups, and
    group s·ranks + d is what rank s holds for rank d; for send/receive, group s is what rank s
    holds for the next rank. Rooted operations start or end at ``root``.

    ``wire`` is the claimed number of chunks that the busiest rank sends, ``ports`` the claimed
    number of peers to which a rank sends, or from which it receives, in one step. ``switches``
    vertices that add and copy inside the network are numbered from ``ranks`` on; they hold
    nothing at first and are no ranks. ``pipes`` describe the pipelined form, if there is one.
    ``source`` names the paper, ``limits`` say when it may not be used.
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
    ports: int = 1
    switches: int = 0
    root: int = 0
    owner: NDArray[np.int64] | None = None
