"""Names as people write them: ``nvls_tree``, ``NVLSTree`` and ``nvls-tree`` alike."""

from __future__ import annotations

from collections.abc import Iterable


def spelled(name: str, known: Iterable[str]) -> str | None:
    """Return the one of ``known`` that ``name`` spells, case, hyphens and underscores aside."""
    letters = _letters(name)
    return next((one for one in known if _letters(one) == letters), None)


def _letters(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
