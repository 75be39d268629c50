"""Kubernetes nodes (``kubectl get nodes -o json`` or ``yaml``): GPUs, health, place in the network.

Labels are strings: ``nvidia.com/gpu.*`` from GPU feature discovery (``gpu.memory`` in MiB),
``fabric.topograph.run/tier-N`` and ``accelerator.topograph.run/domain`` from Topograph. What a
node can give is ``capacity``; what it gives now is ``allocatable``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from artery.core.cabling import Cabling
from artery.errors import InputError, Problem
from artery.formats.cabling.logical_tree import blocks, tree
from artery.formats.gpus.names import chip_of
from artery.formats.k8s.documents import Object, kinds_in, name_of, objects_in, words
from artery.formats.k8s.quantities import quantity
from artery.formats.reading import Format, Ignored, Reading
from artery.formats.syntax.json_text import inside, tables
from artery.formats.syntax.numerals import whole
from artery.formats.text import Text
from artery.formats.wording import counted

VENDORS: Final = ("nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "habana.ai/gaudi")
_MIG_RESOURCE: Final = re.compile(r"nvidia\.com/mig-[\w.-]{1,40}")
_MIG: Final = re.compile(r"MIG-(\d{1,2}g\.\d{1,4}gb(?:\.me)?)")
_TIER: Final = re.compile(r"(?:fabric|network)\.topograph\.run/tier-(\d{1,2})|"
                          r"network\.topology\.nvidia\.com/(\w{1,30})")  # fmt: skip
_DOMAIN: Final = ("accelerator.topograph.run/domain", "nvidia.com/gpu.clique",
                  "network.topology.nvidia.com/accelerator")  # fmt: skip


def _recognise(text: Text) -> float:
    return 0.9 if "Node" in kinds_in(text) else 0.0


def _read(text: Text) -> Reading:
    objects = objects_in(text)
    nodes = [_node(one) for one in objects if one.get("kind") == "Node"]
    if not nodes:
        rule = "a list of nodes has objects of kind Node"
        fix = "send the output of kubectl get nodes -o json"
        raise InputError(Problem(file=text.path, found="no node", rule=rule, fix=fix))
    fields = _fields(nodes)
    others = len(objects) - len(nodes)
    ignored = (Ignored(1, others, "objects that are no nodes"),) if others else ()
    return Reading("k8s-node", "state", tuple(_summary(fields))[:5], fields,
                   tuple(_warnings(nodes, fields)), ignored,
                   cabling=_cabling(text, nodes))  # fmt: skip


def _cabling(text: Text, nodes: list[dict[str, Any]]) -> Cabling | None:
    """Return the tree that the labels tell of nodes with GPUs; else their NVLink domains."""
    named = [one for one in nodes if one["gpus"] and one["name"]]
    placed = [one for one in named if one["tiers"]]
    if not placed:
        domains: dict[str, list[str]] = {}
        for one in named:
            if one["domain"]:
                domains.setdefault(one["domain"], []).append(one["name"])
        return blocks(text.path, "k8s-node", domains)
    leaves: dict[str, list[str]] = {}
    above: list[tuple[str, str]] = []
    for one in placed:
        way = [value for _, value in sorted(one["tiers"].items(), key=_height)]
        leaves.setdefault(way[0], []).append(one["name"])
        above += pairwise(way)
    return tree(text.path, "k8s-node", leaves, above)


def _height(tier: tuple[str, str]) -> tuple[int, str]:
    """Return where a tier stands: numbers from the leaves up, or leaf, spine, core by name."""
    name = tier[0]
    if name.isdecimal():
        return int(name), name
    order = ("leaf", "block", "spine", "core", "datacenter")
    return (order.index(name) if name in order else len(order)), name


def _node(one: Object) -> dict[str, Any]:
    labels = words(inside(one, "metadata", "labels"))
    capacity, free = words(inside(one, "status", "capacity")), words(
        inside(one, "status", "allocatable")
    )  # fmt: skip
    product = labels.get("nvidia.com/gpu.product") or labels.get("amd.com/gpu.product-name")
    mig = _MIG.search(product or "")
    memory = whole(labels.get("nvidia.com/gpu.memory"))
    replicas = whole(labels.get("nvidia.com/gpu.replicas"))
    ready = [c for c in tables(inside(one, "status", "conditions")) if c.get("type") == "Ready"]
    return {
        "name": name_of(one),
        "product": product,
        "chip": chip_of(product) if product and mig is None else None,
        "gpus": _gpus(capacity),
        "gpus_allocatable": _gpus(free),
        "gpus_labelled": whole(labels.get("nvidia.com/gpu.count")),
        "gpu_memory_bytes": memory * 2**20 if memory is not None else None,
        "mig_profile": mig[1] if mig else None,
        "mig_strategy": labels.get("nvidia.com/mig.strategy"),
        "mig_resources": {
            key: quantity(capacity[key]) for key in capacity if _MIG_RESOURCE.match(key)
        },
        "sharing": labels.get("nvidia.com/gpu.sharing-strategy"),
        "replicas": replicas,
        "tiers": _tiers(labels),
        "domain": next((labels[key] for key in _DOMAIN if key in labels), None),
        "zone": labels.get("topology.kubernetes.io/zone"),
        "instance_type": labels.get("node.kubernetes.io/instance-type"),
        "ready": any(c.get("status") == "True" for c in ready) if ready else None,
        "unschedulable": bool(inside(one, "spec", "unschedulable")),
        "cpus": quantity(capacity.get("cpu")),
        "memory_bytes": quantity(capacity.get("memory")),
        "rdma": sorted(
            key for key in capacity if key.startswith(("rdma/", "vpc.amazonaws.com/efa"))
        ),
    }


def _gpus(resources: Mapping[str, str]) -> int | None:
    """Return the whole GPUs in a table of resources; ``None`` if there is no such resource."""
    found = [quantity(resources[key]) for key in VENDORS if key in resources]
    return int(sum(one or 0 for one in found)) if found else None


def _tiers(labels: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for key, value in labels.items():
        tier = _TIER.fullmatch(key)
        if tier is not None and key not in _DOMAIN:
            found[tier[1] or tier[2]] = value
    return dict(sorted(found.items()))


def _fields(nodes: list[dict[str, Any]]) -> dict[str, Any]:
    levels = sorted({level for one in nodes for level in one["tiers"]})
    return {
        "node_count": len(nodes),
        "gpus": sum(one["gpus"] or 0 for one in nodes),
        "gpus_allocatable": sum(one["gpus_allocatable"] or 0 for one in nodes),
        "products": dict(Counter(one["product"] for one in nodes if one["product"])),
        "chips": sorted({one["chip"] for one in nodes if one["chip"]}),
        "tiers": {
            level: dict(Counter(one["tiers"][level] for one in nodes if level in one["tiers"]))
            for level in levels
        },
        "domains": dict(Counter(one["domain"] for one in nodes if one["domain"])),
        "sick": [one["name"] for one in nodes if _sick(one)],
        "nodes": nodes,
    }


def _sick(one: Mapping[str, Any]) -> bool:
    return one["gpus"] is not None and (one["gpus_allocatable"] or 0) < one["gpus"]


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    yield f"{counted(fields['node_count'], 'node')} with {counted(fields['gpus'], 'GPU')}"
    for product, count in list(fields["products"].items())[:2]:
        yield f"{counted(count, 'node')} of {product}"
    for level, switches in fields["tiers"].items():
        yield f"tier {level}: " + ", ".join(
            f"{count} on {name}" for name, count in list(switches.items())[:8]
        )


def _warnings(nodes: list[dict[str, Any]], fields: dict[str, Any]) -> Iterator[str]:
    for one in nodes:
        name = one["name"]
        if _sick(one):
            yield (
                f"{name} can give {one['gpus_allocatable'] or 0} of its {one['gpus']} GPUs: "
                "the device plugin counts the others as unhealthy"
            )
        if one["ready"] is False or one["unschedulable"]:
            yield f"{name} takes no pods ({'not ready' if one['ready'] is False else 'cordoned'})"
    slices = sorted({one["mig_profile"] for one in nodes if one["mig_profile"]})
    if slices:
        yield (
            f"MIG slices ({', '.join(slices)}): no NVLink and no peer-to-peer between them; NCCL "
            "cannot use several slices of one GPU together; no data-parallel training over them"
        )
    shared = sorted({one["sharing"] or "shared" for one in nodes if (one["replicas"] or 1) > 1})
    if shared:
        most = max(one["replicas"] or 1 for one in nodes)
        yield f"GPUs are shared ({', '.join(shared)}, x{most}): a resource is no whole GPU"
    if len(fields["products"]) > 1:
        yield "nodes have different GPUs: a job over both runs at the pace of the slower"


FORMAT: Final = Format("k8s-node", "state", _recognise, _read)
