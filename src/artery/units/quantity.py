"""A quantity: a number, a prefix and a unit, and for links a direction, as one float in SI."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
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

LARGEST: Final[Mapping[str, float]] = {
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

DIGITS: Final = r"\d+(?:_\d+)*"
_NUMBER: Final = rf"[+-]?(?:{DIGITS}(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{{1,3}})?"
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
    most: float | None = None

    def parse(self, value: object) -> float:
        """Return ``value`` as an SI float, at most ``most``; see :func:`parse`."""
        found = parse(value, self.unit, directed=self.directed, positive=self.positive)
        if self.most is not None and found > self.most:
            rule = f"must be at most {self.most:,.0f} {self.unit}"
            raise _problem(f'"{value}"', rule, self.unit, self.directed)
        return found

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


MOST_DIGITS: Final = 40
"""Assumed: more digits are no quantity that anybody wrote."""
_MOST_PLACES: Final = 308
"""Powers of ten that a floating-point number has."""


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
    if len(number) > MOST_DIGITS or abs(exact.adjusted()) > _MOST_PLACES:
        rule = f"must be a number of at most {MOST_DIGITS} digits, below 1e{_MOST_PLACES}"
        raise _problem(f'"{text[:MOST_DIGITS]}"', rule, unit, directed)
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
    elif value > LARGEST[unit]:
        rule = f"must be at most {LARGEST[unit]:g} {unit}"
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
