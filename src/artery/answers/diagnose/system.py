"""The system that a case is held against: the one that was named, or one made of the facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from artery.answers.expect_pricing import Setting
from artery.answers.systems import file_and_chips, is_foreign, node_of, system_of
from artery.catalog.chips import chip as chip_of
from artery.catalog.links import link as link_of
from artery.catalog.loader import entry
from artery.diagnoser.case import Case, Curve, Fact
from artery.diagnoser.verdict import Missing
from artery.errors import InputError
from artery.formats.node_table import NVLINKS
from artery.units import show_line_rate

_BASES: Final[Mapping[str, str]] = {
    "v100": "dgx-1v", "v100-16g": "dgx-1v", "a100-40g": "dgx-a100", "a100-80g": "dgx-a100",
    "a800": "hgx-a800", "h100-sxm": "dgx-h100", "h800": "hgx-h800", "h200": "dgx-h200",
    "b200": "dgx-b200", "a100-80g-pcie": "pcie-a100", "l40s": "pcie-a100",
    "rtx5090": "rtx5090x8", "rtx3090": "rtx3090x2", "mi300x": "mi300x-8", "mi325x": "mi325x-8",
    "mi355x": "mi355x-8", "gb200": "gb200-nvl72", "gb300": "gb300-nvl72",
}  # fmt: skip
"""The common server of a chip; its network is replaced by what the facts say."""

_FABRICS: Final[Mapping[str, tuple[str, ...]]] = {
    "infiniband": ("ib-edr", "ib-hdr", "ib-ndr", "ib-xdr", "ib-fdr"),
    "roce": ("roce-100g", "roce-200g", "roce-400g", "roce-800g"),
    "efa": ("efa-100g", "efa-200g", "efa-400g"),
    "ethernet": ("eth10", "eth25", "eth40", "eth100", "eth200", "eth400"),
    "slingshot": ("slingshot11",),
    "omni-path": ("omnipath100", "omnipath-cn5000"),
}


RANKS: Final = Missing(
    "ranks",
    "busbw and its limit depend on the number of GPUs",
    "the header of the test (# Rank ...), or ranks in a facts file",
)
NETWORK: Final = Missing(
    "network",
    "two nodes or more go at the rate of their network cards",
    "how many cards a node has, and their rate: ibstat, rdma link, or --on SYSTEM",
)
CHIP: Final = Missing(
    "chip", "the links of a node follow from its chips", "nvidia-smi -L, or --on SYSTEM"
)


def _unknown_server(chip: str) -> Missing:
    return Missing(
        "system",
        f"no common server of {chip} is known here: how its chips are joined decides",
        "--on SYSTEM, or a file of ours with its node",
    )


NODES: Final = "how many nodes took part (--on must be the system that was measured)"


@dataclass(frozen=True, slots=True)
class Stand:
    """``setting`` to hold a curve against; ``None`` with what is ``missing``.

    ``assumed`` says what nobody stated and was taken from the common server of the chip. ``base``
    with ``overrides`` and ``nccl`` is how the system was made; any number of chips can be.
    """

    setting: Setting | None
    name: str | None
    missing: tuple[Missing, ...] = ()
    assumed: tuple[str, ...] = ()
    base: str = ""
    overrides: tuple[str, ...] = ()
    nccl: str | None = None


def on_leaves(stand: Stand, nodes: int) -> Setting | None:
    """Return the same kind of system with so many whole nodes; ``None`` if it has no such size."""
    if stand.setting is None or not stand.base or is_foreign(stand.base):
        return None
    chips = nodes * stand.setting.system.chips_per_node
    try:
        return Setting.make(
            f"{stand.base}:{chips}", overrides=stand.overrides, chips_per_node=None,
            nccl=stand.nccl, addable=True,
        )  # fmt: skip
    except InputError:
        return None


@dataclass(frozen=True, slots=True)
class Asked:
    """What was named: the system ``on`` with ``overrides``.

    ``file`` is one among the files that describes a node, ``cabled`` one that describes a network
    of two tiers, on which the measured system stands.
    """

    on: str | None = None
    overrides: tuple[str, ...] = ()
    file: str | None = None
    cabled: str | None = None


def stand_for(case: Case, curve: Curve, asked: Asked) -> Stand:
    """Return what ``curve`` is held against."""
    on, overrides, file = asked.on, asked.overrides, asked.file
    ranks = curve.ranks or _whole(case, "ranks")
    if ranks is None and on is None and "system" not in case.facts:
        return _of_whole_nodes(case, curve, overrides)
    named = on or case.facts.get("system")
    nodes = curve.nodes or _whole(case, "nodes")
    if on is not None and asked.cabled is not None:
        return _as_designed(case, ranks, nodes, on, overrides)
    if isinstance(named, str):
        return _named(case, ranks, nodes, named, overrides)
    if ranks is None:
        return Stand(None, on, (RANKS,))
    if file is not None and nodes in (None, 1):
        try:
            return _setting(file, ranks, 1, overrides, case)
        except InputError:
            pass  # the file says too little for a system; the facts may say more
    case, assumed = _with_chip(case, nodes)
    found = _from_facts(case, ranks, nodes, overrides)
    return replace(found, assumed=(*found.assumed, *assumed))


def server_of(case: Case) -> str | None:
    """Return the system that the files name, else the common server of their chip."""
    named = case.facts.get("system")
    return named if isinstance(named, str) else _BASES.get(str(case.facts.get("chip")))


def node_for(case: Case, overrides: Sequence[str]) -> str | None:
    """Return the system whose node the hosts of a network file are.

    As ``node=`` among the overrides says, else the common server of the chip that the files name.
    """
    return node_of(overrides)[0] or _BASES.get(str(case.facts.get("chip")))


def _as_designed(
    case: Case, ranks: int | None, nodes: int | None, on: str, overrides: Sequence[str]
) -> Stand:
    """Return the network of a file with none of its cables missing.

    What is missing is a cause, which must not be in the expectation already.
    """
    node = node_for(case, overrides)
    if node is None:
        system_of(on, overrides)  # which says what is missing
        return Stand(None, on, (CHIP,))
    server = system_of(node)
    each = server.chips_per_node
    if ranks is None:
        if nodes is None:
            return Stand(None, on, (RANKS,))
        ranks = nodes * (_whole(case, "gpus_per_node") or each)
    told = replace(case, facts={**case.facts, "chip": server.chip.name})
    found = _from_facts(told, ranks, nodes, node_of(overrides)[1], node)
    whole = f"the network of {file_and_chips(on)[0]} with all of its cables"
    return replace(found, assumed=(*found.assumed, whole))


_SERVERS: Final = ((15e9, "v100"), (30e9, "a100-80g"), (60e9, "h100-sxm"), (120e9, "b200"))
"""The chip of the servers that cards up to a rate in B/s came with: 100, 200, 400, 800 Gb/s."""


def _of_whole_nodes(case: Case, curve: Curve, overrides: Sequence[str]) -> Stand:
    """Return whole nodes where nobody counted the ranks.

    Between nodes the cards decide, so that even the chip may be assumed, by the cards' rate.
    """
    nodes = curve.nodes or _whole(case, "nodes")
    case, assumed = _with_chip(case, nodes)
    base = _BASES.get(str(case.facts.get("chip")))
    if nodes is None or base is None:
        return Stand(None, None, (RANKS,))
    each = _whole(case, "gpus_per_node") or system_of(base).chips_per_node
    found = _from_facts(case, each * nodes, nodes, overrides)
    whole = f"all {each} chips of a node take part"
    return replace(found, assumed=(*found.assumed, *assumed, whole))


def _with_chip(case: Case, nodes: int | None) -> tuple[Case, tuple[str, ...]]:
    """Return the case, with the usual chip of its cards if none is named, and what was assumed."""
    rate = case.facts.get("nic_rate")
    if "chip" in case.facts or nodes is None or nodes < 2 or not isinstance(rate, float):
        return case, ()
    chip = next((name for most, name in _SERVERS if rate <= most), "b200")
    said = f"servers of {chip}, as usual with cards of {show_line_rate(rate)}"
    return replace(case, facts={**case.facts, "chip": chip}), (said,)


def _named(
    case: Case, ranks: int | None, nodes: int | None, on: str, overrides: Sequence[str]
) -> Stand:
    """Return the system that was named; of whole nodes where nobody counted the ranks."""
    base = on.rpartition(":")[0] if ":" in on and on.rpartition(":")[2].isdecimal() else on
    if ranks is not None:
        return _setting(base, ranks, nodes, overrides, case)
    if nodes is None:
        return Stand(None, on, (RANKS,))
    each = _whole(case, "gpus_per_node") or system_of(base, overrides).chips_per_node
    found = _setting(base, each * nodes, nodes, overrides, case)
    return replace(found, assumed=(*found.assumed, f"all {each} chips of a node take part"))


def _setting(
    name: str, ranks: int, nodes: int | None, overrides: Sequence[str], case: Case
) -> Stand:
    """Return ``ranks`` spread evenly over ``nodes`` of the system called ``name``."""
    system = system_of(name, overrides)
    nodes = nodes or -(-ranks // system.chips_per_node)
    per_node = -(-ranks // nodes)
    whole = system.chips_per_node
    if per_node > whole:
        why = f"{ranks} ranks on {nodes} node(s), but a node of {name} has {whole} chips"
        return Stand(None, name, (Missing("nodes", why, NODES),))
    nccl = _release(case.facts.get("nccl")) if system.library == "nccl" else None
    spec = name if is_foreign(name) and nodes == 1 else f"{name}:{nodes * whole}"
    try:
        setting = Setting.make(
            spec,
            overrides=overrides,
            chips_per_node=per_node if per_node < whole else None,
            nccl=nccl,
            addable=True,
        )
    except InputError:
        if nodes == 1:
            raise
        return Stand(None, name, (NETWORK,))  # a node without a network of its own
    return Stand(setting, spec, base=name, overrides=tuple(overrides), nccl=nccl)


def _from_facts(
    case: Case,
    ranks: int,
    nodes: int | None,
    overrides: Sequence[str],
    server: str | None = None,
) -> Stand:
    """Return nodes like ``server``, else like the common server of the chip, as the facts say."""
    chip = case.facts.get("chip")
    base = server or _BASES.get(str(chip))
    if base is None:
        return Stand(None, None, (CHIP if chip is None else _unknown_server(str(chip)),))
    per_node = _whole(case, "gpus_per_node") or system_of(base).chips_per_node
    nodes = nodes or -(-ranks // per_node)
    laid = [f"chip={chip}", *_node_overrides(case, base, per_node)]
    assumed = [f"a node like {base}"]
    if nodes > 1:
        network = _network(case, base, per_node)
        if network is None:
            return Stand(None, base, (NETWORK,))
        laid += network
    try:
        found = _setting(base, ranks, nodes, [*laid, *overrides], case)
    except InputError as error:
        if overrides and _can_be(base, ranks, nodes, laid, case):
            raise  # the overrides are at fault
        fact = Missing("system", "; ".join(map(str, error.problems)), "--on SYSTEM")
        return Stand(None, base, (fact,))
    return replace(found, assumed=tuple(assumed))


def _can_be(base: str, ranks: int, nodes: int, laid: Sequence[str], case: Case) -> bool:
    try:
        _setting(base, ranks, nodes, laid, case)
    except InputError:
        return False
    return True


def _node_overrides(case: Case, base: str, per_node: int) -> list[str]:
    """Return a node of another number of chips, or of direct links, where the facts say so."""
    values = entry("systems", base).values.get("node", {})
    direct = _direct_links(case, per_node)
    if direct:
        return [f"node.chips={per_node}", *direct]
    changeable = values.get("kind") in {"nvswitch", "full-mesh", "pcie-tree"}
    if not changeable or "gpus_per_node" not in case.facts:
        return []
    laid = [f"node.chips={per_node}"]
    if per_node % int(values.get("host", {}).get("switches", 1) or 1):
        laid.append("node.host.switches=0")
    if per_node % int(values.get("host", {}).get("sockets", 1) or 1):
        laid.append("node.host.sockets=1")
    return laid


def _direct_links(case: Case, per_node: int) -> list[str]:
    """Return a full mesh of so many NVLinks to each other chip; none if a switch joins them.

    ``nvlinks`` counts those of one pair. Where a chip has enough for all others at once, and not
    all of them lead to each, they are direct.
    """
    each = _whole(case, "nvlinks")
    name, most = NVLINKS.get(str(case.facts.get("chip")), ("", 0))
    if not each or per_node < 2 or each >= most or each * (per_node - 1) > most:
        return []
    rate = link_of(name).bandwidth * each / most / 1e9
    return [
        "node.kind=full-mesh",
        f"node.link={name}",
        f"node.bandwidth={rate:.6g} GB/s per direction",
        "node.reduction=none",
    ]


def _network(case: Case, base: str, per_node: int) -> list[str] | None:
    """Return the overrides that say what network the facts tell of, ``None`` if none."""
    count, rate = _whole(case, "nics_per_node"), case.facts.get("nic_rate")
    if count is None or not isinstance(rate, float):
        return None
    count = _driven(base, count, rate, per_node)
    linked = link_for(str(case.facts.get("fabric", "infiniband")), rate)
    laid = [f"fabric.nic.link={linked}", f"fabric.nic.count={count}"]
    if abs(link_of(linked).bandwidth - rate) > 0.01 * rate:
        laid.append(f"fabric.nic.bandwidth={show_line_rate(rate)}")
    shown = _as_cabled(case)
    bare = not {"fabric", "base"} & set(entry("systems", base).values)
    if bare:
        laid.append(f"fabric.hop={1e-6} s")
    if shown:
        laid += shown
    elif bare:
        laid.append('fabric.tiers=[{name = "leaf", nodes = 64}, {name = "spine"}]')
    elif count != per_node:
        laid.append("fabric.rails=false")
    return laid


def is_pcie_only(chip: str) -> bool:
    """Whether the chips of the common server of ``chip`` reach each other over PCIe alone."""
    base = _BASES.get(chip)
    if base is None:
        return False
    return bool(entry("systems", base).values.get("node", {}).get("kind") == "pcie-tree")


def vendor_of(case: Case, stand: Stand | None) -> str | None:
    """Return who makes the chips that were measured, ``None`` where nobody named them."""
    if stand is not None and stand.setting is not None:
        return stand.setting.system.chip.vendor
    try:
        return chip_of(str(case.facts["chip"])).vendor if "chip" in case.facts else None
    except InputError:
        return None


def nvlinks_of(chip: str) -> float | None:
    """Return how many NVLinks ``chip`` has.

    ``None`` if the catalog does not know it, or its links to other chips are of another kind.
    """
    try:
        ports = chip_of(chip).ports
    except InputError:
        return None
    if {port.kind for port in ports} - {"nvlink", "pcie"}:
        return None
    return float(sum(port.count for port in ports if port.kind == "nvlink"))


def link_for(fabric: str, rate: float) -> str:
    """Return the class of link of that kind of network whose rate in B/s is nearest."""
    known = _FABRICS.get(fabric, _FABRICS["infiniband"])
    return min(known, key=lambda name: abs(link_of(name).bandwidth - rate))


def _as_cabled(case: Case) -> list[str]:
    """Return the overrides of a network of two tiers, as a cabling among the files shows it."""
    under, taper = _whole(case, "nodes_per_leaf"), case.facts.get("leaf_taper")
    if under is None:
        return []
    rails = "true" if case.facts.get("rails") else "false"
    above = f", taper = {taper:.6g}" if isinstance(taper, float) and taper > 1 else ""
    return [
        f"fabric.rails={rails}",
        f'fabric.tiers=[{{name = "leaf", nodes = {under}}}, {{name = "spine"{above}}}]',
    ]


def _driven(base: str, count: int, rate: float, per_node: int) -> int:
    """Return how many of ``count`` cards the chips of a node can fill through their slots."""
    slot = entry("systems", base).values.get("node", {}).get("host", {}).get("link")
    if slot is None:
        return count
    return max(1, min(count, int(per_node * link_of(slot).bandwidth / rate)))


def _whole(case: Case, name: str) -> int | None:
    value: Fact | None = case.facts.get(name)
    return int(value) if isinstance(value, float) and 1 <= value < 10_000_000 else None


def _release(text: Fact | None) -> str | None:
    """Return the release of NCCL 2 in ``2.18.3+cuda12.2``; ``None`` where there is none."""
    numbers = str(text).partition("+")[0].split(".")
    if text is None or not all(part.isdecimal() for part in numbers) or numbers[0] != "2":
        return None
    return ".".join(numbers[:3]) if len(numbers) >= 2 else None
