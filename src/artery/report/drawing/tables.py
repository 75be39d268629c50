"""Tables: a small one without rules under a bold title, and what an empty cell says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery.report.drawing.terminal import indented

NOTHING: Final = "–"
"""What a cell says where there is no figure."""


def titled(title: str, rows: Iterable[Sequence[str]], numbers: int) -> RenderableType:
    """Return ``rows`` below ``title``; the last ``numbers`` columns are numbers."""
    cells = [list(row) for row in rows]
    table = Table.grid(padding=(0, 2))
    width = max(len(row) for row in cells)
    for column in range(width):
        right = column >= width - numbers
        table.add_column(justify="right" if right else "left", no_wrap=right, overflow="fold")
    for row in cells:
        table.add_row(*row)
    return Group(Text(title, style="bold"), indented(table))
