"""NVL72: a rack of 18 trays of four chips in one NVLink domain, two processors to a tray."""

from __future__ import annotations

from artery.core.link import Link
from artery.node.nvswitch import nvswitch
from artery.node.pcie_tree import Host
from artery.node.scale_up import ScaleUp

TRAYS = 18
CHIPS_PER_TRAY = 4
SWITCHES = 18
"""NVSwitch chips of the rack: nine switch trays of two; each chip has one link to each of them
(NVIDIA GB200 NVL72 description, 2024)."""


def nvl72(nvlink: Link, latency: float, host: Host | None = None, trays: int = TRAYS) -> ScaleUp:
    """Return the rack as one domain; the switches add (NVLink SHARP), and a tray is a node.

    ``nvlink`` is all 18 links of a chip together, ``latency`` one way in seconds;
    ``trays`` are those of the rack that the job uses.
    """
    return nvswitch(
        CHIPS_PER_TRAY * trays,
        nvlink,
        latency,
        switches=SWITCHES,
        nodes=trays,
        reduction="nvls",
        host=host,
    )
