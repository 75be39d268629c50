"""What InfiniBand tools call the speed of a link."""

from __future__ import annotations

from typing import Final

LANE: Final = {
    "SDR": 2.5, "DDR": 5, "QDR": 10, "FDR10": 10, "FDR": 14, "EDR": 25, "HDR": 50, "NDR": 100,
    "XDR": 200,
}  # fmt: skip
"""Gb/s of one lane (InfiniBand Trade Association, nominal)."""

_SIGNALLING: Final = {
    2.5: "SDR", 5.0: "DDR", 10.0: "QDR", 10.3125: "FDR10", 14.0625: "FDR", 25.78125: "EDR",
    53.125: "HDR", 106.25: "NDR", 212.5: "XDR",
}  # fmt: skip
"""Gb/s of one lane as ``iblinkinfo`` prints it: with coding."""


def generation(signalling: float) -> str | None:
    """Return the name of the lane rate that ``iblinkinfo`` prints (Gb/s); ``None``: unknown.

    >>> generation(25.78125), generation(1.0)
    ('EDR', None)
    """
    near = min(_SIGNALLING, key=lambda rate: abs(rate - signalling))
    return _SIGNALLING[near] if abs(near - signalling) < 0.02 * near else None


def link_rate(lanes: int, name: str) -> float:
    """Return the data rate of ``lanes`` lanes of a generation, B/s per direction.

    >>> link_rate(4, "NDR")
    50000000000.0
    """
    return lanes * LANE[name] * 1e9 / 8
