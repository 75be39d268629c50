"""Topologies for Kubernetes schedulers: Kueue, Topograph's models, Volcano's HyperNodes.

Kueue's ``Topology`` lists node labels from the widest level to the host
(``spec.levels[].nodeLabel``). A Topograph model lists switches and, per leaf, blocks of nodes. A
Volcano discovery configuration names its sources (ufm, roce, label) and the labels of each type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from artery.core.cabling import Cabling
from artery.errors import InputError, Problem
from artery.formats.cabling.logical_tree import tree
from artery.formats.k8s.documents import Object, kinds_in, name_of, objects_in, words
from artery.formats.reading import Format, Ignored, Reading
from artery.formats.slurm.hostlist import expand
from artery.formats.syntax.json_text import inside, tables
from artery.formats.text import Text
from artery.formats.wording import counted

_KUEUE: Final = re.compile(r"""apiVersion["']?\s*:\s*["']?kueue\.x-k8s\.io/""")
_VOLCANO: Final = re.compile(r"(?m)^[ \t]*networkTopologyDiscovery\s*:|topology\.volcano\.sh/")
_MODEL: Final = re.compile(r"(?m)^(?:switches|blocks)\s*:")


def _recognise(text: Text) -> float:
    if _VOLCANO.search(text.head):
        return 0.9
    if _KUEUE.search(text.head) and kinds_in(text) & {"Topology", "ResourceFlavor"}:
        return 0.9
    parts = {found.rstrip(": ") for found in _MODEL.findall(text.head)}
    return 0.85 if len(parts) == 2 and "switches:" in text.head else 0.0


def _read(text: Text) -> Reading:
    objects = objects_in(text)
    fields: dict[str, Any] = {"source": None}
    warnings: list[str] = []
    used = 0
    for one in objects:
        if str(one.get("apiVersion", "")).startswith("kueue.x-k8s.io/"):
            used += _kueue(one, fields)
        elif "networkTopologyDiscovery" in one:
            used += _volcano(one, fields, warnings)
        elif one.get("kind") == "HyperNode":
            used += _hypernode(one, fields)
        elif isinstance(one.get("switches"), dict) or isinstance(one.get("blocks"), list):
            used += _topograph(text, one, fields)
    if not used:
        rule = "a topology is Kueue's Topology, a Topograph model or Volcano's discovery"
        fix = "send the whole file"
        raise InputError(Problem(file=text.path, found="none of them", rule=rule, fix=fix))
    _check_levels(fields, warnings)
    ignored = (Ignored(1, len(objects) - used, "other objects"),) if used < len(objects) else ()
    return Reading(
        "k8s-topology",
        "system",
        tuple(_summary(fields))[:5],
        fields,
        tuple(warnings),
        ignored,
        cabling=_cabling(text, objects),
    )


def _cabling(text: Text, objects: Iterable[Object]) -> Cabling | None:
    """Return the tree of a Topograph model or of HyperNodes; the others name no nodes."""
    nodes: dict[str, list[str]] = {}
    above: list[tuple[str, str]] = []
    for one in objects:
        if one.get("kind") == "HyperNode":
            for kind, name in _members(one):
                if kind == "Node":
                    nodes.setdefault(name_of(one), []).append(name)
                else:
                    above.append((name, name_of(one)))
            continue
        listed = one.get("switches")
        for name, table in listed.items() if isinstance(listed, dict) else ():
            below = inside(table, "switches")
            above += [(str(each), str(name)) for each in below if below] if below else []
        for block in tables(one.get("blocks")):
            switch = block.get("switch") or block.get("name") or f"block {len(nodes)}"
            nodes.setdefault(str(switch), []).extend(_nodes(text, block.get("nodes")))
    return tree(text.path, "k8s-topology", nodes, above)


def _members(one: Object) -> Iterator[tuple[str, str]]:
    """Yield kind and name of what a HyperNode joins, as far as it is named."""
    for member in tables(inside(one, "spec", "members")):
        name = inside(member, "selector", "exactMatch", "name")
        if isinstance(name, str):
            yield str(member.get("type")), name


def _kueue(one: Object, fields: dict[str, Any]) -> int:
    fields["source"] = "kueue"
    kind = str(one.get("kind"))
    fields.setdefault("kinds", []).append(kind)
    if kind == "Topology":
        labels = [str(level.get("nodeLabel")) for level in tables(inside(one, "spec", "levels"))]
        fields.setdefault("topologies", []).append({"name": name_of(one), "levels": labels})
        fields.setdefault("levels", labels)
        fields["api_version"] = one["apiVersion"]
    elif kind == "ResourceFlavor":
        flavor = {"name": name_of(one), "topology": inside(one, "spec", "topologyName")}
        flavor["node_labels"] = words(inside(one, "spec", "nodeLabels"))
        flavor["tolerations"] = tables(inside(one, "spec", "tolerations"))
        fields.setdefault("flavors", []).append(flavor)
    elif kind == "ClusterQueue":
        groups = tables(inside(one, "spec", "resourceGroups"))
        covered = [resource for group in groups for resource in group.get("coveredResources") or []]
        fields.setdefault("resources", []).extend(str(resource) for resource in covered)
    return 1


def _volcano(one: Object, fields: dict[str, Any], warnings: list[str]) -> int:
    fields["source"] = "volcano"
    sources = tables(one["networkTopologyDiscovery"])
    fields["sources"] = [
        {"source": str(each.get("source")), "enabled": bool(each.get("enabled"))}
        for each in sources
    ]
    types: dict[str, list[str]] = {}
    for each in sources:
        listed = inside(each, "config", "networkTopologyTypes")
        for name, levels in listed.items() if isinstance(listed, Mapping) else ():
            types[str(name)] = [str(level.get("nodeLabel")) for level in tables(levels)]
        if inside(each, "config", "insecureSkipVerify"):
            warnings.append(f"{each.get('source')}: certificates are not checked")
        if inside(each, "config", "token"):
            warnings.append(f"{each.get('source')}: a token stands in the file")
    fields["types"] = types
    return 1


def _hypernode(one: Object, fields: dict[str, Any]) -> int:
    fields["source"] = "volcano"
    members = tables(inside(one, "spec", "members"))
    found = {"name": name_of(one), "tier": inside(one, "spec", "tier"), "members": len(members)}
    fields.setdefault("hypernodes", []).append(found)
    return 1


def _topograph(text: Text, one: Object, fields: dict[str, Any]) -> int:
    fields["source"] = "topograph"
    listed = one.get("switches")
    switches = listed if isinstance(listed, dict) else {}
    below = {
        str(name): [str(each) for each in inside(table, "switches") or []]
        for name, table in switches.items()
        if isinstance(inside(table, "switches") or [], list)
    }
    blocks: list[dict[str, Any]] = []
    for block in tables(one.get("blocks")):
        nodes = _nodes(text, block.get("nodes"))
        notes = words(block.get("annotations")) | words(block.get("labels"))
        domain = next((value for key, value in notes.items() if key.endswith("/domain")), None)
        blocks.append({"switch": str(block.get("switch")), "nodes": len(nodes), "domain": domain,
                       "first": nodes[0] if nodes else None})  # fmt: skip
    names = set(below) | {each for listed in below.values() for each in listed}
    names |= {block["switch"] for block in blocks if block["switch"] != "None"}
    fields |= {
        "switches": len(names),
        "tree": below,
        "blocks": blocks,
        "block_count": len(blocks),
        "nodes": sum(block["nodes"] for block in blocks),
        "nodes_per_block": sorted({block["nodes"] for block in blocks}),
        "domains": sorted({block["domain"] for block in blocks if block["domain"]}),
    }
    return 1


def _nodes(text: Text, listed: object) -> list[str]:
    found = listed if isinstance(listed, list) else [listed] if listed else []
    try:
        return [name for words_ in found for name in expand(str(words_))]
    except InputError as error:
        raise error.at(file=text.path, field="nodes") from None


def _check_levels(fields: dict[str, Any], warnings: list[str]) -> None:
    levels = fields.get("levels")
    if levels and levels[-1] != "kubernetes.io/hostname":
        warnings.append(
            "the lowest level is not kubernetes.io/hostname: taints of nodes are ignored"
        )
    if levels and "resources" in fields and not any("gpu" in one for one in fields["resources"]):
        warnings.append("the queue covers no GPU resource: placement by topology for CPU jobs only")
    for flavor in fields.get("flavors", ()):
        known = [one["name"] for one in fields.get("topologies", ())]
        if known and flavor["topology"] not in known:
            warnings.append(
                f"flavor {flavor['name']} names topology {flavor['topology']}, not in the file"
            )
    if len(fields.get("nodes_per_block", ())) > 1:
        warnings.append("blocks differ in their number of nodes")


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    yield f"topology for {fields['source']}"
    if fields.get("levels"):
        yield "levels: " + " > ".join(fields["levels"])
    if fields.get("blocks"):
        yield (
            f"{counted(fields['nodes'], 'node')} in {counted(fields['block_count'], 'block')}, "
            f"{fields['switches']} switches"
        )
    for one in fields.get("sources", ()):
        yield f"source {one['source']}: {'on' if one['enabled'] else 'off'}"


FORMAT: Final = Format("k8s-topology", "system", _recognise, _read)
