"""Rows under names as a file's text: CSV, or JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any


def rows_text(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, as_json: bool) -> str:
    """Return ``rows`` under ``columns``: a line each, or a JSON list of one object each."""
    if as_json:
        return json.dumps([dict(zip(columns, row, strict=True)) for row in rows], indent=1)
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()
