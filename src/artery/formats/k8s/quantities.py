"""Kubernetes' quantities: ``190``, ``1k``, ``2113407200Ki``, ``1500m``."""

from __future__ import annotations

import re
from typing import Final

from artery.formats.syntax.numerals import number

_QUANTITY: Final = re.compile(r"(\d{1,20}(?:\.\d{1,9})?(?:[eE][+-]?\d{1,2})?)(m|[kMGTPE]i?|Ki)?")
_FACTORS: Final = {
    "": 1.0, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
    "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60,
}  # fmt: skip


def quantity(value: object) -> float | None:
    """Return a quantity as a number; ``None`` if it is none.

    >>> quantity("2Ki"), quantity("1500m"), quantity(8)
    (2048.0, 1.5, 8.0)
    """
    if not isinstance(value, str):
        return number(value)
    found = _QUANTITY.fullmatch(value.strip())
    amount = number(found[1]) if found else None
    # number() again: a large amount of a large unit is no finite number
    return None if found is None or amount is None else number(amount * _FACTORS[found[2] or ""])
