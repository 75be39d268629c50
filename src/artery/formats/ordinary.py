"""Files that may quote what a tool prints without being it: tables (CSV), programs, web pages.

A word in a cell, or in a string of a program, is no output. A log that was pasted into Markdown is
one: there the lines stand by themselves.
"""

from __future__ import annotations

import csv
import re
from io import StringIO
from typing import Final

from artery.formats.text import Text

LEAST_COLUMNS: Final = 3
LEAST_ROWS: Final = 2
"""Fewer columns or rows may be any text with a comma in it; assumed."""

LOOKED_AT: Final = 20
"""Rows below the header that must have its length."""

_NAME: Final = re.compile(r"[A-Za-z_][\w .()/%#*-]{0,60}")
_PROGRAM: Final = re.compile(
    r"(?:#[^\n]{0,200}\n|\s){0,200}"
    r"(?:[rR]?\"\"\"|from [\w.]{1,80} import |import [\w.]{1,80}(?: as \w{1,40})?\n"
    r"|#include [<\"]|<!doctype html|<html\b)",
    re.IGNORECASE,
)


def is_table(text: Text) -> bool:
    """Whether ``text`` is a table with commas: names of columns, and rows as long below them."""
    head = text.head
    if "," not in head.lstrip()[:2000].split("\n", 1)[0]:
        return False
    whole = len(text.content) <= len(head)
    rows: list[list[str]] = []
    try:
        for cells in csv.reader(StringIO(head)):
            if any(cell.strip() for cell in cells):
                rows.append(cells)
            if len(rows) > LOOKED_AT + 1:
                break
        else:
            rows = rows if whole else rows[:-1]
    except csv.Error:
        return False
    header = [cell.strip() for cell in rows[0]] if rows else []
    return (
        len(header) >= LEAST_COLUMNS
        and len(rows) > LEAST_ROWS
        and all(map(_NAME.fullmatch, header))
        and all(len(cells) == len(header) for cells in rows)
    )


def is_program(text: Text) -> bool:
    """Whether ``text`` begins as a program in Python or C does, or a web page."""
    return _PROGRAM.match(text.head) is not None
