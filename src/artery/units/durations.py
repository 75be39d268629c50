"""Seconds of an hour and of a day, for whoever counts by them."""

from __future__ import annotations

from typing import Final

HOUR: Final = 3600.0
DAY: Final = 86400.0
