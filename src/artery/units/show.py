"""Values written for people: three significant digits, the prefix that keeps them short."""

from __future__ import annotations

import math
from typing import Final

_DECIMAL: Final = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")
_BINARY: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_COUNT_IN_FULL: Final = 100_000
_MONEY_IN_FULL: Final = 10_000


def show_time(seconds: float) -> str:
    """Return a duration for people: ``1.20 µs``, ``8.10 s``, ``12.9 d``."""
    if seconds == 0:
        return "0 s"
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0)):
        # Minutes start at 100 s: a step of 84.3 s reads better than 1.41 min.
        if _rounded(seconds) >= (100.0 if unit == "min" else length):
            return f"{_three(seconds / length)} {unit}"
    for unit, length in (("ms", 1e-3), ("µs", 1e-6)):
        if _rounded(seconds) >= length:
            return f"{_three(seconds / length)} {unit}"
    return f"{_three(seconds / 1e-9)} ns"


def show_bytes(size: float) -> str:
    """Return an amount of bytes for people, with binary prefixes: ``61.2 GiB``."""
    return _prefixed(size, "B", 1024, _BINARY)


def show_rate(rate: float) -> str:
    """Return a bandwidth in B/s for people, with decimal prefixes: ``450 GB/s``."""
    return _prefixed(rate, "B/s", 1000, _DECIMAL)


def show_line_rate(rate: float) -> str:
    """Return a bandwidth in B/s as a line rate in bits: 50e9 is ``400 Gb/s``."""
    return _prefixed(rate * 8, "b/s", 1000, _DECIMAL)


def show_count(number: float) -> str:
    """Return a count for people: ``518 k``, ``15.0 T``; below 100,000 in full."""
    if abs(number) < _COUNT_IN_FULL:
        return f"{number:,.0f}" if float(number).is_integer() else _three(number)
    return _prefixed(number, "", 1000, _DECIMAL)


def show_flops(rate: float) -> str:
    """Return a compute rate in FLOP/s for people: ``989 TFLOP/s``."""
    return _prefixed(rate, "FLOP/s", 1000, _DECIMAL)


def show_work(amount: float) -> str:
    """Return an amount of compute in FLOP for people: ``3.15 ZFLOP``."""
    return _prefixed(amount, "FLOP", 1000, _DECIMAL)


def show_power(watts: float) -> str:
    """Return a power in W for people: ``10.2 kW``."""
    return _prefixed(watts, "W", 1000, _DECIMAL)


def show_energy(joules: float) -> str:
    """Return an energy in J for people: joules below 1 kWh (3.6 MJ), watt-hours above."""
    watt_hour = 3600.0
    if abs(joules) < 1000 * watt_hour:
        return _prefixed(joules, "J", 1000, _DECIMAL)
    return _prefixed(joules / watt_hour, "Wh", 1000, _DECIMAL)


def show_money(dollars: float) -> str:
    """Return an amount of US dollars for people: ``$2.10 M``; below 10,000 in full."""
    if abs(dollars) < _MONEY_IN_FULL:
        return f"${dollars:,.2f}"
    return "$" + _prefixed(dollars, "", 1000, _DECIMAL)


def show_percent(fraction: float) -> str:
    """Return a fraction as a percentage for people: 0.413 is ``41.3 %``."""
    return f"{100 * fraction:.1f} %"


def _prefixed(value: float, unit: str, base: int, prefixes: tuple[str, ...]) -> str:
    """Return ``value`` with three significant digits and the prefix that keeps it short."""
    if float(value).is_integer() and abs(value) < base:
        return f"{value:.0f} {unit}".rstrip()
    power = 0
    while power + 1 < len(prefixes):
        # Both: 999.6 kB rounds up to 1.00 MB, and 1024 KiB rounds down to 1020.
        if max(abs(value), abs(_rounded(value / base**power)) * base**power) < base ** (power + 1):
            break
        power += 1
    return f"{_three(value / base**power)} {prefixes[power]}{unit}".rstrip()


def _rounded(value: float) -> float:
    """Return ``value`` rounded to three significant digits."""
    return float(f"{value:.3g}")


def _three(value: float) -> str:
    """Return ``value`` in plain notation with three significant digits, more if it is large."""
    rounded = _rounded(value)
    if abs(rounded) >= 1000 or rounded == 0:
        return f"{value:.0f}"
    decimals = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:.{decimals}f}"
