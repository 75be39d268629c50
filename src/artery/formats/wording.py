"""Counts in words."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """Return ``count`` with its noun, in the plural unless it is one.

    >>> counted(1, "node"), counted(12000, "GPU")
    ('1 node', '12,000 GPUs')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
