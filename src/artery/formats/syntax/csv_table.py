"""CSV with a header, read into rows by column name, cut rows noted."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from io import StringIO

from artery.errors import InputError, Problem, Problems
from artery.formats.text import Text


def header_of(text: Text) -> list[str]:
    """Return the column names on the first line that says something, in lower case."""
    first = next((line for line in text.head.split("\n")[:50] if line.strip()), "")
    return [name.strip().strip('"').casefold() for name in first.split(",")]


def has_columns(text: Text, *needed: str) -> bool:
    """Whether the header has all of ``needed``."""
    return set(needed) <= set(header_of(text))


def refuse_twice(path: str, line: int, names: Sequence[str]) -> None:
    """Raise ``InputError`` if a column is named twice: which one counts nobody can tell."""
    with Problems() as problems:
        for name, count in Counter(name for name in names if name).items():
            if count > 1:
                problems.add(
                    Problem(
                        file=path, line=line, field=name, found=f"{count} columns of that name",
                        rule="a column has a name of its own", fix="take out or rename the others",
                    )
                )  # fmt: skip


def rows_of(text: Text, strange: list[int]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line numbers and rows; the numbers of rows of another length go to ``strange``.

    Raises ``InputError`` for what is no CSV.
    """
    names: Collection[str] = ()
    reader = csv.reader(StringIO(text.content))
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if not names:
                names = [name.strip().casefold() for name in cells]
                refuse_twice(text.path, reader.line_num, names)
            elif len(cells) != len(names):
                strange.append(reader.line_num)
            else:
                # A damaged header may name a column that the rows then lack: that is empty.
                found = zip(names, map(str.strip, cells), strict=True)
                yield reader.line_num, defaultdict(str, found)
    except csv.Error as error:
        raise InputError(
            Problem(
                file=text.path, line=reader.line_num, found=str(error), rule="must be CSV",
                fix="mend the line",
            )
        ) from None  # fmt: skip
