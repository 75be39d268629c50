"""``ethtool -S`` and the RDMA counters of RoCE cards (``rdma statistic``, ``hw_counters``)."""

from __future__ import annotations

import re
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.infiniband.counters import remarks, telling
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.syntax.numerals import whole
from artery.formats.text import Text

_TITLE: Final = re.compile(r"NIC statistics:")
_COUNTER: Final = re.compile(r"\s{1,12}([A-Za-z][\w.\[\]-]{1,60}):\s(\d{1,20})\s*$")
_RDMA: Final = re.compile(r"link ([\w.-]{1,40}/\d{1,3}) ((?:[a-z_0-9]{2,60} \d{1,20} ?){2,200})")
_SYSFS: Final = re.compile(
    r"(?:.{0,80}/)?infiniband/([\w.-]{1,40})/ports/(\d{1,3})/(?:hw_)?counters/(\w{2,60})[:=\s]\s?(\d{1,20})\s*$"
)
_DEVICE: Final = re.compile(r"ethtool -S (\S{1,40})|^([\w.-]{2,20}):$")


def _recognise(text: Text) -> float:
    if _TITLE.search(text.head) or _SYSFS.search(text.head.split("\n", 1)[0]):
        return 0.9
    return 0.9 if _RDMA.search(text.head) else 0.0


def _read(text: Text) -> Reading:
    ports: dict[str, dict[str, int]] = {}
    used: set[int] = set()
    device, inside = "", False
    for number, line in enumerate(text.lines, 1):
        part = line[:8000]
        if rdma := _RDMA.search(part):
            words = rdma[2].split()
            pairs = zip(words[::2], map(whole, words[1::2]), strict=False)
            known = {name: count for name, count in pairs if count is not None}
            ports.setdefault(rdma[1], {}).update(known)
        elif file := _SYSFS.match(part):
            ports.setdefault(f"{file[1]}/{file[2]}", {})[file[3]] = int(file[4])
        elif _TITLE.search(part):
            inside = True
        elif inside and (counter := _COUNTER.match(part)):
            ports.setdefault(device or "port", {})[counter[1]] = int(counter[2])
        elif named := _DEVICE.search(part[:200]):
            device, inside = named[1] or named[2], False
        else:
            continue
        used.add(number)
    if not ports:
        rule = "ethtool -S prints names and counts below NIC statistics"
        raise InputError(
            Problem(file=text.path, found="no counter", rule=rule, fix="send it whole")
        )
    found = {port: telling(counters) for port, counters in ports.items()}
    fields: dict[str, Any] = {
        "ports": ports,
        "telling": found,
        "about": sorted({str(one["about"]) for some in found.values() for one in some}),
    }
    count = sum(len(counters) for counters in ports.values())
    summary = (
        f"{count} counters of {len(ports)} ports: {', '.join(list(ports)[:6])}",
        f"not zero and telling: {sum(map(len, found.values()))}"
        + (f" ({', '.join(fields['about'])})" if fields["about"] else ""),
    )
    return Reading("ethtool-counters", "measurement", summary, fields, tuple(remarks(ports)),
                   passed_over(text, used))  # fmt: skip


FORMAT = Format(
    "ethtool-counters", "measurement", _recognise, _read, tested=False,
    notes=("written from NVIDIA's list of mlx5 counters; no real output was at hand",),
)  # fmt: skip
