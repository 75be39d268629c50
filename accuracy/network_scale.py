"""``python -m accuracy.network_scale``: what a sample says beside every message, and who adds.

Plays further cases of ``docs/network.md`` and writes ``data/network_scale.csv``, from which the
page is made.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Final
from unittest.mock import patch

from accuracy.network import CONNECTIONS, LEAVES, Row
from artery.answers.simulate import simulate
from artery.simulator.explicit import sampled as engine

RESULT: Final = Path(__file__).parent / "data" / "network_scale.csv"

DISTANCES: Final = 24
"""Distances routed, as many as 131,072 chips get."""

WHOLE: Final = (
    ("rail-clos-h100:1024", None),
    ("dgx-h100:1024", None),
    ("rail-clos-h100:2048", None),
    ("hgx-h100-roce:2048", None),
    ("rail-clos-h100:1024", "1%"),
    ("dgx-h100:2048", "1%"),
)
"""Systems, and shares of failed links, of which every message is played too."""

LARGE: Final = ("rail-clos-h100:16384", "rail-clos-h100:131072")

POD: Final = "dgx-h100:64"
SIZES: Final = ("64K", "1M", "16M", "1G")
OFFLOADS: Final = ("none", "bf3", "bf2", "switch")

GROWN: Final = ("16M", "64M", "256M")


def samples() -> list[Row]:
    """Return the network's seconds of all-to-alls of 256 MiB, sampled and played whole."""
    found = []
    for on, failed in WHOLE:
        case = on if failed is None else f"{on}, {failed} of links down"
        whole = simulate("alltoall", on, size="256M", links=0, fail_links=failed)
        found.append(Row("sampled", case, "whole", whole.network))
        with patch.object(engine, "PATHS", DISTANCES * whole.ranks):
            found += _sampled(case, on, failed)
    for on in LARGE:
        found += _sampled(on, on, None)
    return found


def _sampled(case: str, on: str, failed: str | None) -> list[Row]:
    told = simulate("alltoall", on, size="256M", links=0, fail_links=failed, engine="sampled")
    times = {"low": told.low - told.startup, "usual": told.network,
             "high": told.high - told.startup}  # fmt: skip
    return [Row("sampled", case, name, seconds) for name, seconds in times.items()]


def sums() -> list[Row]:
    """Return the seconds of all-reduces of 64 chips by who adds."""
    return [
        Row("sums", size, who, simulate("all_reduce", POD, size=size, links=0, offload=who).seconds)
        for size in SIZES
        for who in OFFLOADS
    ]


def grown() -> list[Row]:
    """Return what hashing costs on four leaves if every message is played: least, most of three."""
    found = []
    for size in GROWN:
        for control in ("none", "pfc"):
            asked = {"algorithm": "ring", "size": size, "links": 0, "engine": "messages",
                     "transport": "roce", "flow_control": control}  # fmt: skip
            planned = simulate("all_reduce", f"{LEAVES}:64", routing="static", **asked).seconds
            lost = [
                1 - planned / simulate("all_reduce", f"{LEAVES}:64", seed=seed,
                                       queue_pairs=CONNECTIONS, **asked).seconds
                for seed in (1, 2, 3)
            ]  # fmt: skip
            found.append(Row("grown", size, f"{control} low", min(lost)))
            found.append(Row("grown", size, f"{control} high", max(lost)))
    return found


def kept() -> list[Row]:
    """Return the figures as they were written last."""
    with RESULT.open(encoding="utf-8", newline="") as file:
        return [
            Row(one["table"], one["case"], one["name"], float(one["value"]))
            for one in csv.DictReader(file)
        ]


def main() -> None:
    """Play all and write the figures."""
    rows = [*samples(), *sums(), *grown()]
    with RESULT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("table", "case", "name", "value"))
        writer.writerows((one.table, one.case, one.name, f"{one.value:.6g}") for one in rows)
    sys.stdout.write(f"{RESULT}: {len(rows)} figures\n")


if __name__ == "__main__":
    main()
