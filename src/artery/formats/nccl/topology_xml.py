"""NCCL's and RCCL's topology file (``NCCL_TOPO_FILE``, ``NCCL_TOPO_DUMP_FILE``): one node.

``<system>`` holds processors, PCIe devices in a tree below them, GPUs with their NVLinks or xGMI
links, and network cards. Providers ship *templates*: PCIe only, completed when a job starts.
A slot gives width x {2.5: 15, 5: 30, 8: 60, 16: 120, 32: 240, 64: 480} / 80 GB/s (NCCL, topo.cc).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from artery.catalog.systems import described
from artery.errors import InputError, Problem
from artery.formats.gpus.node_table import Node, joined, node_table
from artery.formats.passed import runs
from artery.formats.reading import Format, Ignored, Reading
from artery.formats.syntax.xml_text import root_of
from artery.formats.text import Text
from artery.formats.wording import counted

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_SPEED: Final = {"2.5": 15, "5": 30, "8": 60, "16": 120, "32": 240, "64": 480}
_SLOT: Final = {"8": "pcie3x16", "16": "pcie4x16", "32": "pcie5x16", "64": "pcie6x16"}
_DEVICES: Final = {
    "0x20b0": "a100-40g", "0x20b2": "a100-80g", "0x20b5": "a100-80g-pcie", "0x20f1": "a100-40g",
    "0x2330": "h100-sxm", "0x2331": "h100-pcie", "0x2335": "h200", "0x2324": "h800",
    "0x2901": "b200", "0x1db1": "v100-16g", "0x1db5": "v100", "0x15f9": "p100",
    "0x74a1": "mi300x", "0x74a5": "mi325x", "0x75a3": "mi355x", "0x740c": "mi250x",
}  # fmt: skip
"""PCI device to chip (pci.ids)."""

_SYSTEM: Final = re.compile(r"<system\s[^>]{0,200}version=|<system\s*>")
_GPU_CLASSES: Final = ("0x03", "0x12", "0x0b")
_KNOWN_TAGS: Final = frozenset(
    {"system", "cpu", "pci", "gpu", "nvlink", "xgmi", "c2c", "nic", "net", "pcilink", "cap"}
)


@dataclass(slots=True)
class _Device:
    """A PCIe function: its address, the addresses of the bridges above it, its processor."""

    busid: str
    above: tuple[str, ...]
    numa: str
    attributes: dict[str, str]
    inside: list[Element] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """The first four digits of the PCI class: ``0x0302``."""
        return self.attributes.get("class", "")[:6].lower()


@dataclass(slots=True)
class _Found:
    """Everything in the file."""

    cpus: list[dict[str, str]] = field(default_factory=list)
    devices: list[_Device] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    joined: int = 0


def _recognise(text: Text) -> float:
    begins = text.head.lstrip().startswith("<")
    return 0.97 if begins and _SYSTEM.search(text.head) and "<cpu" in text.head else 0.0


def _read(text: Text) -> Reading:
    root = root_of(text)
    if root.tag != "system":
        rule = "the root of a topology is <system>"
        fix = "a <graphs> file is nccl-graph-xml"
        raise InputError(Problem(file=text.path, found=f"<{root.tag}>", rule=rule, fix=fix))
    found = _Found()
    for cpu in root.iter("cpu"):
        found.cpus.append(dict(cpu.attrib))
        _walk(cpu, (), cpu.get("numaid", ""), found)
    _unknown(root, found)
    fields = _fields(root, found)
    if not found.devices:
        rule = "a topology names PCIe devices"
        raise InputError(Problem(file=text.path, found="no <pci>", rule=rule, fix="send it whole"))
    table = partial(_table, _node(found, fields, text.path), fields)
    system = None
    doubts: tuple[str, ...] = ()
    if fields["chip"] and not fields["template"]:
        try:
            system = described(table(None), text.path)
        except InputError as error:
            doubts = tuple(f"no system can be made of it: {one}" for one in error.problems)
    ignored = _ignored(text, found)
    return Reading(
        "nccl-topology-xml", "system", tuple(_summary(fields)), fields,
        (*_warnings(fields), *doubts), ignored, system, (), table,
    )  # fmt: skip


def _walk(parent: Element, above: tuple[str, ...], numa: str, found: _Found) -> None:
    for pci in parent.findall("pci"):
        busid = pci.get("busid", "").lower()
        device = _Device(
            busid, above, numa, dict(pci.attrib), [one for one in pci if one.tag != "pci"]
        )
        found.devices.append(device)
        found.joined += len(pci.findall("pcilink"))
        _walk(pci, (*above, busid), numa, found)


def _unknown(root: Element, found: _Found) -> None:
    for one in root.iter():
        if one.tag not in _KNOWN_TAGS:
            found.unknown[one.tag] += 1


def _ignored(text: Text, found: _Found) -> tuple[Ignored, ...]:
    entries: list[Ignored] = []
    for tag, count in found.unknown.items():
        line = next((n for n, line in enumerate(text.lines, 1) if f"<{tag}" in line), 1)
        entries += [Ignored(one.line, count, f"<{tag}> is not known") for one in runs([line], "")]
    return tuple(entries[:20])


def _is_gpu(device: _Device) -> bool:
    return device.kind.startswith(_GPU_CLASSES) or any(one.tag == "gpu" for one in device.inside)


def _slot(device: _Device) -> tuple[str, float | None]:
    """Return the generation's GT/s and the B/s per direction of the device's slot."""
    speed = re.match(r"\s*(\d{1,3}(?:\.\d)?)", device.attributes.get("link_speed", ""))
    rate = speed[1].removesuffix(".0") if speed else ""
    width = device.attributes.get("link_width", "")
    lanes = int(width) if width.isdecimal() and len(width) < 4 else 16
    if rate not in _SPEED:
        return "", None
    return rate, (lanes or 16) * _SPEED[rate] / 80 * 1e9


def _gpu(device: _Device) -> dict[str, Any]:
    inner = next((one for one in device.inside if one.tag == "gpu"), None)
    attributes = dict(inner.attrib) if inner is not None else {}
    links = [
        {"kind": one.tag, "target": one.get("target", "").lower(),
         "count": _count(one.get("count")), "class": one.get("tclass", "")[:8].lower()}
        for one in (inner if inner is not None else ()) if one.tag in ("nvlink", "xgmi", "c2c")
    ]  # fmt: skip
    return {
        "busid": device.busid, "numa": device.numa, "class": device.attributes.get("class", ""),
        "slot_bytes_per_s": _slot(device)[1], "behind": list(device.above),
        "dev": attributes.get("dev"), "sm": attributes.get("sm"), "gcn": attributes.get("gcn"),
        "rank": attributes.get("rank"), "gdr": attributes.get("gdr") == "1" if attributes else None,
        "links": links,
    }  # fmt: skip


def _count(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() and len(text) < 5 else 1


def _nics(device: _Device) -> Iterator[dict[str, Any]]:
    ports = [net for nic in device.inside if nic.tag == "nic" for net in nic.iter("net")]
    bus = {"busid": device.busid, "numa": device.numa, "behind": list(device.above),
           "class": device.attributes.get("class", ""),
           "slot_bytes_per_s": _slot(device)[1]}  # fmt: skip
    if (not ports and device.kind == "0x0207") or (not ports and device.kind == "0x0200"):
        yield {
            **bus,
            "name": None,
            "rate_bytes_per_s": None,
            "gdr": None,
            "in_network_reduction": None,
        }
    for port in ports:
        speed = port.get("speed", "")
        rate = float(speed) * 1e6 / 8 if speed.isdecimal() and len(speed) < 10 else None
        yield {
            **bus, "name": port.get("name"), "port": port.get("port"), "guid": port.get("guid"),
            "rate_bytes_per_s": rate, "gdr": port.get("gdr") == "1",
            "in_network_reduction": port.get("coll") == "1",
        }  # fmt: skip


def _fields(root: Element, found: _Found) -> dict[str, Any]:
    devices = [one for one in found.devices if _is_gpu(one)]
    gpus = [_gpu(one) for one in devices]
    nics = [nic for one in found.devices if not _is_gpu(one) for nic in _nics(one)]
    nics += _loose_nics(root)
    switches = [one for one in found.devices if one.kind == "0x0604"]
    chips = {_DEVICES.get(one.attributes.get("device", "").lower()) for one in devices}
    template = bool(gpus) and not any(gpu["dev"] is not None for gpu in gpus)
    links = Counter(link["kind"] for gpu in gpus for link in gpu["links"])
    chip = chips.pop() if len(chips) == 1 else None
    return {
        "version": root.get("version"),
        "gpus": len(gpus),
        "nics": len(nics),
        "pcie_switches": len(switches),
        "virtual_switches": sum(one.busid.startswith("ffff") for one in switches),
        "cpus": len(found.cpus),
        "cpu": [{"numa": one.get("numaid"), "arch": one.get("arch"), "vendor": one.get("vendor"),
                 "family": one.get("familyid"), "model": one.get("modelid")} for one in found.cpus],
        "template": template,
        "link_entries": dict(links),
        "hives": _hives(gpus),
        "gpus_per_numa": dict(Counter(gpu["numa"] for gpu in gpus)),
        "nics_per_numa": dict(Counter(nic["numa"] for nic in nics)),
        "slot_bytes_per_s": sorted({gpu["slot_bytes_per_s"] for gpu in gpus} - {None}),
        "in_network_reduction": any(nic["in_network_reduction"] for nic in nics),
        "gdr": all(nic["gdr"] for nic in nics) if nics and not template else None,
        "gpu_list": gpus,
        "nic_list": nics,
        "chip": chip,
        "missing_facts": _missing(chip, template=template),
    }  # fmt: skip


def _hives(gpus: list[dict[str, Any]]) -> int | None:
    """Return the number of groups of GPUs that xGMI or NVLink joins directly; none if no links."""
    where = {gpu["busid"]: index for index, gpu in enumerate(gpus)}
    pairs = [
        (index, where[link["target"]])
        for index, gpu in enumerate(gpus)
        for link in gpu["links"]
        if link["target"] in where
    ]
    return max(joined(len(gpus), pairs).values()) + 1 if pairs else None


def _loose_nics(root: Element) -> list[dict[str, Any]]:
    """Return the cards that stand right under a processor, without a PCIe device (sockets)."""
    return [
        {"busid": None, "numa": cpu.get("numaid", ""), "behind": [], "class": "",
         "slot_bytes_per_s": None, "name": net.get("name"),
         "rate_bytes_per_s": float(speed) * 1e6 / 8,
         "gdr": net.get("gdr") == "1", "in_network_reduction": net.get("coll") == "1"}
        for cpu in root.iter("cpu") for nic in cpu.findall("nic") for net in nic.iter("net")
        if (speed := net.get("speed", "0")).isdecimal() and len(speed) < 10
    ]  # fmt: skip


def _missing(chip: str | None, *, template: bool) -> list[str]:
    missing = [] if chip else ["chip: which GPUs these are (nvidia-smi -L)"]
    if template:
        missing.append("links between GPUs: a dump of a real start (NCCL_TOPO_DUMP_FILE)")
    return missing


def _node(found: _Found, fields: dict[str, Any], path: str) -> Node:
    gpus = fields["gpu_list"]
    where = {gpu["busid"]: index for index, gpu in enumerate(gpus)}
    links: dict[tuple[int, int], int] = {}
    switched = 0
    for index, gpu in enumerate(gpus):
        for link in gpu["links"]:
            other = where.get(link["target"])
            if other is not None and other != index:
                pair = min(index, other), max(index, other)
                links[pair] = max(links.get(pair, 0), link["count"])
            elif link["kind"] == "nvlink" and link["class"].startswith("0x0680"):
                switched = max(switched, link["count"])
    if switched:
        links = dict.fromkeys(combinations(range(len(gpus)), 2), switched)
    near = {(a, b): _nearness(gpus[a], gpus[b]) for a, b in combinations(range(len(gpus)), 2)}
    speeds = {_slot(one)[0] for one in found.devices if _is_gpu(one)}
    slot = _SLOT.get(speeds.pop()) if len(speeds) == 1 else None
    sockets = 2 if len({gpu["numa"] for gpu in gpus}) > 1 else 1
    return Node(
        "node-from-xml", len(gpus), links, near, sockets, switched > 0, slot=slot, file=path
    )


def _nearness(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Return the PCIe class of two GPUs, as ``nvidia-smi topo -m`` names it."""
    if one["numa"] != other["numa"]:
        return "SYS"
    if one["behind"] and one["behind"][-1:] == other["behind"][-1:]:
        return "PIX"
    return "PXB" if one["behind"] and one["behind"][:1] == other["behind"][:1] else "PHB"


