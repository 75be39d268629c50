"""All-to-all straight from every rank to every other, and send/receive.

Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4.4 (pairwise exchange); NCCL posts all
messages at once, as grouped send and receive (user guide, point-to-point communication).
"""

from __future__ import annotations

import numpy as np

from artery.collective.schedules.arguments import positive
from artery.collective.schedules.registry import builds
from artery.collective.schedules.transfers import once, transfers
from artery.core.pricing import Collective
from artery.core.schedule import Schedule, Step


@builds("pairwise", "alltoall")
def pairwise(collective: Collective, ranks: int) -> Schedule:  # noqa: ARG001
    """Return n-1 steps: in step k every rank sends to the one k+1 after it."""
    return _windowed("pairwise", ranks, 1)


@builds("windowed", "alltoall")
def windowed(collective: Collective, ranks: int, *, window: int = 8) -> Schedule:  # noqa: ARG001
    """Return (n-1)/window steps, rounded up, of ``window`` messages per rank each."""
    positive(window=window)
    return _windowed("windowed", ranks, min(window, ranks - 1))


@builds("grouped", "alltoall")
def grouped(collective: Collective, ranks: int) -> Schedule:  # noqa: ARG001
    """Return a single step with all n-1 messages of every rank."""
    return _windowed("grouped", ranks, ranks - 1)


def _windowed(name: str, ranks: int, window: int) -> Schedule:
    rank = np.arange(ranks)

    def step(k: int) -> Step:
        # By distance, so that no rank is sent to by all others first.
        distance = np.arange(k * window + 1, min((k + 1) * window, ranks - 1) + 1)[:, None]
        target = (rank + distance) % ranks
        return transfers(rank, target, rank * ranks + target)

    return Schedule(
        name=name,
        collective="alltoall",
        ranks=ranks,
        chunks=ranks * ranks,
        steps=-(-(ranks - 1) // window),
        step=step,
        wire=ranks - 1,
        source="Thakur, Rabenseifner and Gropp, IJHPCA 2005",
        ports=window,
    )


@builds("sendrecv", "sendrecv")
def sendrecv(collective: Collective, ranks: int) -> Schedule:
    """Return one step: every rank sends its buffer to the next and receives from the last."""
    rank = np.arange(ranks)
    step, steps = once(lambda: transfers(rank, (rank + 1) % ranks, rank))
    source = "nccl-tests, sendrecv"
    return Schedule("sendrecv", collective, ranks, ranks, steps, step, 1, source=source)
