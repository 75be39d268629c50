"""Counts and times in words."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str = "s") -> str:
    """Return ``count`` with its noun, with the ending of the plural unless it is one.

    >>> counted(1, "node"), counted(12000, "GPU")
    ('1 node', '12,000 GPUs')
    """
    return f"{count:,} {noun}{'' if count == 1 else plural}"


def hours(seconds: float, noun: str = "hours") -> str:
    """Return a long time in hours, whole ones where there are many.

    >>> hours(185_292_000, "GPU hours"), hours(33)
    ('51,470 GPU hours', '0.009167 hours (33 s)')
    """
    known = seconds / 3600
    if 0 < known < 0.1:
        return f"{known:.4g} {noun} ({seconds:.3g} s)"
    return f"{known:,.0f} {noun}" if known >= 1000 else f"{known:.4g} {noun}"
