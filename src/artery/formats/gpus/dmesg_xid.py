"""Xid errors of NVIDIA GPUs in the kernel's log (``dmesg``): which GPU, which error, how often.

``NVRM: Xid (PCI:0000:3b:00): 79, pid=..., GPU has fallen off the bus.`` Meanings are those of
NVIDIA's XID Errors guide.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.text import Text

MEANINGS: Final = {
    13: ("graphics engine exception", "application"),
    31: ("memory page fault", "application"),
    43: ("the GPU stopped processing for one program", "application"),
    45: ("work was stopped after an earlier error", "follows"),
    48: ("double-bit memory error", "hardware"),
    61: ("internal microcontroller breakpoint", "hardware"),
    62: ("internal microcontroller halt", "hardware"),
    63: ("a memory row was remapped or a page retired", "memory"),
    64: ("remapping a row or retiring a page failed", "hardware"),
    68: ("video processor exception", "application"),
    69: ("graphics engine class error", "application"),
    74: ("NVLink error", "link"),
    79: ("the GPU has fallen off the bus", "hardware"),
    92: ("many single-bit memory errors", "memory"),
    94: ("a memory error that was contained", "memory"),
    95: ("a memory error that was not contained", "hardware"),
    109: ("context switch timed out", "application"),
    119: ("the GPU's system processor timed out", "hardware"),
    120: ("the GPU's system processor failed", "hardware"),
    121: ("error on the link to the processor", "link"),
    137: ("an NVLink access was refused", "link"),
    140: ("unrecovered memory error", "hardware"),
    149: ("NVLink 5 error", "link"),
}
"""What an Xid says, and whose fault it is (NVIDIA, XID Errors)."""

_XID: Final = re.compile(
    r"NVRM: Xid \((?:PCI:)?([0-9a-fA-F:.]{4,16})\): (\d{1,4})(?:, (.{0,200}))?"
)
_TIME: Final = re.compile(r"\[\s{0,8}(\d{1,9}\.\d{1,6})\]")
_SXID: Final = re.compile(r"SXid \((?:PCI:)?([0-9a-fA-F:.]{4,16})\): (\d{3,6})")


def _recognise(text: Text) -> float:
    return 0.9 if _XID.search(text.content) or _SXID.search(text.content) else 0.0


def _read(text: Text) -> Reading:
    events: list[dict[str, Any]] = []
    used: set[int] = set()
    for number, line in enumerate(text.lines, 1):
        part = line[:2000]
        found = _XID.search(part)
        switch = _SXID.search(part) if found is None else None
        if found is None and switch is None:
            continue
        used.add(number)
        time = _TIME.search(part)
        at = float(time[1]) if time else None
        if found is not None:
            code = int(found[2])
            said, whose = MEANINGS.get(code, ("not in the table", "unknown"))
            events.append({"line": number, "gpu": found[1].lower(), "xid": code, "meaning": said,
                           "whose": whose, "text": (found[3] or "")[:200],
                           "uptime_s": at})  # fmt: skip
        elif switch is not None:
            events.append({"line": number, "gpu": switch[1].lower(), "xid": int(switch[2]),
                           "meaning": "NVSwitch error", "whose": "link", "text": "",
                           "uptime_s": at})  # fmt: skip
    if not events:
        rule = "the driver prints NVRM: Xid (PCI:...): number"
        raise InputError(
            Problem(file=text.path, found="no Xid", rule=rule, fix="dmesg -T | grep Xid")
        )
    fields = {
        "events": events[:10_000],
        "count": len(events),
        "event_count": len(events),
        "by_xid": {str(code): n for code, n in Counter(one["xid"] for one in events).most_common()},
        "by_gpu": dict(Counter(one["gpu"] for one in events).most_common()),
        "first": events[0],
    }
    ignored = passed_over(text, used, None, "no Xid")
    summary, warnings = tuple(_summary(fields)), tuple(_warnings(events))
    return Reading("dmesg-xid", "log", summary, fields, warnings, ignored)


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    yield f"{fields['count']} Xid errors on {len(fields['by_gpu'])} GPUs"
    for code, count in list(fields["by_xid"].items())[:3]:
        meaning = next(one["meaning"] for one in fields["events"] if str(one["xid"]) == code)
        yield f"Xid {code}, {count} times: {meaning}"
    first = fields["first"]
    yield f"first: line {first['line']}, GPU {first['gpu']}, Xid {first['xid']}"


def _warnings(events: list[dict[str, Any]]) -> Iterator[str]:
    for whose, said in (
        ("hardware", "take the node out and have the GPU replaced or reset"),
        ("link", "check NVLink cables and bridges (nvidia-smi nvlink -e), reset the GPU"),
        ("memory", "a memory error was dealt with; reset the GPU at the next chance, watch it"),
        ("application", "most often the program itself; look at it before the hardware"),
    ):
        gpus = sorted({one["gpu"] for one in events if one["whose"] == whose})
        codes = sorted({one["xid"] for one in events if one["whose"] == whose})
        if gpus:
            yield f"Xid {', '.join(map(str, codes))} on {', '.join(gpus[:8])}: {said}"
    if {one["xid"] for one in events} == {45}:
        yield "Xid 45 follows another error: the first one is not in this file"


FORMAT = Format(
    "dmesg-xid", "log", _recognise, _read, tested=False,
    notes=("written from NVIDIA's XID Errors guide; no real log was at hand",),
)  # fmt: skip
