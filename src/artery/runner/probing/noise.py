"""How far off a typical time may be that comes of a few rounds: they are drawn again and again.

The bootstrap (Efron, 1979) over whole rounds, for what others do on a machine lasts longer than a
step: the standard deviation of the lower quartiles of so many samples is their standard error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from artery.runner.probing.measured import COUNTED, covered, typical

SAMPLES: Final = 200
"""Samples of rounds (assumed): the standard error is then known to a twentieth of itself."""

EIGHTY: Final = 1.2816
"""Standard errors on either side of a value that hold 80 % of a normal distribution."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Standard errors of the typical times of a run, as shares of them.

    That of ``exposed`` communication, a difference of steps, is a share of the step.
    """

    step: float = 0.0
    compute: float = 0.0
    exposed: float = 0.0
    communication: float = 0.0


QUIET: Final = Noise()
"""No noise at all."""


def larger(*noises: Noise) -> Noise:
    """Return the larger of each."""
    return Noise(
        max(one.step for one in noises),
        max(one.compute for one in noises),
        max(one.exposed for one in noises),
        max(one.communication for one in noises),
    )


def noise(runs: Sequence[Mapping[str, Any]]) -> Noise:
    """Return the noise of one run as each rank found it; none where there was but one round."""
    talked = [[covered(step) for step in zip(*(run["spans"] for run in runs), strict=True)]]
    whole, alone = ([run[name] for run in runs] for name in ("whole", "alone"))
    rounds = min(len(times) for times in (*whole, *alone)) // COUNTED
    if rounds < 2:  # one alone has no spread
        return QUIET
    draws = np.random.default_rng(0).integers(0, rounds, (SAMPLES, rounds))
    steps, computed, sent = (_drawn(times, draws) for times in (whole, alone, talked))
    return Noise(
        _share(steps, steps),
        _share(computed, computed),
        _share(np.maximum(steps - computed, 0.0), steps),
        _share(sent, sent),
    )


def _drawn(times: Sequence[Sequence[float]], draws: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the typical time of the slowest rank in each sample of rounds."""
    found = np.zeros(len(draws))
    for one in times:
        rounds = np.array(one[: len(draws[0]) * COUNTED]).reshape(-1, COUNTED)
        found = np.maximum(found, [typical(rounds[draw].ravel().tolist()) for draw in draws])
    return found


def _share(found: NDArray[np.float64], whole: NDArray[np.float64]) -> float:
    mean = float(whole.mean())
    return float(found.std()) / mean if mean else 0.0
