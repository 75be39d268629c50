"""What readers remark, said in another language: templates, kept in ``read_warnings.toml``.

Readers speak English, with figures and names in their lines. A template finds these and puts them
into the sentence of the other language.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Final

from artery.report.words import Language

_SLOT: Final = re.compile(r"\{(\d)\}")
_LONGEST: Final = 2000
"""Characters of a line that is looked at."""


def said(line: str, language: Language) -> str:
    """Return a remark in ``language``; as it is where no template knows it.

    >>> said("the log has 2 of 16 ranks", "zh")
    '日志只含 16 个 rank 中的 2 个'
    """
    if language == "en" or len(line) > _LONGEST:
        return line
    for pattern, template in _templates():
        found = pattern.fullmatch(line)
        if found is not None:
            return _SLOT.sub(lambda slot, found=found: found[f"s{slot[1]}"], template)  # type: ignore[misc]
    return line


@cache
def _templates() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return every template: how the English line looks, and the Chinese one."""
    text = (files("artery.report") / "read_warnings.toml").read_text("utf-8")
    return tuple((_pattern(one["en"]), one["zh"]) for one in tomllib.loads(text)["said"])


def _pattern(template: str) -> re.Pattern[str]:
    """Return a template as a pattern that is matched in one pass: a slot ends at the next text."""
    parts = _SLOT.split(template)
    texts, slots = parts[::2], parts[1::2]
    pattern = re.escape(texts[0])
    for index, slot in enumerate(slots):
        text = re.escape(texts[index + 1])
        last = index + 1 == len(slots)
        pattern += f"(?P<s{slot}>.*){text}" if last else f"(?>(?P<s{slot}>.*?){text})"
    return re.compile(pattern, re.DOTALL)
