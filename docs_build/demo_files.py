"""The three files of ``artery demo``, written from physics by hand: no part of artery makes them.

Sixteen servers of eight H100, eight NDR cards each, four servers on a leaf, 32 cables from every
leaf over four spines: full bisection, but leaf03 has lost half of its 32 uplinks. They run the
all-to-all of nccl-tests. The time of one size is worked out from what must pass the narrowest
place, with noise; the simulator and the price of a collective in ``artery`` are not used, so that
they can be wrong about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp
from random import Random
from typing import Final

NODES, GPUS, LEAVES, SPINES = 16, 8, 4, 4
RANKS: Final = NODES * GPUS
ON_A_LEAF: Final = NODES // LEAVES
BUNDLE: Final = 8
"""Cables from a leaf to each spine: 4 x 8 = 32 up, as many as the 32 cards down."""

LOST: Final = {("leaf03", "spine03"): 8, ("leaf03", "spine04"): 8}

PAYLOAD: Final = 4096 / (4096 + 8 + 12 + 4 + 2)
"""An InfiniBand packet of 4 KiB: LRH 8, BTH 12, ICRC 4, VCRC 2 bytes around it (IBTA, volume 1)."""

CARD: Final = 400e9 / 8 * PAYLOAD * 0.975
"""B/s of one NDR port; 2.5 % for acknowledgements and credits, assumed: 48.5 GB/s, where
``ib_write_bw`` shows 48 to 49."""

BALANCE: Final = 0.97
"""Assumed: adaptive routing leaves the fullest of a leaf's uplinks 3 % above their mean."""

NVLINK: Final = 370e9
"""B/s of one GPU through the NVSwitches (NVIDIA/nccl-tests issue 212: 360 to 370 without NVLS)."""

START, PER_PEER = 25e-6, 0.55e-6
"""Assumed: s to start a grouped send and receive, and for each peer's descriptor."""

NOISE: Final = 0.015
"""Assumed: standard deviation of the logarithm of a time, between runs of one machine."""

SEED: Final = 20261130


def seconds(size: int, uplinks: int) -> float:
    """Return the time of an all-to-all of ``size`` bytes a rank, with so many uplinks on leaf03.

    Every rank sends ``size / RANKS`` to each. Three places run at once, and the slowest decides:
    NVLink carries what stays in the node, a card what leaves it, and the uplinks of leaf03 what
    its 32 ranks send to the 96 elsewhere.
    """
    piece = size / RANKS
    inside = (GPUS - 1) * piece / NVLINK
    card = (RANKS - GPUS) * piece / CARD
    under = ON_A_LEAF * GPUS
    balance = 1.0 if uplinks >= under else BALANCE
    leaf = under * (RANKS - under) * piece / (uplinks * CARD * balance)
    return START + PER_PEER * (RANKS - 1) + max(inside, card, leaf)


def tests_log() -> str:
    """Return what ``alltoall_perf -b 1M -e 8G -f 2 -g 1`` printed on the broken cluster."""
    lines = [
        "# nccl-tests version 2.17.1 nccl-headers=22703 nccl-library=22703",
        "# Collective test starting: alltoall_perf",
        f"# nThread 1 nGpus 1 minBytes {2**20} maxBytes {2**33} step: 2(factor) warmup iters: 5",
        "#",
        "# Using devices",
    ]
    for rank in range(RANKS):
        node, gpu = divmod(rank, GPUS)
        lines.append(
            f"#  Rank {rank:2d} Group  0 Pid {40_000 + rank} on     {_node(node)} device  {gpu} "
            f"[0000:{_BUSES[gpu]}:00] NVIDIA H100 80GB HBM3"
        )
    lines += ["#", _HEADS, _TITLES, _UNITS]
    rates = []
    noise = Random(SEED)  # noqa: S311 - noise, no secret
    for power in range(20, 34):
        cells = []
        for _ in range(2):
            time = seconds(2**power, ON_A_LEAF * GPUS - sum(LOST.values()))
            time *= exp(noise.gauss(0.0, NOISE))
            rate = 2**power / time / 1e9
            rates.append(rate * (RANKS - 1) / RANKS)
            cells.append((time * 1e6, rate, rates[-1]))
        (one, other) = (f"{t:8.1f} {a:7.2f} {b:7.2f}" for t, a, b in cells)
        count = 2**power // 4 // RANKS
        lines.append(
            f"{2**power:12d} {count:13d}     float    none      -1 {one}      0 {other}    N/A"
        )
    average = sum(rates) / len(rates)
    lines += ["# Out of bounds values : 0 OK", f"# Avg bus bandwidth    : {average:.4f} ", "#"]
    return "\n".join(lines) + "\n"


