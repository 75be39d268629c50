"""The common server of each chip, and how its chips reach each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from artery.catalog.chips import chip as chip_of
from artery.catalog.loader import entry
from artery.errors import InputError

SERVERS: Final[Mapping[str, str]] = {
    "v100": "dgx-1v", "v100-16g": "dgx-1v", "a100-40g": "dgx-a100", "a100-80g": "dgx-a100",
    "a800": "hgx-a800", "h100-sxm": "dgx-h100", "h800": "hgx-h800", "h200": "dgx-h200",
    "b200": "dgx-b200", "a100-80g-pcie": "pcie-a100", "l40s": "pcie-a100",
    "rtx5090": "rtx5090x8", "rtx3090": "rtx3090x2", "mi300x": "mi300x-8", "mi325x": "mi325x-8",
    "mi355x": "mi355x-8", "gb200": "gb200-nvl72", "gb300": "gb300-nvl72",
}  # fmt: skip
"""The common server of a chip; its network is replaced by what the facts say."""


def is_pcie_only(chip: str) -> bool:
    """Whether the chips of the common server of ``chip`` reach each other over PCIe alone."""
    base = SERVERS.get(chip)
    if base is None:
        return False
    return bool(entry("systems", base).values.get("node", {}).get("kind") == "pcie-tree")


def nvlinks_of(chip: str) -> float | None:
    """Return how many NVLinks ``chip`` has.

    ``None`` if the catalog does not know it, or its links to other chips are of another kind.
    """
    try:
        ports = chip_of(chip).ports
    except InputError:
        return None
    if {port.kind for port in ports} - {"nvlink", "pcie"}:
        return None
    return float(sum(port.count for port in ports if port.kind == "nvlink"))
