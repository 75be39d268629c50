"""Strings with units, at the doors; SI floats inside.

:func:`parse` reads ``"400 Gb/s"``, ``"80 GiB"`` or ``"1.2us"`` into s, B, B/s, FLOP, FLOP/s, J,
W, USD, m, J/bit or a plain ratio; :func:`size` and :func:`count` read message sizes and token
counts; the ``show_`` functions write values back for people.

Three mix-ups are ruled out here. *Bits and bytes*: ``Gb/s``, ``Gbit/s`` and ``Gbps`` are divided
by 8, ``GB/s`` is not. *Decimal and binary*: ``GB`` is 10⁹ bytes, ``GiB`` is 2³⁰ (IEC 80000-13).
*One way and both ways*: bandwidth is per direction; a link rate in bits is per direction by
convention (it is the line rate), one in bytes must say ``per direction`` or ``both ways``.
"""

from artery.units.counts import count, size
from artery.units.quantity import Unit, parse
from artery.units.show import (
    show_bytes,
    show_count,
    show_energy,
    show_flops,
    show_line_rate,
    show_money,
    show_percent,
    show_power,
    show_rate,
    show_time,
    show_work,
)

__all__ = [
    "Unit",
    "count",
    "parse",
    "show_bytes",
    "show_count",
    "show_energy",
    "show_flops",
    "show_line_rate",
    "show_money",
    "show_percent",
    "show_power",
    "show_rate",
    "show_time",
    "show_work",
    "size",
]
