"""Fixtures of foreign files, one folder for each format, and how tests read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from artery.formats.reading import Reading
from artery.formats.recognise import read

FIXTURES = Path(__file__).parents[1] / "fixtures"


def reading(name: str) -> Reading:
    """Return the reading of a fixture, its format found by its content."""
    found = read(str(FIXTURES / name))
    assert found.format == Path(name).parent.name
    assert 1 <= len(found.summary) <= 5
    return found


def fields(name: str) -> Any:
    return reading(name).fields


def warned(found: Reading, words: str) -> bool:
    return any(words in warning for warning in found.warnings)
