"""A help page in Chinese: the library writes it in English, its texts are looked up and laid out.

The library counts characters; a Chinese one is two columns wide and a line may end behind it, so
that columns and lines are laid out here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import click

from artery.report.said import columns, pages

_LONGEST_FLAG: Final = 30
_BETWEEN: Final = 2
_UNWRAPPED: Final = "\b"
_PARAGRAPHS: Final = re.compile(r"\n[ \t]*\n")
_FLAG: Final = re.compile(r"(?P<names>(?:(?:-\S+|/)(?: |$))+)(?P<takes>.*)")
"""``-o, --out FILE`` and ``--warm / --cold``: the names of a flag, and what it takes."""


class ChinesePage(click.HelpFormatter):
    """What a page of ``command`` is written into, in English, and read out of, in Chinese."""

    def __init__(
        self, command: str, *, width: int | None = None, max_width: int | None = None
    ) -> None:
        super().__init__(width=width, max_width=max_width)
        self._command = command

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write how the command is called."""
        word = pages.told(prefix or "Usage:", self._command)
        start = f"{'':>{self.current_indent}}{word}{prog} "
        indent = columns.width(start)
        metavars = " ".join(pages.told_metavar(one) for one in args.split())
        lines = columns.wrapped(metavars, self.width - indent) or [""]
        self._lines([(start + lines[0]).rstrip(), *(" " * indent + line for line in lines[1:])])

    def write_heading(self, heading: str) -> None:
        """Write the heading of a section."""
        self._lines([f"{'':>{self.current_indent}}{pages.told(heading, self._command)}："])

    def write_text(self, text: str) -> None:
        """Write paragraphs; lines behind a mark of the library keep their breaks."""
        told = [self._paragraph(one) for one in _PARAGRAPHS.split(text.strip(" \n"))]
        self.write("\n\n".join("\n".join(self._indented(lines)) for lines in told) + "\n")

    def _paragraph(self, text: str) -> list[str]:
        kept, mark, block = text.partition(_UNWRAPPED)
        if mark and not kept.strip():
            return pages.told_lines(block.strip("\n"), self._command).splitlines()
        told = pages.told(text, self._command)
        return columns.wrapped(told, self.width - self.current_indent)

    def write_dl(
        self,
        rows: Iterable[tuple[str, str]],
        col_max: int = _LONGEST_FLAG,
        col_spacing: int = _BETWEEN,
    ) -> None:
        """Write flags or commands, each with its help in a second column."""
        told = [(_flag(first), pages.told_help(second, self._command)) for first, second in rows]
        first_column = min(max(columns.width(flag) for flag, _ in told), col_max) + col_spacing
        left = max(self.width - self.current_indent - first_column, 10)
        for flag, text in told:
            lines = columns.wrapped(text, left)
            fits = columns.width(flag) <= first_column - col_spacing
            first, *rest = lines if fits and lines else ["", *lines]
            begun = (columns.padded(flag, first_column) + first).rstrip()
            self._lines(self._indented([begun, *(" " * first_column + line for line in rest)]))

    def _indented(self, lines: Iterable[str]) -> list[str]:
        return [f"{'':>{self.current_indent}}{line}" for line in lines]

    def _lines(self, lines: Iterable[str]) -> None:
        self.write("".join(f"{line}\n" for line in lines))


def _flag(spelled: str) -> str:
    """Return the names of a flag with what it takes in Chinese; a command's name stays."""
    parts = _FLAG.fullmatch(spelled)
    return parts["names"] + pages.told_metavar(parts["takes"]) if parts else spelled
