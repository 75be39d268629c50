"""What communication costs: the one protocol that every asker and every answerer shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, cast, get_args

from artery.errors import UnknownNameError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Collective = Literal[
    "all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "reduce", "sendrecv"
]


def named(text: str) -> Collective:
    """Return the collective that ``text`` names: ``all-reduce``, ``AllReduce``, ``all_to_all``.

    Raises :class:`artery.errors.UnknownNameError` with the nearest names.
    """
    folded = "".join(letter for letter in text.casefold() if letter.isalnum())
    folded = folded.removesuffix("perf")  # the name of the program in nccl-tests
    known = get_args(Collective)
    folded = {"a2a": "alltoall", "sendreceive": "sendrecv", "p2p": "sendrecv"}.get(folded, folded)
    for name in known:
        if folded == name.replace("_", ""):
            return cast("Collective", name)
    raise UnknownNameError("collective", text, known)


@dataclass(frozen=True, slots=True)
class Demand:
    """Many operations of one collective, as arrays that broadcast together.

    ``size`` is the message in bytes by nccl-tests' convention: the buffer of one rank for
    all-reduce, broadcast, reduce, send/receive and all-to-all; the whole gathered (scattered)
    buffer for all-gather (reduce-scatter). ``ranks`` is the group size and ``stride`` the
    distance between neighbours of the group in rank order, so that placement decides which
    tiers the group crosses. ``concurrent`` says that all chips of a node do the same in
    groups of their own at the same time and so share its NICs.
    """

    collective: Collective
    size: NDArray[np.float64]
    ranks: NDArray[np.int64]
    stride: NDArray[np.int64]
    concurrent: bool = True


@dataclass(frozen=True, slots=True)
class Price:
    """``seconds`` per operation, and the index of the tier whose link bounds it."""

    seconds: NDArray[np.float64]
    tier: NDArray[np.int64]


class Pricer(Protocol):
    """Anything that can price communication: closed form, simulation or measurement."""

    def price(self, demand: Demand) -> Price:
        """Return the price of each operation in ``demand``, in the demand's shape."""
        ...
