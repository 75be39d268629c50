"""Strings with units, at the doors; SI floats inside.

:func:`parse` reads ``"400 Gb/s"``, ``"80 GiB"`` or ``"1.2us"`` into s, B, B/s, FLOP, FLOP/s, J,
W, USD, m, J/bit or a plain ratio; :func:`size` and :func:`count` read message sizes and token
counts; the ``show_`` functions write values back for people.

Three mix-ups are ruled out here. *Bits and bytes*: ``Gb/s``, ``Gbit/s`` and ``Gbps`` are divided
by 8, ``GB/s`` is not. *Decimal and binary*: ``GB`` is 10⁹ bytes, ``GiB`` is 2³⁰ (IEC 80000-13).
*One way and both ways*: bandwidth is per direction; a link rate in bits is per direction by
convention (it is the line rate), one in bytes must say ``per direction`` or ``both ways``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from artery.errors import InputError, Problem

_SPELLINGS: Final[Mapping[str, Mapping[str, float]]] = {
    "s": {"s": 1, "sec": 1, "min": 60, "h": 3600, "hour": 3600, "hours": 3600}
    | {"d": 86400, "day": 86400, "days": 86400, "week": 604800, "weeks": 604800},
    "B": {"B": 1, "byte": 1, "bytes": 1, "b": 1 / 8, "bit": 1 / 8, "bits": 1 / 8},
    "B/s": {"B/s": 1, "Bps": 1, "byte/s": 1, "bytes/s": 1}
    | {"b/s": 1 / 8, "bps": 1 / 8, "bit/s": 1 / 8, "bits/s": 1 / 8},
    "bit/s": {"b/s": 1, "bps": 1, "bit/s": 1, "bits/s": 1},
    "FLOP": {"FLOP": 1, "FLOPs": 1, "flop": 1, "flops": 1},
    "FLOP/s": {"FLOP/s": 1, "FLOPS": 1, "FLOPs/s": 1, "flop/s": 1, "OP/s": 1, "OPS": 1},
    "J": {"J": 1, "Wh": 3600},
    "W": {"W": 1},
    "USD": {"USD": 1, "$": 1, "dollars": 1},
    "m": {"m": 1},
    "J/bit": {"J/bit": 1, "J/b": 1, "J/B": 1 / 8, "J/byte": 1 / 8},
    "1": {"": 1, "%": 0.01},
}
"""How each unit may be spelled, and the factor to it; SI prefixes come on top."""

_EXAMPLES: Final[Mapping[str, str]] = {
    "s": "1.2 us",
    "B": "80 GiB",
    "B/s": "3.35 TB/s",
    "bit/s": "6.4 Gb/s",
    "FLOP": "1 EFLOP",
    "FLOP/s": "989 TFLOP/s",
    "J": "3 kWh",
    "W": "700 W",
    "USD": "30000 USD",
    "m": "100 m",
    "J/bit": "5 pJ/bit",
    "1": "0.8",
}
_LINK_EXAMPLE: Final = "400 Gb/s"

_LARGEST: Final[Mapping[str, float]] = {
    "s": 1e12,
    "B": 1e24,
    "B/s": 1e24,
    "bit/s": 1e24,
    "FLOP": 1e33,
    "FLOP/s": 1e27,
    "J": 1e24,
    "W": 1e15,
    "USD": 1e15,
    "m": 1e10,
    "J/bit": 1.0,
    "1": 1e18,
}
"""Assumed: far beyond anything that could be built, so that more is a slip of the pen."""

_SMALLEST: Final[Mapping[str, float]] = {
    "s": 1e-15,
    "B": 0.125,
    "B/s": 0.125,
    "bit/s": 1.0,
    "FLOP": 1e-3,
    "FLOP/s": 1e-3,
    "J": 1e-21,
    "W": 1e-9,
    "USD": 1e-9,
    "m": 1e-10,
    "J/bit": 1e-21,
    "1": 1e-9,
}
"""Assumed likewise: less than this, and not zero, is a slip too, and overflows where it divides."""

_WHOLE_WORDS: Final = frozenset({"min", "h", "hour", "hours", "d", "day", "days", "m", "%", "$"})
"""Taken whole: their first letter would be read as a prefix (``min`` is no milli-inch)."""

_DIGITS: Final = r"\d+(?:_\d+)*"
_NUMBER: Final = rf"[+-]?(?:{_DIGITS}(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{{1,3}})?"
_QUANTITY: Final = re.compile(rf"({_NUMBER})\s*(\S*)", re.ASCII)
_DIRECTION: Final = re.compile(
    r"\s+(?:(per direction|each direction|each way|one way)"
    r"|(both directions|both ways|bidirectional))$"
)


_Handler = Callable[[Any], Any]  # pydantic's own signature; its types are not imported here


@dataclass(frozen=True, slots=True)
class Unit:
    """Marks a field with its unit: ``Annotated[float, Unit("B/s", directed=True)]``.

    The types that carry it stay plain; pydantic, where a door uses it, finds the two hooks below
    and then reads strings with units through :func:`parse`.
    """

    unit: str
    directed: bool = False
    positive: bool = False

    def parse(self, value: object) -> float:
        """Return ``value`` as an SI float; see :func:`parse`."""
        return parse(value, self.unit, directed=self.directed, positive=self.positive)

    def __get_pydantic_core_schema__(self, source: Any, handler: _Handler) -> Any:  # noqa: ANN401
        """Validate with :meth:`parse`; the error carries ``found``, ``rule`` and ``fix``."""
        from pydantic_core import PydanticCustomError, core_schema

        def validate(value: object) -> float:
            try:
                return self.parse(value)
            except InputError as error:
                problem = error.problems[0]
                parts = {"found": problem.found, "rule": problem.rule, "fix": problem.fix}
                raise PydanticCustomError("quantity", "{found}, {rule}, {fix}", parts) from None

        return core_schema.no_info_plain_validator_function(validate)

    def __get_pydantic_json_schema__(self, schema: Any, handler: _Handler) -> Any:  # noqa: ANN401
        """Describe the field as a string with a unit, or a number where none is needed."""
        kind = ["number", "string"] if self.unit == "1" else "string"
        return {"type": kind, "examples": [_example(self.unit, self.directed)]}


def parse(value: object, unit: str, *, directed: bool = False, positive: bool = False) -> float:
    """Return the quantity ``value`` as a float in ``unit``.

    ``unit`` is one of s, B, B/s, bit/s, FLOP, FLOP/s, J, W, USD, m, J/bit and 1. Only ``"1"``
    takes bare numbers (and ``%``). ``directed`` is for the bandwidth of a link: the result is
    per direction. ``positive`` refuses zero.

    Raises:
        InputError: not a number, no unit or another one, both readings of a direction possible,
            negative, not finite, or beyond anything that could be built.

    >>> parse("400 Gb/s", "B/s", directed=True)
    50000000000.0
    >>> parse("900 GB/s both ways", "B/s", directed=True)
    450000000000.0
    """
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise _problem(f"{value!r}", f"must be {_described(unit)}", unit, directed)
    if not isinstance(value, str):
        if unit != "1":
            raise _problem(f"{value!r}", f"needs a unit ({unit})", unit, directed)
        return _bounded(float(value), str(value), unit, positive)
    text, direction = _split_direction(value.strip())
    number, spelling = _number_and_unit(text, unit, directed)
    factor = _SPELLINGS[unit].get(spelling)
    if factor is None:
        rule = f"needs a unit ({unit})" if not spelling else f"must be {_described(unit)}"
        if number < 0:
            rule = "must not be negative"
        raise _problem(f'"{value}"', rule, unit, directed)
    result = number * factor
    if direction and not directed:
        rule = "has no direction: this is not the bandwidth of a link"
        raise InputError(Problem(found=f'"{value}"', rule=rule, fix=f'write "{text}"'))
    if directed and not direction and factor == 1:
        raise _undirected(text)
    return _bounded(result / 2 if direction == "both" else result, value, unit, positive)


def size(text: str | int) -> int:
    """Return a message size in bytes, as nccl-tests reads it: K, M, G, T are binary.

    ``"8"`` and ``"8B"`` are 8 bytes, ``"1M"`` and ``"1MiB"`` 2²⁰; written out with B, ``"1GB"``
    is decimal. Raises :class:`InputError` for anything else, including less than one byte.
    """
    found = str(text).strip()
    pattern = r"(\d+(?:\.\d+)?)\s*(?:([KMGTkmgt])(i?B)?|B)?"
    match = re.fullmatch(pattern, found, re.ASCII) if len(found) <= _MOST_DIGITS else None
    if match is None:
        raise _wrong_size(found[:_MOST_DIGITS], "must be bytes, or K, M, G, T (binary)")
    number, prefix, suffix = match.groups()
    base = 1000 if suffix == "B" else 1024
    power = "KMGT".index(prefix.upper()) + 1 if prefix else 0
    exact = Fraction(number) * base**power
    if exact.denominator != 1 or exact < 1:
        raise _wrong_size(found, "must be a whole number of bytes, at least 1")
    if exact > _LARGEST_SIZE:
        raise _wrong_size(found, "must be at most 1 EiB (2^60 bytes)")
    return int(exact)


def count(text: str | int) -> int:
    """Return a count such as ``"15T"`` tokens: k, M, B or G, T are decimal.

    Raises :class:`InputError` if it is not a whole number, below 1 or above 10¹⁸.
    """
    found = str(text).strip()
    pattern = rf"({_DIGITS}(?:\.\d+)?(?:e\d{{1,2}})?)\s*([kKMBGT]?)"
    match = re.fullmatch(pattern, found, re.ASCII) if len(found) <= _MOST_DIGITS else None
    exact = Fraction(match[1]) * _COUNT_PREFIX[match[2]] if match else Fraction(0)
    if exact.denominator != 1 or not 1 <= exact <= _LARGEST["1"]:
        raise InputError(
            Problem(
                found=f'"{found}"',
                rule="must be a whole number from 1 to 1e18",
                fix='for example "1024" or "15T" (decimal)',
            )
        )
    return int(exact)


_LARGEST_SIZE: Final = 2**60
_MOST_DIGITS: Final = 40
"""Assumed: more digits are no quantity that anybody wrote."""
_MOST_PLACES: Final = 308
"""Powers of ten that a floating-point number has."""
_COUNT_PREFIX: Final = {
    "": 1, "k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "G": 10**9, "T": 10**12
}  # fmt: skip


def _number_and_unit(text: str, unit: str, directed: bool) -> tuple[float, str]:
    """Split ``text`` into a number, its prefix applied, and what is left as the unit."""
    match = _QUANTITY.fullmatch(text.removeprefix("$").strip() if unit == "USD" else text)
    if match is None:
        raise _problem(f'"{text}"', f"must be {_described(unit)}", unit, directed)
    number, spelling = match.groups()
    if unit == "USD" and text.startswith("$"):
        spelling += "$"
    if spelling in _WHOLE_WORDS or spelling in _SPELLINGS[unit]:
        return float(number), spelling
    from quantiphy import InvalidNumber, Quantity

    # Quantiphy takes no prefix after an exponent, so "1e3 GB" is written out as "1000 GB"; its
    # time grows with the square of the digits.
    exact = Decimal(number)
    if len(number) > _MOST_DIGITS or abs(exact.adjusted()) > _MOST_PLACES:
        rule = f"must be a number of at most {_MOST_DIGITS} digits, below 1e{_MOST_PLACES}"
        raise _problem(f'"{text[:_MOST_DIGITS]}"', rule, unit, directed)
    try:
        quantity = Quantity(f"{exact:f} {spelling}", binary=True)
    except InvalidNumber:
        return math.nan, spelling
    return float(quantity), str(quantity.units)


def _split_direction(text: str) -> tuple[str, str]:
    """Return the text without its direction words, and ``one``, ``both`` or nothing."""
    match = _DIRECTION.search(text)
    if match is None:
        return text, ""
    return text[: match.start()], "one" if match[1] else "both"


def _bounded(value: float, found: object, unit: str, positive: bool) -> float:
    """Return ``value`` if it is finite and within what the unit allows."""
    if not math.isfinite(value):
        rule = "must be finite"
    elif value < 0:
        rule = "must not be negative"
    elif value == 0 and positive:
        rule = "must be more than zero"
    elif value > _LARGEST[unit]:
        rule = f"must be at most {_LARGEST[unit]:g} {unit}"
    elif 0 < value < _SMALLEST[unit]:
        rule = f"must be {'' if positive else 'zero, or '}at least {_SMALLEST[unit]:g} {unit}"
    else:
        return value
    raise _problem(f'"{found}"', rule, unit, False)


def _described(unit: str) -> str:
    return "a number" if unit == "1" else f"a number with a unit of {unit}"


def _example(unit: str, directed: bool) -> str:
    return _LINK_EXAMPLE if directed and unit == "B/s" else _EXAMPLES[unit]


def _problem(found: str, rule: str, unit: str, directed: bool) -> InputError:
    fix = f'for example "{_example(unit, directed)}"'
    return InputError(Problem(found=found, rule=rule, fix=fix))


def _undirected(text: str) -> InputError:
    return InputError(
        Problem(
            found=f'"{text}"',
            rule="a link rate in bytes must say its direction",
            fix=f'write "{text} per direction", or "{text} both ways" if it is the sum of the two',
        )
    )


def _wrong_size(found: str, rule: str) -> InputError:
    return InputError(Problem(found=f'"{found}"', rule=rule, fix='for example "8", "1M", "16G"'))


_DECIMAL: Final = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")
_BINARY: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


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


_COUNT_IN_FULL: Final = 100_000
_MONEY_IN_FULL: Final = 10_000


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
