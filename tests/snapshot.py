"""Whole renderings, kept as text files that a person has read.

``ARTERY_WRITE_SNAPSHOTS=1`` writes them anew; read the difference before committing it.
"""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "snapshots"


def check(name: str, text: str) -> None:
    """Fail unless ``text`` is what the file ``snapshots/name`` holds."""
    path = FOLDER / name
    if os.environ.get("ARTERY_WRITE_SNAPSHOTS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"no snapshot {name}: ARTERY_WRITE_SNAPSHOTS=1 writes it"
    assert text == path.read_text(encoding="utf-8")
