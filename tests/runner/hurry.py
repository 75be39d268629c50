"""How a test tells its training that nothing more has to happen between two steps."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

HURRY: Final = "ARTERY_TEST_HURRY"
"""The variable that names a file or folder: once it is there, steps are not held up any more."""


def hurries() -> bool:
    """Return whether steps are not held up, or not any more."""
    place = os.environ.get(HURRY)
    return place is not None and Path(place).exists()
