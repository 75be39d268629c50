"""Slurm's host lists: ``tux[0-3,12,18-20],login1`` stands for nine names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Final

from artery.errors import InputError, Problem

MOST: Final = 1_000_000
"""Assumed: more names than any cluster has; a slip of the pen above."""

_PART = re.compile(r"((?:[^\[\],]|\[[^\]]*\])+)(?:,|$)")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def expand(text: str) -> list[str]:
    """Return the names in order; numbers keep their leading zeros.

    Raises :class:`artery.errors.InputError` for a range that runs backwards, brackets that do
    not close, or more than ``MOST`` names.
    """
    names: list[str] = []
    position = 0
    text = text.strip()
    while position < len(text):
        part = _PART.match(text, position)
        if part is None:
            raise _wrong(text, "brackets must close, and names stand between commas")
        names += _expanded(part[1].strip(), text, MOST - len(names))
        position = part.end()
    return names


def _expanded(part: str, whole: str, room: int) -> list[str]:
    """Return the names of one part, which may hold several bracketed lists."""
    pieces = re.split(r"\[([^\]]*)\]", part)
    choices: list[list[str]] = []
    total = 1
    for index, piece in enumerate(pieces):
        choices.append([piece] if index % 2 == 0 else _numbers(piece, whole, room))
        total *= len(choices[-1])
        if total > room:
            raise _wrong(whole, f"must be at most {MOST:,} names")
    return ["".join(chosen) for chosen in product(*choices)]


def _numbers(piece: str, whole: str, room: int) -> list[str]:
    """Return the numbers of ``0-3,12``."""
    numbers: list[str] = []
    for part in piece.split(","):
        found = _RANGE.fullmatch(part.strip())
        if found is None or len(found[1]) > 18 or len(found[2] or "") > 18:
            raise _wrong(whole, "brackets hold numbers and ranges")
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first or last - first >= room:
            raise _wrong(whole, f"a range runs upwards over at most {MOST:,} numbers")
        numbers += [f"{number:0{len(found[1])}d}" for number in range(first, last + 1)]
    return numbers


def _wrong(text: str, rule: str) -> InputError:
    found = text if len(text) <= 60 else f"{text[:57]}..."
    return InputError(Problem(found=f'"{found}"', rule=rule, fix='for example "node[001-128]"'))


def compress(names: Iterable[str]) -> str:
    """Return names as a host list, runs of numbers of one width put together.

    >>> compress(["node01", "node02", "node03", "login", "node7"])
    'login,node7,node[01-03]'
    """
    numbers: dict[tuple[str, int], list[int]] = {}
    plain: list[str] = []
    for name in names:
        found = re.fullmatch(r"(.*?)([0-9]{1,18})", name)
        if found is None:
            plain.append(name)
        else:
            numbers.setdefault((found[1], len(found[2])), []).append(int(found[2]))
    parts = plain
    for (prefix, width), values in sorted(numbers.items()):
        runs = [
            f"{first:0{width}d}" if first == last else f"{first:0{width}d}-{last:0{width}d}"
            for first, last in _runs(sorted(set(values)))
        ]
        single = len(runs) == 1 and "-" not in runs[0]
        parts.append(prefix + (runs[0] if single else f"[{','.join(runs)}]"))
    return ",".join(parts)


def _runs(values: list[int]) -> Iterator[tuple[int, int]]:
    """Yield first and last of every run of consecutive numbers."""
    start = values[0]
    for one, following in zip(values, [*values[1:], None], strict=True):
        if following != one + 1:
            yield start, one
            start = following if following is not None else one
