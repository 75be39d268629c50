"""One node as a file of ours would describe it, from what foreign files say of its links.

Line rates are those of the catalog's classes of link; ``NVk`` is k of the links that the class
bundles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final

from artery.catalog.links import link as link_of
from artery.errors import InputError, Problem

NVLINKS: Final[Mapping[str, tuple[str, int]]] = {
    "p100": ("nvlink1", 4),
    "v100": ("nvlink2", 6),
    "v100-16g": ("nvlink2", 6),
    "a100-40g": ("nvlink3", 12),
    "a100-80g": ("nvlink3", 12),
    "a800": ("nvlink3", 12),
    "h100-sxm": ("nvlink4", 18),
    "h200": ("nvlink4", 18),
    "h800": ("nvlink4", 18),
    "h20": ("nvlink4", 18),
    "b200": ("nvlink5", 18),
    "b300": ("nvlink5", 18),
    "gb200": ("nvlink5", 18),
    "gb300": ("nvlink5", 18),
    "rtx3090": ("nvlink-bridge-3", 4),
    "a100-80g-pcie": ("nvlink-bridge-pcie", 12),
    "h100-pcie": ("nvlink-bridge-pcie", 12),
}
"""The class that bundles all links of a chip, and how many it bundles (NVIDIA datasheets)."""

XGMI: Final[Mapping[str, str]] = {
    "mi250x": "xgmi-mi250x",
    "mi300x": "xgmi-mi300x",
    "mi325x": "xgmi-mi300x",
    "mi355x": "xgmi-mi355x",
}
"""The class of one xGMI link of a chip; MI325X has those of MI300X (AMD datasheets)."""

_PCIE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("p100", "v100", "v100-16g", "t4"), "pcie3x16"),
    **dict.fromkeys(("a100-40g", "a100-80g", "a100-80g-pcie", "a800"), "pcie4x16"),
    **dict.fromkeys(("rtx3090", "rtx4090", "l4", "l40s", "mi250x"), "pcie4x16"),
}
"""The slot of a chip; those after 2022 have ``pcie5x16`` (datasheets)."""

_NO_PEERS: Final = ("rtx3090", "rtx4090", "rtx5090")
"""GeForce drivers disable peer-to-peer over PCIe."""

BETWEEN_SOCKETS: Final = "10 GB/s per direction"
"""What NCCL's model takes between Intel sockets of the Skylake generation (topo.h); assumed."""

_NVLS: Final = ("nvlink4", "nvlink5", "nvlink6")
_BEHIND_ONE_SWITCH: Final = ("PIX", "PXB")


@dataclass(frozen=True, slots=True)
class Node:
    """What is known of a node: ``gpus`` chips, direct ``links`` between pairs of them.

    ``links`` counts NVLink or xGMI links by pair (i < j); ``near`` is the PCIe class of a pair
    (``PIX`` ... ``SYS``) where known; ``switched`` says that the links lead to switches;
    ``peers`` is false if the driver refuses peer-to-peer.
    """

    name: str
    gpus: int
    links: Mapping[tuple[int, int], int] = field(default_factory=dict)
    near: Mapping[tuple[int, int], str] = field(default_factory=dict)
    sockets: int | None = None
    switched: bool = False
    peers: bool | None = None
    slot: str | None = None
    file: str | None = None


def node_table(node: Node, chip: str | None) -> dict[str, Any]:
    """Return the tables of a file of ours for ``node`` with the catalog's ``chip``.

    Raises :class:`artery.errors.InputError` if the chip is not said, or its links are unknown.
    """
    if chip is None:
        raise _missing(node, "chip", "which chips these are", "--set chip=h100-sxm")
    amd = chip.startswith("mi")
    whole = {"name": node.name, "title": node.name, "chip": chip}
    return {**whole, "library": "rccl" if amd else "nccl", "node": _node(node, chip)}


def _node(node: Node, chip: str) -> dict[str, Any]:
    host = _host(node, chip)
    if node.gpus == 1:
        return {"kind": "single", "chips": 1, "host": {"link": host["link"]}}
    counts = {node.links.get(pair, 0) for pair in combinations(range(node.gpus), 2)}
    if counts == {0}:
        return {"kind": "pcie-tree", "chips": node.gpus, "host": host}
    name, most = _class(node, chip)
    one = link_of(name).bandwidth / most
    if len(counts) > 1 and 0 not in counts and min(counts) * (node.gpus - 1) > most > 1:
        # More than a chip has links for: switches, and some links are lost. A collective is as
        # slow as the chip with the fewest.
        counts = {min(counts)}
    if len(counts) == 1:
        (count,) = counts
        rate = _rate(one * count)
        if node.switched or (node.gpus > 2 and count * (node.gpus - 1) > most > 1):
            added = "nvls" if name in _NVLS and node.gpus > 2 else "none"
            return {"kind": "nvswitch", "chips": node.gpus, "link": name, "bandwidth": rate,
                    "reduction": added, "host": host}  # fmt: skip
        kind = "nvlink-pairs" if node.gpus == 2 else "full-mesh"
        return {"kind": kind, "chips": node.gpus, "link": name, "bandwidth": rate, "host": host}
    if name == "nvlink2" and _is_cube_mesh(node):
        host.setdefault("socket_bandwidth", BETWEEN_SOCKETS)
        return {"kind": "cube-mesh", "chips": node.gpus, "link": name, "host": host}
    return {"kind": "graph", "chips": node.gpus, "cables": _cables(node, name, one, host)}


