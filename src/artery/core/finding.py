"""``Finding``: something that is wrong, or worth knowing, with what shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault. ``cause`` is a stable key that a renderer has the words and the fix for.

    ``where`` names the parts it is about, ``figures`` fill the words, and ``evidence`` are lines
    taken from what was read, most telling first.
    """

    cause: str
    severity: Severity
    where: tuple[str, ...] = ()
    figures: Mapping[str, int | float | str] = field(default_factory=dict)
    evidence: tuple[str, ...] = ()
