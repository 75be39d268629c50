"""The fit tried on what it did not see: every other size is fitted, the rest is foretold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np

from artery.answers.calibrate.fitting import Data, fitted, tellable
from artery.answers.calibrate.result import Check, SizeClass
from artery.answers.calibrate.system import OF_STEPS
from artery.errors import InputError

LEAST_CHECKED: Final = 8
"""Assumed: a sweep of fewer sizes is not split into fitted and tried ones."""

CLASSES: Final = (0, 16 * 2**10, 2**20, float("inf"))
"""Bytes between which a check tells its errors apart: starts decide, then protocols, then rates."""


def checked(data: Data, wanted: Sequence[str]) -> Check | None:
    """Return how a fit on every other size does on the rest; ``None`` with too few sizes.

    What can be told is decided on the sizes that are fitted, too.
    """
    used, rest = (
        replace(
            data,
            sweeps=tuple(
                one.part(range(start, len(one.sizes), 2))
                for one in data.sweeps
                if len(one.sizes) >= LEAST_CHECKED
            ),
            runs=(),
            priced={},
        )
        for start in (0, 1)
    )
    if not used.sweeps:
        return None
    try:
        knobs, _ = tellable(used, [path for path in wanted if path not in OF_STEPS])
    except InputError:
        return None
    factors = np.array([one.factor for one in fitted(used, knobs).fit.fitted])
    truth, sizes = rest.measured, rest.sizes
    before = np.abs(rest.predict(())(np.ones(0)) / truth - 1)
    now = np.abs(rest.predict(knobs)(factors) / truth - 1)
    classes = []
    for low, high in pairwise(CLASSES):
        inside = (sizes >= low) & (sizes < high)
        if inside.any():
            errors = (float(np.median(each[inside])) for each in (before, now))
            classes.append(SizeClass(low, high, int(inside.sum()), *errors))
    return Check(len(truth), float(np.median(before)), float(np.median(now)), tuple(classes))
