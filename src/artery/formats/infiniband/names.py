"""Whose card a name of an InfiniBand subnet is: ``host card``, or one that nobody named."""

from __future__ import annotations

import re
from typing import Final

from artery.core.cabling import Device, End

AGGREGATION: Final = "Aggregation Node"
"""In the name of SHARP's nodes, which live inside switches and are no hosts."""

_NO_NAME: Final = re.compile(
    r"mellanox|nvidia|connectx|infinihost|mt\d{4}|unnamed|hca-\d", re.IGNORECASE
)


def card_of(name: str, guid: str) -> tuple[Device, End] | None:
    """Return the host of a card and the card's end, without a port; ``None`` for SHARP's nodes.

    Cards without a name of their own are hosts of their own, by their ``guid``.
    """
    if AGGREGATION in name:
        return None
    host, _, card = name.strip().partition(" ")
    if not host or _NO_NAME.search(host):
        return Device(guid, name or guid, "host", named=False), End(guid, card=guid)
    return Device(host, host, "host"), End(host, card=card.strip() or guid)
