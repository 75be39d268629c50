"""Chips as people call them: often without the variant, which the catalog needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from artery.formats.gpus.names import chip_of

_VARIANTS: Final[Mapping[str, Mapping[str, str]]] = {
    "a100": {"a100-80g": "sxm 80", "a100-40g": "sxm 40", "a100-80g-pcie": "pcie 80"},
    "h100": {"h100-sxm": "sxm 80", "h100-pcie": "pcie 80"},
    "gh200": {"gh200-96g": "96", "gh200-144g": "144"},
    "v100": {"v100": "sxm 32", "v100-16g": "sxm 16"},
}
"""What is sold under one name: the catalog's names, the usual one first, and what tells them apart.
The first of each is what the catalog takes the bare name for."""

_FORMS: Final[Mapping[str, str]] = {
    "sxm": "sxm", "hbm3": "sxm", "hgx": "sxm", "dgx": "sxm", "pcie": "pcie", "nvl": "pcie",
}  # fmt: skip
"""Words of a product name that tell its form; a driver calls the SXM version of H100 "HBM3"."""


def variants(name: str) -> tuple[str, ...]:
    """Return the chips of the catalog that ``name`` may mean, the usual one first.

    One alone where the name says its variant; none where it is not in the catalog.

    >>> variants("A100"), variants("H100 PCIe"), variants("A100 40GB"), variants("Radeon")
    (('a100-80g', 'a100-40g', 'a100-80g-pcie'), ('h100-pcie',), ('a100-40g',), ())
    """
    found = chip_of(name)
    if found is None:
        return ()
    family = next((known for known, each in _VARIANTS.items() if found in each), None)
    if family is None or (found == name.casefold() != family):
        return (found,)
    folded = name.casefold()[:200]
    forms = {form for word, form in _FORMS.items() if word in folded}
    memory = set(re.findall(r"(?<![a-z\d])(\d{2,3}) ?gi?b?\b", folded))
    able = _able(family, forms | memory)
    if able:
        return able
    near = _able(family, forms)  # of another memory than any that the catalog has
    return (*near, *(one for one in _VARIANTS[family] if one not in near))


def _able(family: str, told: set[str]) -> tuple[str, ...]:
    """Return the variants that have all the marks that were told."""
    return tuple(chip for chip, marks in _VARIANTS[family].items() if told <= set(marks.split()))
