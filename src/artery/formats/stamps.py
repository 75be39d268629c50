"""The time that a line of a log carries, in seconds since 1970.

ISO dates (``2026-03-03 09:00:01,250``, ``2026-03-03T09:00:01Z``), those of torchrun's error files
(``2026-03-03_09:00:01``) and glog's (``I0303 09:00:01.250000``, without a year). A stamp without a
zone is taken as UTC: the lengths are right, and files of one machine agree.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

_ISO: Final = re.compile(
    r"(?<!\d)(\d{4})-(\d\d)-(\d\d)[T _](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?"
    r"(Z|[+-]\d\d:?\d\d)?(?!\d)"
)
_GLOG: Final = re.compile(r"\b[IWEFV](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{3,6})\b")

_WITHIN: Final = 400
"""A stamp stands near the beginning of a line, behind a rank's prefix at most."""


def year(content: str) -> int:
    """Return the year of the first whole date in ``content``; 1970 if there is none."""
    found = _ISO.search(content[:1_000_000])
    return int(found[1]) if found else 1970


def stamp(line: str, of_year: int) -> float | None:
    """Return the time of ``line``; ``of_year`` is taken where the stamp has no year."""
    head = line[:_WITHIN]
    if found := _ISO.search(head):
        parts, fraction, zone = [int(part) for part in found.groups()[:6]], found[7], found[8]
    elif found := _GLOG.search(head):
        parts, fraction, zone = [of_year, *(int(p) for p in found.groups()[:5])], found[6], None
    else:
        return None
    return _seconds(parts, fraction, zone)


def _seconds(parts: list[int], fraction: str | None, zone: str | None) -> float | None:
    try:
        at = datetime(*parts[:6], tzinfo=_zone(zone))  # type: ignore[misc, arg-type]
        return at.timestamp() + (float(f"0.{fraction}") if fraction else 0.0)
    except (ValueError, OverflowError):
        return None


def _zone(text: str | None) -> timezone:
    if not text or text == "Z":
        return UTC
    hours, minutes = int(text[1:3]), int(text[-2:])
    return timezone((1 if text[0] == "+" else -1) * timedelta(hours=hours, minutes=minutes))