def topology() -> str:
    """Return what ``nvidia-smi topo -m`` printed on one of the servers."""
    gpus = [f"GPU{i}" for i in range(GPUS)]
    cards = [f"NIC{i}" for i in range(GPUS)]
    rows = ["\t" + "\t".join([*gpus, *cards, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])]
    for i in range(GPUS):
        links = [" X " if i == j else "NV18" for j in range(GPUS)]
        near = [_near(i, j) for j in range(GPUS)]
        half = "0-55,112-167\t0" if i < GPUS // 2 else "56-111,168-223\t1"
        rows.append("\t".join([f"GPU{i}", *links, *near, half, "\tN/A"]))
    for i in range(GPUS):
        near = [_near(i, j) for j in range(GPUS)]
        others = [" X " if i == j else _near(i, j).replace("PIX", "SYS") for j in range(GPUS)]
        rows.append("\t".join([f"NIC{i}", *near, *others]))
    legend = [f"  NIC{i}: mlx5_{i}" for i in range(GPUS)]
    return "\n".join([*rows, "", "NIC Legend:", "", *legend]) + "\n"


def fabric() -> str:
    """Return what ``ibnetdiscover`` printed of the switches and cards."""
    ends: dict[str, list[str]] = {name: [] for name in (*_LEAVES, *_SPINES)}
    used: dict[str, int] = dict.fromkeys(ends, 0)
    for node in range(NODES):
        for card in range(GPUS):
            leaf = _LEAVES[node // ON_A_LEAF]
            used[leaf] += 1
            guid = 0x0002_C903_00D0_0000 + node * 16 + card
            ends[leaf].append(
                f'[{used[leaf]}]\t"H-{guid:016x}"[1]({guid:x}) \t# "{_node(node)} mlx5_{card}" '
                f"lid {100 + node * GPUS + card} 4xNDR"
            )
    for leaf in _LEAVES:
        for number, spine in enumerate(_SPINES):
            for cable in range(BUNDLE):
                if cable >= BUNDLE - LOST.get((leaf, spine), 0):
                    continue
                up = ON_A_LEAF * GPUS + 1 + number * BUNDLE + cable
                down = 1 + _LEAVES.index(leaf) * BUNDLE + cable
                ends[leaf].append(_cable(up, spine, down))
                ends[spine].append(_cable(down, leaf, up))
    blocks = ["#", "# Topology file: generated on Mon Nov 30 09:12:44 2026", "#"]
    for name, ports in ends.items():
        guid = _guid(name)
        blocks += ["vendid=0x2c9", "devid=0xd2f2", f"sysimgguid=0x{guid:x}",
                   f"switchguid=0x{guid:x}({guid:x})",
                   f'Switch\t64 "S-{guid:016x}"\t\t# "{name}" base port 0 lid {guid % 97} lmc 0',
                   *ports, ""]  # fmt: skip
    return "\n".join(blocks)


_HEADS: Final = (
    "#                                                              out-of-place"
    "                       in-place          "
)
_TITLES: Final = (
    "#       size         count      type   redop    root     time   algbw   busbw #wrong"
    "     time   algbw   busbw #wrong"
)
_UNITS: Final = (
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)       "
    "     (us)  (GB/s)  (GB/s)       "
)
_BUSES: Final = ("1b", "43", "52", "61", "9d", "c3", "d1", "df")
_LEAVES: Final = tuple(f"leaf{i + 1:02d}" for i in range(LEAVES))
_SPINES: Final = tuple(f"spine{i + 1:02d}" for i in range(SPINES))


def _node(number: int) -> str:
    return f"node{number + 1:02d}"


def _near(gpu: int, card: int) -> str:
    if gpu == card:
        return "PIX"
    return "NODE" if gpu // 4 == card // 4 else "SYS"


def _guid(name: str) -> int:
    return 0x0002_C903_0050_0000 + [*_LEAVES, *_SPINES].index(name)


def _cable(port: int, far: str, remote: int) -> str:
    return f'[{port}]\t"S-{_guid(far):016x}"[{remote}]\t\t# "{far}" lid {_guid(far) % 97} 4xNDR'


def every() -> Iterator[tuple[str, str]]:
    """Yield the name of each file and its text."""
    yield "nccl-tests.txt", tests_log()
    yield "topo.txt", topology()
    yield "ibnetdiscover.txt", fabric()