def assumed(table: Mapping[str, Any]) -> list[str]:
    """Return what :func:`node_table` took for granted in ``table``, for people to check."""
    notes: list[str] = []
    host = table.get("node", {}).get("host")
    if isinstance(host, Mapping) and host.get("socket_bandwidth") == BETWEEN_SOCKETS:
        notes.append(
            f"between sockets {BETWEEN_SOCKETS} is assumed (NCCL's model of Intel Skylake): "
            "--set node.host.socket_bandwidth=..."
        )
    if isinstance(host, Mapping) and "link" in host:
        notes.append(f"slots are taken as {host['link']}: --set node.host.link=...")
    told = _fewer_links(table)
    return [told, *notes] if told else notes


def _fewer_links(table: Mapping[str, Any]) -> str:
    """Return how many links a chip has, if the file says fewer of each; else nothing."""
    chip, node = table.get("chip"), table.get("node", {})
    if not isinstance(chip, str) or chip not in NVLINKS or node.get("kind") != "nvswitch":
        return ""
    name, most = NVLINKS[chip]
    rate = str(node.get("bandwidth", "")).partition(" ")[0]
    count = round(float(rate) * 1e9 * most / link_of(name).bandwidth) if rate else most
    if node.get("link") != name or count >= most:
        return ""
    return (
        f"the file says {count} NVLinks of each chip to the switches, {chip} has {most}: another "
        "chip, or links that are down"
    )


def _is_cube_mesh(node: Node) -> bool:
    """Whether every one of eight chips has two pairs of one link and two of two, as on DGX-1.

    Boards number the chips differently; the wiring of a whole node is the same.
    """
    of: dict[int, list[int]] = {}
    for pair, count in node.links.items():
        for gpu in pair:
            of.setdefault(gpu, []).append(count)
    return len(of) == 8 and all(sorted(counts) == [1, 1, 2, 2] for counts in of.values())


def _class(node: Node, chip: str) -> tuple[str, int]:
    """The class of the chip's links, and how many links it bundles."""
    if chip in XGMI:
        return XGMI[chip], 1
    if chip not in NVLINKS:
        raise _missing(node, "node.link", f"the links of {chip}", "--set node.link=nvlink4")
    return NVLINKS[chip]


def _cables(node: Node, name: str, one: float, host: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The links between chips as drawn, and every chip's slot."""
    cables = [
        {"ends": [f"chip{a}", f"chip{b}"], "link": name, "bandwidth": _rate(one * count)}
        for (a, b), count in sorted(node.links.items())
        if count
    ]
    place = joined(node.gpus, (pair for pair, near in node.near.items() if near != "SYS"))
    slots = [{"ends": [f"chip{gpu}", f"host{place[gpu]}"], "link": host["link"]}
             for gpu in range(node.gpus)]  # fmt: skip
    between = [{"ends": [f"host{index}", f"host{index + 1}"], "link": host["link"]}
               for index in range(max(place.values()))]  # fmt: skip
    return [*cables, *slots, *between]


def _host(node: Node, chip: str) -> dict[str, Any]:
    pairs = ((pair, near) for pair, near in node.near.items())
    switches = joined(node.gpus, (pair for pair, near in pairs if near in _BEHIND_ONE_SWITCH))
    count = max(switches.values()) + 1
    even = node.gpus % count == 0 and count < node.gpus
    sockets = node.sockets
    if sockets is None:
        close = (pair for pair, near in node.near.items() if near and near != "SYS")
        sockets = max(joined(node.gpus, close).values()) + 1 if node.near else 1
    host: dict[str, Any] = {"link": node.slot or _PCIE.get(chip, "pcie5x16")}
    host["switches"] = count if even else 0
    host["sockets"] = sockets if 1 < sockets <= node.gpus and node.gpus % sockets == 0 else 1
    if even and count % host["sockets"]:
        host["switches"] = 0
    if host["sockets"] > 1:
        host["socket_bandwidth"] = BETWEEN_SOCKETS
    peers = node.peers if node.peers is not None else chip not in _NO_PEERS
    return host if peers else {**host, "peer_to_peer": False}


def joined(count: int, pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return the number of the group of each of ``count`` things, given joined pairs."""
    group = list(range(count))

    def root(one: int) -> int:
        while group[one] != one:
            group[one] = group[group[one]]
            one = group[one]
        return one

    for one, other in pairs:
        group[root(max(one, other))] = root(min(one, other))
    roots = [root(one) for one in range(count)]
    order = {one: index for index, one in enumerate(dict.fromkeys(roots))}
    return {one: order[roots[one]] for one in range(count)}


def _rate(bandwidth: float) -> str:
    return f"{bandwidth / 1e9:.6g} GB/s per direction"


def _missing(node: Node, place: str, what: str, example: str) -> InputError:
    rule = f"the file does not say {what}"
    fix = f"for example {example}, or paste `nvidia-smi -L` above it"
    return InputError(Problem(file=node.file, field=place, found="nothing", rule=rule, fix=fix))
