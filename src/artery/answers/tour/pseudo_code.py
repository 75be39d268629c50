"""The article's pseudo-code of all-reduce, as a schedule that can be played.

::

    for i in range(num_chips - 1):
        gradients[i] += receive(gradients[i-1])
        send(gradients[i], to=i+1)
    total = sum(gradients)
    return [total / num_chips for _ in range(num_chips)]

It takes the number of the step for the number of the chip, never cuts the gradients into chunks,
and sums what has been summed up before.
"""

from __future__ import annotations

import numpy as np

from artery.collective.schedules.transfers import once, one_after_another, transfers
from artery.collective.verify import outcome
from artery.core.schedule import Schedule, Step


def pseudo_code(chips: int) -> Schedule:
    """Return what the code does over ``chips`` chips, two or more.

    Chip i receives from the one before it, one chip after the other; the sum over all, which
    the code takes as if every chip saw all gradients, is everybody sending to chip 0 and back.
    """

    def receive(i: int) -> Step:
        return transfers((i - 1) % chips, i, 0, reduce=True)

    others = np.arange(1, chips)
    step, steps = one_after_another(
        (receive, chips - 1),
        once(lambda: transfers(others, 0, 0, reduce=True)),
        once(lambda: transfers(0, others, 0)),
    )
    return Schedule(
        name="pseudo_code",
        collective="all_reduce",
        ranks=chips,
        chunks=1,
        steps=steps,
        step=step,
        wire=chips,
        source="the article",
        ports=chips - 1,
    )


def average(schedule: Schedule) -> float:
    """Return the average that chip 0 ends up with if every gradient is 1; it should be 1."""
    ones = np.ones((schedule.ranks, schedule.chunks), np.int64)
    return float(outcome(schedule, ones)[0].mean() / schedule.ranks)
