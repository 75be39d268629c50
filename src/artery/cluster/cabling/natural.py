"""Names in the order that people give them: ``node2`` before ``node10``."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"([0-9]{1,18})")


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key by which names with numbers sort as people count.

    >>> sorted(["mlx5_10", "mlx5_9", "mlx5_1"], key=natural)
    ['mlx5_1', 'mlx5_9', 'mlx5_10']
    """
    parts = (part for part in _NUMBER.split(name) if part)
    return tuple(
        (0, int(part), part) if part.isascii() and part.isdigit() else (1, 0, part)
        for part in parts
    )
