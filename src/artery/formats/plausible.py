"""Numbers that no machine has: said, so that nobody works with them.

Files are damaged, edited and mis-scaled. What a reader takes from them stands in the fields with
the unit in its name, so that one look over all fields finds what cannot be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

LARGEST: Final = {
    "bytes_per_s": 1e16,
    "flop_per_s": 1e22,
    "per_s": 1e18,
    "_flops": 1e22,
    "_hz": 1e12,
    "_bytes": 1e20,
    "_w": 1e10,
    "_s": 1e11,
    "parameters": 1e16,
    "tokens": 1e19,
}
"""By the end of a name: more than any such thing built or announced; assumed. Seconds reach from
the year 1970 over three thousand years."""

AMOUNTS: Final = frozenset(
    {"bytes_per_s", "flop_per_s", "_flops", "_hz", "_bytes", "parameters", "tokens"}
)
"""Below nothing there is none of these."""

SHOWN: Final = 3
"""Numbers that are told one by one."""

MOST: Final = 200_000
"""Fields that are looked at; a long table is alike all the way down."""

_NO_NUMBER: Final = re.compile(r"(?i)(?:\d{1,9}:)?[+-]?(?:nan|inf|infinity)(?::\d{1,9})?")


def implausible(fields: Mapping[str, Any]) -> list[str]:
    """Return a line for each number in ``fields`` that cannot be, and for each that is none."""
    found = list(_strange(fields))
    lines = [f"{path} is {said}: no such thing; the line is damaged" for path, said in found]
    if len(lines) > SHOWN:
        lines[SHOWN:] = [f"{len(lines) - SHOWN} more numbers that cannot be"]
    return lines


def cut_lists(fields: Mapping[str, Any]) -> list[str]:
    """Return a line for each list or table in ``fields`` that holds fewer than there are.

    Beside ``jobs`` stands in ``job_count`` how many the file has.
    """
    lines = []
    for name, value in fields.items():
        count = fields.get(f"{name[:-1]}_count")
        if not isinstance(value, (list, Mapping)) or not isinstance(count, int):
            continue
        if count > len(value):
            lines.append(
                f"the first {len(value):,} of {count:,} {name} are listed; sums are of all"
            )
    return lines


def _strange(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield path and value of what cannot be, in the order of the file."""
    left = MOST
    stack: list[tuple[str, Any]] = [("", fields)]
    while stack and left:
        left -= 1
        path, value = stack.pop()
        if isinstance(value, Mapping):
            inner = [(f"{path}.{key}" if path else str(key), one) for key, one in value.items()]
            # What a reader lists first again as tables, is told once.
            stack += reversed(inner if "tables" not in value else
                              [pair for pair in inner if pair[0].endswith("tables")])  # fmt: skip
        elif isinstance(value, (list, tuple)):
            stack += reversed([(f"{path}[{index}]", one) for index, one in enumerate(value)])
        elif isinstance(value, str):
            if len(value) < 24 and _NO_NUMBER.fullmatch(value.strip()):
                yield path, f'"{value.strip()}"'
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield from _large(path, float(value) if abs(value) < 10**300 else float("inf"))


def _large(path: str, value: float) -> Iterator[tuple[str, str]]:
    name = path.rpartition(".")[2].partition("[")[0]
    for end, most in LARGEST.items():
        if name.endswith(end):
            if abs(value) > most or (value < 0 and end in AMOUNTS):
                yield path, f"{value:.3g}"
            return
