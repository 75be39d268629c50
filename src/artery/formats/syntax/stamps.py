"""The time that a line of a log carries, in seconds since 1970.

ISO dates (``2026-03-03 09:00:01,250``, ``2026-03-03T09:00:01Z``), those of torchrun's error files
(``2026-03-03_09:00:01``) and glog's (``I0303 09:00:01.250000``, without a year). A stamp without a
zone is taken as UTC: the lengths are right, and files of one machine agree.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Final

_ISO: Final = re.compile(
    r"(?<!\d)(\d{4})-(\d\d)-(\d\d)[T _](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?"
    r"(Z|[+-]\d\d:?\d\d)?(?!\d)"
)
_GLOG: Final = re.compile(r"\b[IWEFV](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{3,6})\b")

EARLIEST: Final = 946_684_800.0
LATEST: Final = 4_102_444_800.0
"""The years 2000 and 2100: no run is older, or later (assumed). A clock that was never set says
1970."""

_WITHIN: Final = 400
"""A stamp stands near the beginning of a line, behind a rank's prefix at most."""


def year(content: str) -> int:
    """Return the year of the first whole date in ``content``; 1970 if there is none."""
    found = _ISO.search(content[:1_000_000])
    return int(found[1]) if found else 1970


def zoned(content: str) -> bool:
    """Return whether the first whole date in ``content`` names its zone; glog's never do."""
    found = _ISO.search(content[:1_000_000])
    return bool(found and found[8])


def stamp(line: str, of_year: int) -> float | None:
    """Return the time of ``line``; ``of_year`` is taken where the stamp has no year."""
    if found := _ISO.search(line, 0, _WITHIN):
        at, fraction = _seconds(*found.group(1, 2, 3, 4, 5, 6, 8)), found[7]
    elif found := _GLOG.search(line, 0, _WITHIN):
        at, fraction = _seconds(str(of_year), *found.group(1, 2, 3, 4, 5), None), found[6]
    else:
        return None
    if at is None or not fraction:
        return at
    return at + float(f"0.{fraction}")


@lru_cache(maxsize=4096)
def _seconds(*words: str | None) -> float | None:
    """Seconds since 1970 of year to second and zone; many lines of a log carry the same."""
    *parts, zone = words
    try:
        year, month, day, hour, minute, second = (int(part or 0) for part in parts)
        at = datetime(year, month, day, hour, minute, second, tzinfo=_zone(zone))
        return at.timestamp()
    except (ValueError, OverflowError):
        return None


def _zone(text: str | None) -> timezone:
    if not text or text == "Z":
        return UTC
    hours, minutes = int(text[1:3]), int(text[-2:])
    return timezone((1 if text[0] == "+" else -1) * timedelta(hours=hours, minutes=minutes))
