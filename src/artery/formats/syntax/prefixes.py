"""What launchers and schedulers put before every line of a program, taken off."""

from __future__ import annotations

import re
from typing import Final

_PREFIX: Final = re.compile(
    r"\s*(?:"
    r"\[\d{1,7},\d{1,7}\]<std(?:out|err|diag)>:"  # mpirun --tag-output
    r"|\[(?:rank)?\d{1,7}\](?:<std\w{3}>)?:?(?=\s|\[|#|$)"  # a rank in brackets
    r"|\d{1,7}:(?=[ \t#]|$)"  # srun --label
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\s"  # time stamps
    r"|(?:[\w.-]{1,64}-\d{1,5}|[\w.-]{1,64}) \| "  # container logs: name | text
    r")"
)
_INJECTED: Final = re.compile(r"\[\d{1,7}(?:,\d{1,7})?\](?:<std\w{3}>:?)?")

MOST: Final = 4
"""Assumed: more prefixes than any chain of launchers puts before a line."""


def bare(line: str) -> str:
    """Return ``line`` without the prefixes of ``mpirun``, ``srun --label``, time stamps.

    >>> bare("2026-01-31T10:00:00.5Z [1,0]<stdout>:#  size")
    '#  size'
    >>> bare("12: # Avg bus bandwidth")
    ' # Avg bus bandwidth'
    """
    for _ in range(MOST):
        found = _PREFIX.match(line)
        if found is None or not found.end():
            break
        line = line[found.end() :]
    return line


def untagged(line: str) -> str:
    """Return ``line`` with rank tags replaced by blanks wherever a launcher dropped them.

    >>> untagged("[0]   8   2   float[0]  9.8")
    '    8   2   float   9.8'
    """
    return _INJECTED.sub(" ", line)
