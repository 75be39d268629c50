"""Bars of a breakdown, in four colours that mean the same wherever artery draws.

The colours are Okabe and Ito's colour-blind-safe set (Color Universal Design, 2008): blue
computes, orange communicates, green moves memory, grey waits. Every bar has its name and its
figures beside it, so nothing is said by colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rich.table import Table
from rich.text import Text

Group = Literal["compute", "comm", "memory", "wait"]

COLOURS: Final[dict[Group, str]] = {
    "compute": "#0072B2",
    "comm": "#E69F00",
    "memory": "#009E73",
    "wait": "#999999",
}

GROUPS: Final[dict[str, Group]] = {
    "compute": "compute",
    "memory_bound": "memory",
    "tp": "comm",
    "pp": "comm",
    "cp": "comm",
    "ep": "comm",
    "dp": "comm",
    "bubble": "wait",
    "optimizer": "memory",
    "host": "wait",
    "straggler": "wait",
    "other": "wait",
}
"""The group of each part of a step."""

_EIGHTHS: Final = " ▏▎▍▌▋▊▉"


@dataclass(frozen=True, slots=True)
class Bar:
    """One line: a name, a share of the whole (0 to 1), a figure and the colour's group."""

    name: str
    share: float
    figure: str
    group: Group


def bar(length: float) -> str:
    """Return a bar of ``length`` cells, to an eighth of a cell.

    >>> bar(2.5)
    '██▌'
    """
    eighths = round(length * 8)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def bars(lines: Sequence[Bar], width: int = 28) -> Table:
    """Return the lines as a table; the longest bar is ``width`` cells long."""
    longest = max((line.share for line in lines), default=0.0) or 1.0
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, width=width)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for line in lines:
        drawn = Text(bar(width * line.share / longest), style=COLOURS[line.group])
        table.add_row(Text(line.name), drawn, f"{100 * line.share:.1f} %", line.figure)
    return table
