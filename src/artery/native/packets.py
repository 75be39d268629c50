"""The packet engine: packets, or segments, through real queues with finite buffers.

It plays the same work as the message engine, by the same rules for what a link and a switch do
(``artery.native.messages``), but every queue is there: a unit stands in the queue of a port until
the port sends it. So it can do what a message engine with endless buffers cannot:

- ``control="pause"``: priority flow control (IEEE 802.1Qbb). When more than ``xoff`` bytes of a
  class stand in the buffer at the far end of a link, the sender is told to stop that class, and
  to go on at ``xon``; word takes the link's latency, for which ``headroom`` is left. A stopped
  port stops everyone behind it, whoever they are for.
- ``control="credit"``: the sender has ``xoff`` bytes of credit per class and sends only what fits
  (InfiniBand architecture, credit-based flow control). Credit comes back with the link's latency.
- ``fair``: a queue per transfer instead of one per class (start-time fair queueing; Goyal, Vin
  and Cheng, SIGCOMM 1996). A transfer that is spread over paths has one place in line per hop,
  whichever way it goes.
- ``mark``: explicit congestion notification without delay or noise. A unit that meets more
  than ``mark`` bytes is marked; the sender halves its window at most once a window, else adds one.

With small units it is slow and close to the truth: the oracle of the message engine. With segments
as units it is the message engine with finite buffers (``artery.native.messages``). A buffer counts
a unit from its arrival to the start of its sending.
"""

from __future__ import annotations

from ctypes import Structure, byref, c_int64, c_void_p
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from artery.errors import UsageError
from artery.native import library
from artery.native.buffers import address
from artery.native.queues import twin
from artery.native.work import Longs, Marshalled, Played, Work, check

__all__ = ["Control", "Ports", "packets", "twin"]

Control = Literal["none", "pause", "credit"]

_CONTROLS: Final = ("none", "pause", "credit")


@dataclass(frozen=True, slots=True)
class Ports:
    """How ports and sources behave; sizes in bytes, ``window`` in units of ``unit`` bytes.

    ``packet`` is what a switch waits for before it passes on and ``least`` the units of a message,
    both as in the message engine. ``xoff``, ``xon`` and ``headroom`` are of every link, or arrays
    by link.
    """

    unit: int = 4096
    window: int = 128
    packet: int = 4096
    control: Control = "none"
    xoff: int | Longs = 0
    xon: int | Longs = 0
    headroom: int | Longs = 0
    fair: bool = False
    mark: int = 0
    least: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.unit < 2**31 or min(self.window, self.least) < 1:
            raise UsageError(f"ports: {self}, unit (to 2 GiB), window and least must be at least 1")
        if self.packet < 0 or self.mark < 0:
            raise UsageError(f"ports: {self}, none below 0")
        if self.control not in _CONTROLS:
            raise UsageError(f"control: {self.control!r}, must be one of {', '.join(_CONTROLS)}")
        if self.control == "pause" and not np.all((self.xon >= 0) & (self.xon <= self.xoff)):
            raise UsageError(f"xon: {self.xon} found, must be from 0 to xoff ({self.xoff})")
        if self.control == "credit" and np.any(self.xoff < self.unit):
            raise UsageError(f"xoff: {self.xoff} found, a buffer must hold a unit ({self.unit})")

    def buffers(self, links: int) -> tuple[Longs, Longs, Longs]:
        """Return ``xoff``, ``xon`` and ``headroom`` of each link."""
        given = (self.xoff, self.xon, self.headroom)
        for one in given:
            if np.ndim(one) and np.shape(one) != (links,):
                raise UsageError(f"buffers: {np.size(one)} entries, must be {links}")
        xoff, xon, headroom = (np.array(np.broadcast_to(one, links), np.int64) for one in given)
        return xoff, xon, headroom


class _Rules(Structure):
    """``struct rules`` of packets.c."""

    _fields_ = (
        *((name, c_int64) for name in ("unit", "least", "window", "packet")),
        *((name, c_int64) for name in ("control", "fair", "mark", "hops")),
        *((name, c_void_p) for name in ("xoff", "xon", "headroom")),
    )


def packets(work: Work, ports: Ports, *, times: bool = True) -> Played:
    """Return what happens when ``work`` is played through ``ports``, times in ps.

    ``queue`` is the most bytes that stood in each port's queue. With flow control a circle of
    links can lock up: what is in it stays unfinished.
    Raises ``UsageError`` where the arrays do not fit together.
    """
    check(work)
    loaded = library()
    if loaded is None:
        return twin(work, ports, times=times)
    marshalled = Marshalled(work, times=times)
    hops = int(np.diff(work.transfers.start).max(initial=0))
    buffers = ports.buffers(work.links.rate.size)
    rules = _Rules(
        ports.unit, ports.least, ports.window, ports.packet, _CONTROLS.index(ports.control),
        ports.fair, ports.mark, hops, *map(address, buffers),
    )  # fmt: skip
    if loaded.artery_packets(marshalled.reference, byref(rules)):
        raise MemoryError("the packet engine ran out of memory")
    return replace(marshalled.played(), idle=marshalled.idle)
