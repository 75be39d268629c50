"""Through which interface a rank is reached by the others."""

from __future__ import annotations

import os
import socket
import struct
import sys
from typing import Final

VARIABLE: Final = "GLOO_SOCKET_IFNAME"
"""Where gloo looks for the interface; what a user has set there stays."""

_SIOCGIFADDR: Final = 0x8915
"""Linux' request for the IPv4 address of an interface (``linux/sockios.h``)."""


def be_reached_at(address: str) -> None:
    """Have gloo use the interface that has ``address``; none is chosen if none here has it."""
    interface = interface_of(address)
    if interface:
        os.environ[VARIABLE] = interface


def interface_of(address: str) -> str:
    """Return the interface of this machine with an IPv4 address, empty if there is none.

    >>> interface_of("192.0.2.1")
    ''
    """
    if sys.platform != "linux":
        return ""
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(end, _SIOCGIFADDR, struct.pack("256s", name.encode()))
            except OSError:
                continue  # it has no address
            if socket.inet_ntoa(answer[20:24]) == address:
                return name
    return ""
