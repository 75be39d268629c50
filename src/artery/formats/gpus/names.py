"""Product names of accelerators as drivers print them, and the catalog's names for them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_PRODUCTS: Final = (
    (r"gb300", "gb300"),
    (r"gb200", "gb200"),
    (r"\bb300\b", "b300"),
    (r"\bb200\b", "b200"),
    (r"gh200.*144", "gh200-144g"),
    (r"gh200", "gh200-96g"),
    (r"\bh200\b", "h200"),
    (r"\bh100\b.*(?:pcie|nvl)", "h100-pcie"),
    (r"\bh100\b", "h100-sxm"),
    (r"\bh800\b", "h800"),
    (r"\bh20\b", "h20"),
    (r"\ba800\b", "a800"),
    (r"\ba100.*pcie", "a100-80g-pcie"),
    (r"\ba100.*80", "a100-80g"),
    (r"\ba100", "a100-40g"),
    (r"\bv100.*16", "v100-16g"),
    (r"\bv100", "v100"),
    (r"\bp100", "p100"),
    (r"\bt4\b", "t4"),
    (r"\bl40s\b", "l40s"),
    (r"\bl4\b", "l4"),
    (r"rtx ?5090", "rtx5090"),
    (r"rtx ?4090", "rtx4090"),
    (r"rtx ?3090", "rtx3090"),
    (r"mi355x", "mi355x"),
    (r"mi325x", "mi325x"),
    (r"mi300x", "mi300x"),
    (r"mi250", "mi250x"),
)

_ON_LINE: Final = re.compile(
    r"GPU \d{1,3}: ([^(\n]{2,80}?) \(UUID|Product Name\s{0,40}:\s{0,4}(NVIDIA [^\n]{2,60})"
    r"|Card (?:series|Series|model):\s{0,40}([^\n]{2,60})"
)


def chip_of(name: str) -> str | None:
    """Return the catalog's name of the product ``name``; ``None`` if it is not in the catalog.

    >>> chip_of("NVIDIA H100 80GB HBM3"), chip_of("A100-SXM4-40GB"), chip_of("Radeon RX Vega 64")
    ('h100-sxm', 'a100-40g', None)
    """
    folded = name.casefold()[:200].replace("_", " ").replace("-", " ")
    return next((chip for pattern, chip in _PRODUCTS if re.search(pattern, folded)), None)


def products_in(text: str) -> list[str]:
    """Return the product names that ``nvidia-smi -L``, ``-q`` or ``rocm-smi`` lines give."""
    found = (next(filter(None, match.groups())).strip() for match in _ON_LINE.finditer(text))
    return list(dict.fromkeys(found))


def one_chip(products: Iterable[str]) -> str | None:
    """Return the catalog's name if all ``products`` are one and the same chip."""
    chips = {chip_of(product) for product in products}
    return chips.pop() if len(chips) == 1 else None
