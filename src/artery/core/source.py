"""Where a value comes from: every number in the catalog carries one of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Confidence = Literal["datasheet", "measured", "recalled", "assumed"]


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of one value.

    ``text`` names the document, ``as_of`` is its date (``YYYY`` or ``YYYY-MM``)
    and ``confidence`` says how far to trust it, from ``datasheet`` to ``assumed``.
    """

    text: str
    as_of: str
    confidence: Confidence


Provenance = Mapping[str, Source]
"""Source by dotted field path, for example ``{"peaks.bf16": Source(...)}``."""