def _table(node: Node, fields: dict[str, Any], chip: str | None) -> dict[str, Any]:
    if fields["template"]:
        found = "a provider's template, completed when a job starts"
        rule = "it does not say how the GPUs are linked"
        fix = "give what NCCL_TOPO_DUMP_FILE writes, or `nvidia-smi topo -m`"
        raise InputError(Problem(file=node.file, found=found, rule=rule, fix=fix))
    return node_table(node, chip or fields["chip"])


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    what = "a provider's template of a node" if fields["template"] else "one node"
    chip = f" ({fields['chip']})" if fields["chip"] else ""
    gpus, nics, numa = fields["gpus"], fields["nics"], fields["cpus"]
    yield (f"{what}: {counted(gpus, 'GPU')}{chip}, {counted(nics, 'network card')}, "
           f"{counted(numa, 'NUMA node')}")  # fmt: skip
    slots = ", ".join(f"{rate / 1e9:g} GB/s" for rate in fields["slot_bytes_per_s"])
    switches, virtual = fields["pcie_switches"], fields["virtual_switches"]
    slots = slots or "unknown"
    yield f"{counted(switches, 'PCIe switch', 'es')} ({virtual} virtual); slots {slots}"
    for kind, count in fields["link_entries"].items():
        yield f"{count} {kind} entries, one for each end of a link"
    rates = Counter(
        nic["rate_bytes_per_s"] for nic in fields["nic_list"] if nic["rate_bytes_per_s"]
    )
    for rate, count in rates.items():
        yield f"{counted(count, 'port')} of {rate * 8 / 1e9:g} Gb/s"


