"""The terminal: how a drawing gets onto standard output."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO
from typing import IO

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from artery.report.writing.files import printing, write_whole

_FILE_WIDTH = 100

_LEAST_WIDTH = 20
"""Assumed: narrower, even a number is cut; a terminal that says 0 does not know its width."""


def draw(
    drawing: RenderableType,
    *,
    file: IO[str] | None = None,
    width: int | None = None,
    least: int = 0,
) -> None:
    """Write ``drawing`` to ``file`` (standard output), ``width`` cells wide, at least ``least``.

    Never below 20 cells. Colour only on a terminal and never under ``NO_COLOR``; without a
    terminal the width is 80 unless ``COLUMNS`` says otherwise, and lines end where their text ends.
    """
    console = Console(file=file, width=width, highlight=False, emoji=False, markup=False)
    console.width = max(console.width, least, _LEAST_WIDTH)
    if console.is_terminal:
        console.print(drawing)
        return
    with console.capture() as captured:
        console.print(drawing)
    for line in captured.get().splitlines():
        console.file.write(line.rstrip() + "\n")


def deliver(drawing: RenderableType, out: str, *, least: int = 0) -> None:
    """Draw on standard output, or write the plain text to the file ``out`` (``-`` is stdout).

    A drawing that would be cut below ``least`` cells is never drawn narrower.
    """
    if out == "-":
        with printing():
            draw(drawing, least=least)
        return
    text = StringIO()
    draw(drawing, file=text, width=_FILE_WIDTH, least=least)
    write_whole(out, text.getvalue())


def indented(drawing: RenderableType, by: int = 2) -> Padding:
    """Return the drawing moved right by ``by`` cells."""
    return Padding(drawing, (0, 0, 0, by))


def labelled(label: str, lines: Iterable[RenderableType]) -> Table:
    """Return lines with a label in front of the first one."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for number, line in enumerate(lines):
        table.add_row(Text(label if number == 0 else ""), line)
    return table


def commands(label: str, lines: Iterable[str]) -> Table:
    """Return commands to type next; a long one is folded, never cut."""
    return labelled(label, (Text(line, style="cyan", overflow="fold") for line in lines))
