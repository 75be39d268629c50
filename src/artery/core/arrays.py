"""The array types that every room shares, and how runs of unlike lengths are numbered."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def within(length: Ints) -> Ints:
    """Return 0, 1, ... in each of the runs that are so long, one run after the other.

    >>> within(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return runs(np.zeros(len(length), np.int64), length)


def runs(begin: Ints, length: Ints) -> Ints:
    """Return the numbers from each beginning on, so many of each.

    >>> runs(np.array([7, 5, 1]), np.array([2, 0, 3])).tolist()
    [7, 8, 1, 2, 3]
    """
    before = np.cumsum(length) - length
    return np.asarray(np.repeat(begin - before, length) + np.arange(int(length.sum())))
