"""The node and the network of a common server laid out as the facts say, as overrides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from artery.catalog.links import link as link_of
from artery.catalog.loader import entry
from artery.diagnoser.case import Case, count
from artery.formats.gpus.node_table import NVLINKS
from artery.units import show_line_rate

_FABRICS: Final[Mapping[str, tuple[str, ...]]] = {
    "infiniband": ("ib-edr", "ib-hdr", "ib-ndr", "ib-xdr", "ib-fdr"),
    "roce": ("roce-100g", "roce-200g", "roce-400g", "roce-800g"),
    "efa": ("efa-100g", "efa-200g", "efa-400g"),
    "ethernet": ("eth10", "eth25", "eth40", "eth100", "eth200", "eth400"),
    "slingshot": ("slingshot11",),
    "omni-path": ("omnipath100", "omnipath-cn5000"),
}
"""The classes of link of a kind of network."""


def node_overrides(case: Case, base: str, per_node: int) -> list[str]:
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
    each = count(case.facts, "nvlinks")
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


def network_overrides(case: Case, base: str, per_node: int) -> list[str] | None:
    """Return the overrides that say what network the facts tell of, ``None`` if none."""
    cards, rate = count(case.facts, "nics_per_node"), case.facts.get("nic_rate")
    if cards is None or not isinstance(rate, float):
        return None
    cards = _driven(base, cards, rate, per_node)
    linked = link_for(str(case.facts.get("fabric", "infiniband")), rate)
    laid = [f"fabric.nic.link={linked}", f"fabric.nic.count={cards}"]
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
    elif cards != per_node:
        laid.append("fabric.rails=false")
    return laid


def link_for(fabric: str, rate: float) -> str:
    """Return the class of link of that kind of network whose rate in B/s is nearest."""
    known = _FABRICS.get(fabric, _FABRICS["infiniband"])
    return min(known, key=lambda name: abs(link_of(name).bandwidth - rate))


def _as_cabled(case: Case) -> list[str]:
    """Return the overrides of a network of two tiers, as a cabling among the files shows it."""
    under, taper = count(case.facts, "nodes_per_leaf"), case.facts.get("leaf_taper")
    if under is None:
        return []
    rails = "true" if case.facts.get("rails") else "false"
    above = f", taper = {taper:.6g}" if isinstance(taper, float) and taper > 1 else ""
    return [
        f"fabric.rails={rails}",
        f'fabric.tiers=[{{name = "leaf", nodes = {under}}}, {{name = "spine"{above}}}]',
    ]


def _driven(base: str, cards: int, rate: float, per_node: int) -> int:
    """Return how many of ``cards`` the chips of a node can fill through their slots."""
    slot = entry("systems", base).values.get("node", {}).get("host", {}).get("link")
    if slot is None:
        return cards
    return max(1, min(cards, int(per_node * link_of(slot).bandwidth / rate)))
