"""The texts of help pages in Chinese: ``help/COMMAND.toml`` has those of one file of ``cli/``.

What stands in the files of several commands is in ``shared.toml``; ``options.toml`` and
``flags.toml`` are those of ``cli/options.py`` and ``cli/flags.py``, ``page.toml`` holds headings.
Tables are found by the English text, whatever its line breaks; a command line stays as it is.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from artery.report.said import verbatim

COMMON: Final = ("shared", "flags", "options", "page")
"""The tables of every page, beside that of its command."""

_EXTRA: Final = re.compile(r"(?P<help>.*?)(?:^|  )\[(?P<extra>[^\[\]]*)\]$", re.DOTALL)
"""What the library of the command line adds to the help of a flag: ``[default: 1; x>=1]``."""
_WORD: Final = re.compile("[A-Z]{2,}")
_CELLS: Final = re.compile(r"(?P<before>\s*(?:\S+\s{2,})?)(?P<text>.*)")
"""A line that is not wrapped: its indent, a name with spaces behind it, and a text."""


@cache
def texts(command: str) -> dict[str, str]:
    """Return every text of the page of ``command``, as in ``plan``, by its English.

    >>> texts("plan")["Pipeline stages."]
    '流水线阶段数。'
    """
    found: dict[str, str] = {}
    for table in (*reversed(COMMON), command):
        found |= verbatim(f"help/{table}")
    return found


def told(english: str, command: str) -> str:
    """Return one text of a page in Chinese; what no table knows stays.

    >>> told("Pipeline   stages.", "plan")
    '流水线阶段数。'
    """
    flat = " ".join(english.split())
    return texts(command).get(flat, flat)


def told_lines(block: str, command: str) -> str:
    r"""Return lines that keep their breaks, each in Chinese.

    >>> told_lines("Examples:\n  artery plan gpt2 --on dgx-1v", "plan")
    '示例：\n  artery plan gpt2 --on dgx-1v'
    """
    return "\n".join(_told_line(line, command) for line in block.splitlines())


def _told_line(line: str, command: str) -> str:
    whole = texts(command).get(line.strip())
    if whole is not None:
        return line.replace(line.strip(), whole)
    cells = _CELLS.fullmatch(line)
    if cells is None:
        return line
    return cells["before"] + texts(command).get(cells["text"], cells["text"])


def told_help(english: str, command: str) -> str:
    """Return the help of a flag in Chinese, with what is added behind it.

    >>> told_help("Pipeline stages.  [default: 8; x>=1; required]", "plan")
    '流水线阶段数。  [默认：8；x>=1；必填]'
    """
    parts = _EXTRA.fullmatch(english)
    if parts is None:
        return told(english, command)
    extra = "；".join(_told_extra(one) for one in parts["extra"].split("; "))
    return f"{told(parts['help'], command)}  [{extra}]".lstrip()


def _told_extra(extra: str) -> str:
    name, colon, value = extra.partition(": ")
    word = told(name, "page")
    return f"{word}：{value}" if colon else word


def told_metavar(metavar: str) -> str:
    """Return what stands for a value in Chinese; what is typed as it stands is not changed.

    >>> told_metavar("packed|random|FILE"), told_metavar("INTEGER RANGE"), told_metavar("N")
    ('packed|random|文件', '整数', 'N')
    """
    words = verbatim("metavars")
    if metavar in words:
        return words[metavar]
    return _WORD.sub(lambda word: words.get(word[0], word[0]), metavar)
