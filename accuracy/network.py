"""``python -m accuracy.network``: the simulator beside others' figures and beside the closed form.

Plays the cases of ``docs/network.md`` and writes ``data/network.csv``, from which the page is made.
Measured and published figures stand here with their source.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from accuracy.fat_tree import HALF, permutation
from artery.answers.simulate import simulate
from artery.native.gates import at_times
from artery.native.messages import Buffers, Transport, messages
from artery.native.packets import Ports, packets
from artery.native.work import Links, Played, Transfers, Work

ROOT: Final = Path(__file__).parent.parent
RESULT: Final = Path(__file__).parent / "data" / "network.csv"
LEAVES: Final = ROOT / "tests" / "fixtures" / "systems" / "four-leaves.toml"

RATE: Final = 50 * 10**9
LATENCY: Final = 500_000
SIZE: Final = 20_000_000
ROOM: Final = 400_000

HTSIM: Final = {"sprayed": (167e-6, 305e-6, 311e-6), "hashed": (167e-6, 499e-6, 988e-6)}
"""Least, median and greatest completion that csg-htsim 841d9e7 printed for its NDP permutation and
for RoCE with hashed paths: 1,024 hosts, 2 MB each, three tiers, 100 Gb/s."""

NDP_PACKET: Final = 9064
"""B on the wire: htsim's packets of 9,000 B (``packet_size`` of main_ndp.cpp) and 64 of headers."""
NDP_WINDOW: Final = 15
"""Packets under way, ``cwnd`` of main_ndp.cpp."""
NDP_CABLE: Final = 1_000_000
"""ps: ``hop_latency`` of main_ndp.cpp."""

PLANNED: Final = {"512M": 1.1043, "1G": 1.1129, "8G": 1.1732, "16G": 1.2276}
"""Bus bandwidth of planned over hashed paths, ring all-reduce of 64 GPUs under four leaves and two
spines, by size; equal at small sizes (Tolly report 225112)."""
CONNECTIONS: Final = 8
"""Paths hashed per pair of cards: two channels with four connections each, assumed."""

