"""Unions of time intervals, as arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Spans = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Starts and ends; after :func:`union` ascending and apart."""


def union(start: NDArray[np.float64], end: NDArray[np.float64]) -> Spans:
    """Return the intervals that cover the same time and do not touch.

    >>> union(np.array([0.0, 1.0, 5.0]), np.array([2.0, 3.0, 6.0]))
    (array([0., 5.]), array([3., 6.]))
    """
    if not start.size:
        return start, end
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    first = np.concatenate([[True], start[1:] > reach[:-1]])
    last = np.concatenate([first[1:], [True]])
    return start[first], reach[last]


def covered(spans: Spans) -> float:
    """Return the length of intervals that are apart."""
    return float((spans[1] - spans[0]).sum())


def both(one: Spans, other: Spans) -> float:
    """Return the length of the time that lies in both of two unions: |A| + |B| - |A or B|."""
    start, end = (np.concatenate(pair) for pair in zip(one, other, strict=True))
    return covered(one) + covered(other) - covered(union(start, end))
