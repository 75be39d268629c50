"""The GRAPH part of an NCCL log: the tree of the machine, and the table of paths.

``=== System : maxBw 24.0 totalBw 24.0 ===``, then ``+ PCI[24.0] - GPU/47000 (0)`` lines, and
``GPU/CE000 :GPU/0-4e000 (5/10.0/SYS) ...``: hops, GB/s and type of a path.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

_SYSTEM: Final = re.compile(
    r"=== System : max(?:Bw|Width) ([\d.]{1,9}) total(?:Bw|Width) ([\d.]{1,9}) ==="
)
_LINK: Final = re.compile(r"\+ ([A-Z0-9]{2,10})\[([\d.]{1,9})\] - ([A-Z]{2,5})/([\w-]{1,24})")
_PATHS: Final = re.compile(
    r"([A-Z]{2,5}/[\w-]{1,24}) :((?:[A-Z]{2,5}/[\w-]{1,24} \([^)]{1,40}\) ?){1,600})"
)
_PATH: Final = re.compile(r"([A-Z]{2,5}/[\w-]{1,24}) \((\d{1,3})/([\d.]{1,9})/(\w{1,8})\)")

MOST: Final = 20_000
"""Assumed: paths that are kept; 256 ranks have 65,536 pairs that all look alike."""


@dataclass(slots=True)
class GraphLines:
    """What the GRAPH lines said."""

    systems: list[dict[str, Any]] = field(default_factory=list)
    paths: list[dict[str, Any]] = field(default_factory=list)
    path_count: int = 0

    def take(self, said: str) -> None:
        """Note one message, if it is one of them."""
        if system := _SYSTEM.search(said):
            most, total = _rate(system[1]), _rate(system[2])
            self.systems.append({"max_bytes_per_s": most, "total_bytes_per_s": total,
                                 "links": Counter(), "widths": {},
                                 "devices": Counter()})  # fmt: skip
        elif (link := _LINK.search(said)) and self.systems:
            last = self.systems[-1]
            last["links"][link[1]] += 1
            last["widths"][link[1]] = max(_rate(link[2]), last["widths"].get(link[1], 0.0))
            if "[" not in said.partition("- ")[0].rpartition("+")[0]:
                last["devices"][link[3]] += 1
        elif table := _PATHS.search(said):
            found = _PATH.findall(table[2])
            self.path_count += len(found)
            self.paths += [
                {"from": table[1], "to": to, "hops": int(hops), "bytes_per_s": _rate(rate),
                 "type": kind}
                for to, hops, rate, kind in found[: MOST - len(self.paths)]
            ]  # fmt: skip

    def fields(self) -> dict[str, Any]:
        """Return systems and paths as JSON values in SI units."""
        systems = [
            {**one, "links": dict(one["links"]), "devices": dict(one["devices"])}
            for one in self.systems[:64]
        ]
        return {"graph": systems, "paths": self.paths, "path_count": self.path_count}


def _rate(text: str) -> float:
    return float(text) * 1e9 if re.fullmatch(r"\d{1,7}(?:\.\d{1,4})?", text) else 0.0