def _warnings(fields: dict[str, Any]) -> Iterator[str]:
    if fields["template"]:
        yield ("a template: it names no GPUs and no NVLinks; the library adds them when a job "
               "starts, so it says only what hangs where")  # fmt: skip
    gpus, nics = fields["gpus_per_numa"], fields["nics_per_numa"]
    without = [numa for numa in gpus if numa not in nics]
    if nics and without:
        named = ", ".join(without)
        yield f"no network card on NUMA node {named}: its GPUs reach the network across sockets"
    rates = [nic["rate_bytes_per_s"] for nic in fields["nic_list"] if nic["rate_bytes_per_s"]]
    if rates and max(rates) <= 1.25e8:
        yield "the only network cards run at 1 Gb/s or less: a management network"
    counts = {link["count"] for gpu in fields["gpu_list"] for link in gpu["links"]}
    per = {sum(link["count"] for link in gpu["links"]) for gpu in fields["gpu_list"]}
    if len(counts) > 1 or len(per) > 1:
        yield f"links per GPU differ: {', '.join(map(str, sorted(per)))}"
    if fields["nic_list"] and fields["gdr"] is False:
        yield "not all cards can reach GPU memory directly (gdr=0)"


FORMAT = Format("nccl-topology-xml", "system", _recognise, _read)
