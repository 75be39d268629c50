"""The inner loops: arrays in, arrays out, no nouns.

Each engine is one file of plain C and a Python twin that gives the same numbers to the last bit.
The C is compiled at installation if there is a compiler; ``ARTERY_NATIVE=0`` forces the twins.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ctypes import CDLL

SWITCH: Final = "ARTERY_NATIVE"
FOLDER: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Core:
    """What runs the loops: the compiled ``library``, or the twins (``None``) and why."""

    library: CDLL | None
    detail: str


def core() -> Core:
    """Return what runs the loops here."""
    if os.environ.get(SWITCH) == "0":
        return Core(None, f"Python twins, as {SWITCH}=0 asks")
    return _loaded(FOLDER)


def library() -> CDLL | None:
    """Return the compiled library, or ``None`` where the twins are to be used."""
    return core().library


@cache
def _loaded(folder: Path) -> Core:
    """Load the library from ``folder``, unless it is missing, broken or older than its sources."""
    from ctypes import CDLL, c_char_p

    found = sorted(path for path in folder.glob("_core*") if path.suffix in {".so", ".pyd"})
    if not found:
        return Core(None, "Python twins, the C loops are not compiled")
    try:
        loaded = CDLL(str(found[0]))
        loaded.artery_digest.restype = c_char_p
        stamp = bytes(loaded.artery_digest()).decode()
    except (OSError, AttributeError) as error:
        return Core(None, f"Python twins, {found[0].name} does not load: {error}")
    if stamp != (_digest(folder) or stamp):
        return Core(None, f"Python twins, {found[0].name} is older than its sources: install again")
    return Core(loaded, str(found[0]))


def _digest(folder: Path) -> str | None:
    """Return the digest of the sources that lie beside the library, as setup.py makes it."""
    sources = [*sorted(folder.glob("*.c")), *sorted(folder.glob("*.h"))]
    if not sources:
        return None
    import hashlib

    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
