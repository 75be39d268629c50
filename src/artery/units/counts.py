"""Message sizes, whose prefixes are binary, and counts, whose prefixes are decimal."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from artery.errors import InputError, Problem
from artery.units.quantity import DIGITS, LARGEST, MOST_DIGITS

_LARGEST_SIZE: Final = 2**60
_COUNT_PREFIX: Final = {
    "": 1, "k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "G": 10**9, "T": 10**12
}  # fmt: skip


def size(text: str | int) -> int:
    """Return a message size in bytes, as nccl-tests reads it: K, M, G, T are binary.

    ``"8"`` and ``"8B"`` are 8 bytes, ``"1M"`` and ``"1MiB"`` 2²⁰; written out with B, ``"1GB"``
    is decimal. Raises :class:`InputError` for anything else, including less than one byte.
    """
    found = str(text).strip()
    pattern = r"(\d+(?:\.\d+)?)\s*(?:([KMGTkmgt])(i?B)?|B)?"
    match = re.fullmatch(pattern, found, re.ASCII) if len(found) <= MOST_DIGITS else None
    if match is None:
        raise _wrong_size(found[:MOST_DIGITS], "must be bytes, or K, M, G, T (binary)")
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
    pattern = rf"({DIGITS}(?:\.\d+)?(?:e\d{{1,2}})?)\s*([kKMBGT]?)"
    match = re.fullmatch(pattern, found, re.ASCII) if len(found) <= MOST_DIGITS else None
    exact = Fraction(match[1]) * _COUNT_PREFIX[match[2]] if match else Fraction(0)
    if exact.denominator != 1 or not 1 <= exact <= LARGEST["1"]:
        raise InputError(
            Problem(
                found=f'"{found}"',
                rule="must be a whole number from 1 to 1e18",
                fix='for example "1024" or "15T" (decimal)',
            )
        )
    return int(exact)


def _wrong_size(found: str, rule: str) -> InputError:
    return InputError(Problem(found=f'"{found}"', rule=rule, fix='for example "8", "1M", "16G"'))