CASES: Final = (
    ("all_gather", "dgx-h100:32", "ring", "16M"),
    ("all_reduce", "dgx-h100:128", "ring", "128M"),
    ("all_reduce", "dgx-h100:128", "ring", "1G"),
    ("all_reduce", "dgx-h100:128", "tree", "1M"),
    ("all_reduce", "dgx-h100:128", "tree", "1G"),
    ("all_reduce", "dgx-1v:16", "ring", "1G"),
    ("all_reduce", "mi300x-8:16", "ring", "1G"),
    ("all_reduce", "rtx3090x2", "ring", "1G"),
)
"""Collectives of which simulation and closed form are compared: nobody is in the way."""


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: its table, what it is of, its name and value."""

    table: str
    case: str
    name: str
    value: float


def beside_incast(senders: int, *, spread: bool = False) -> Work:
    """Return an incast and, as last transfer, a victim that shares one link with it.

    Sender 0 and the victim are on one leaf; its link to the leaf of the receivers carries both.
    Spread, the victim takes three free links instead.
    """
    paths = [[0, 2, 6, 10], *([12 + i, 10] for i in range(senders - 1))]
    paths += [[1, 2 + i, 6 + i, 11] for i in range(4)]
    first = np.arange(senders + 1, dtype=np.int32)
    ways = np.ones(senders + 1, np.int32)
    if spread:
        first[senders], ways[senders] = senders + 1, 3
    transfers = Transfers(
        np.full(senders + 1, SIZE), first, np.cumsum([0, *map(len, paths)]),
        np.concatenate(paths).astype(np.int32), ways,
    )  # fmt: skip
    links = Links(np.full(11 + senders, RATE), np.full(11 + senders, LATENCY))
    return Work(links, transfers, at_times(np.zeros(senders + 1, np.int64)))


def victims() -> list[Row]:
    """Return the victim's share of a link beside 4, 8 and 16 senders, by kind of buffers."""
    found = []
    for senders in (4, 8, 16):
        work = beside_incast(senders)
        full = np.full(work.links.rate.size, ROOM)
        flying = 2 * LATENCY * RATE // 10**12 + 2 * 32_768
        pause = Buffers("pause", full, full * 3 // 4, full * 0 + flying)
        for name, room in (
            ("pause", pause),
            ("credit", replace(pause, control="credit")),
            ("marks", replace(pause, mark=ROOM // 4)),
        ):
            window = 64 if name == "marks" else 512
            done = messages(work, Transport(window=window, packet=4096), room)
            found.append(Row("victim", str(senders), name, _share(done)))
        spread = messages(beside_incast(senders, spread=True), Transport(window=512), pause)
        found.append(Row("victim", str(senders), "spread", _share(spread)))
        free = messages(work, Transport(packet=4096))
        found.append(Row("victim", str(senders), "endless", _share(free)))
        fine = packets(work, Ports(window=4096, control="pause", xoff=ROOM, xon=ROOM * 3 // 4,
                                   headroom=flying))  # fmt: skip
        found.append(Row("victim", str(senders), "packets", _share(fine)))
    return found


def _share(done: Played) -> float:
    """Return the rate of the last transfer as a part of a link's."""
    return SIZE / int(_delivered(done)[-1]) * 1e12 / RATE


def _delivered(done: Played) -> np.ndarray:
    if done.delivered is None:
        raise ValueError("the times of the transfers were not asked for")
    return done.delivered


def htsim(window: int, ways: int = HALF * HALF) -> tuple[float, float, float]:
    """Return least, median and greatest delivery (s) of the permutation as htsim was set."""
    count = -(-2_000_000 // 9000)
    work = permutation(0, ways, count * NDP_PACKET, NDP_CABLE)
    done = packets(work, Ports(unit=NDP_PACKET, window=window, packet=NDP_PACKET))
    seconds = _delivered(done) / 1e12
    return float(seconds.min()), float(np.median(seconds)), float(seconds.max())


def sprays() -> list[Row]:
    """Return the completions of the permutation by window, sprayed and hashed."""
    found = []
    for window in (NDP_WINDOW, 30, 60):
        for name, ways in (("sprayed", HALF * HALF), ("hashed", 1)):
            for which, value in zip(("least", "median", "most"), htsim(window, ways), strict=True):
                found.append(Row("htsim", f"{window} {name}", which, value))
    return found


def leaves() -> list[Row]:
    """Return what hashing costs on four leaves and two spines: bus bandwidth lost, by size."""
    found = []
    for size in ("1M", *PLANNED):
        asked = {"algorithm": "ring", "size": size, "links": 0, "engine": "coupled"}
        planned = simulate("all_reduce", f"{LEAVES}:64", routing="static", **asked)
        hashed = simulate("all_reduce", f"{LEAVES}:64", seeds=100, queue_pairs=CONNECTIONS, **asked)
        for name, seconds in (("low", hashed.low), ("median", hashed.median),
                              ("high", hashed.high)):  # fmt: skip
            found.append(Row("leaves", size, name, 1 - planned.seconds / seconds))
    return found


def closed() -> list[Row]:
    """Return simulated and closed-form seconds where nobody is in the way."""
    found = []
    for collective, on, algorithm, size in CASES:
        case = f"{collective} {algorithm} {size} {on}"
        for engine in ("coupled", "messages"):
            told = simulate(collective, on, algorithm=algorithm, size=size, routing="static",
                            links=0, engine=engine)  # fmt: skip
            found.append(Row("closed", case, engine, told.seconds))
            if engine == "coupled" and told.closed is not None:
                found.append(Row("closed", case, "closed", told.closed.seconds))
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
    rows = [*victims(), *sprays(), *leaves(), *closed()]
    with RESULT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("table", "case", "name", "value"))
        writer.writerows((one.table, one.case, one.name, f"{one.value:.6g}") for one in rows)
    sys.stdout.write(f"{RESULT}: {len(rows)} figures\n")


if __name__ == "__main__":
    main()
