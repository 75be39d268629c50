"""``NCCL_DEBUG=INFO`` logs of NCCL and RCCL, of one rank or a mixture of many.

Lines are ``host:pid:tid [device] NCCL INFO text``; some dumps have no prefix. What matters: which
network is used and whether it reaches GPU memory (``GDRDMA``), how ranks are connected, which
environment was set, and, with ``NCCL_DEBUG_SUBSYS=GRAPH``, the machine as NCCL sees it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.nccl.debug_graph import GraphLines
from artery.formats.passed import passed_over
from artery.formats.reading import Format, Reading
from artery.formats.text import Text

_LINE: Final = re.compile(
    r"(?:([\w.-]{1,80}):(\d{1,9}):(\d{1,9}) )?(?:\[(\d{1,4})\] )?(?:\S{1,80}:\d{1,5} )?"
    r"NCCL (INFO|WARN|TRACE|ERROR) (.{0,2000})"
)
_VERSION: Final = re.compile(r"N?R?CCL version :?\s?(\d+(?:\.\d+){1,3}(?:\+\w{1,20}(?:\.\d+)?)?)")
_USING: Final = re.compile(r"\[(\d{1,3})\]\s?([\w.-]{1,40}):(\d{1,3})/(IB|RoCE|uverbs\w*)")
_SOCKET: Final = re.compile(r"\[(\d{1,3})\]\s?([\w.-]{1,40}):([0-9a-fA-F.:%\w]{1,60})<\d+>")
_VIA: Final = re.compile(
    r"Channel (\d{1,3})(?:/\d{1,3})? : (\d{1,7})\[\w{1,16}\] -> (\d{1,7})\[\w{1,16}\]"
    r"(?: \[(send|receive)\])? via (\S{1,60}(?: pointer)?)"
)
_OLD_VIA: Final = re.compile(
    r"(?:via|:) (NET/[\w]{1,20}/\d{1,3}(?:/GDRDMA)?)(?: \[(?:send|receive)\])?"
)
_RING: Final = re.compile(
    r"Channel (\d{1,3})(?:/(\d{1,3}))? :\s+((?:\d{1,7}\s+){1,4000}\d{1,7})\s*$"
)
_TREES: Final = re.compile(r"\[(\d{1,3})\] (-?\d+(?:/-?\d+){0,2})->(\d+)->(-?\d+)")
_COMM: Final = re.compile(
    r"comm \S{1,40} rank (\d{1,7}) n[rR]anks (\d{1,7})(?: nNodes (\d{1,6}))?"
    r"(?:.{0,120}?MNNVL (\d))?"
)
_RANK: Final = re.compile(r"^rank (\d{1,7}) nranks (\d{1,7})")
_CHANNELS: Final = re.compile(
    r"(\d{1,3}) coll channels, (?:(\d{1,3}) collnet channels, )?(?:(\d{1,3}) nvls channels, )?"
    r"(\d{1,4}) p2p channels"
)
_ENVIRONMENT: Final = re.compile(
    r"\b(N?R?CCL_[A-Z0-9_]{2,60}) set (?:by environment )?to (.{1,120}?)\.?$"
)
_NETWORK: Final = re.compile(r"Using (?:internal )?[nN]etwork (.{1,60}?)\s*$")
_PLUGIN: Final = re.compile(r"(?:Loaded net plugin|Plugin name set by env to|using) (\S{1,60})")


@dataclass(slots=True)
class _Log:
    """What was met so far."""

    versions: Counter[str] = field(default_factory=Counter)
    hosts: dict[str, None] = field(default_factory=dict)
    ranks: set[int] = field(default_factory=set)
    nranks: Counter[int] = field(default_factory=Counter)
    nodes: int | None = None
    mnnvl: bool | None = None
    networks: Counter[str] = field(default_factory=Counter)
    plugins: dict[str, None] = field(default_factory=dict)
    no_plugin: int = 0
    devices: dict[str, dict[str, Any]] = field(default_factory=dict)
    sockets: dict[str, str] = field(default_factory=dict)
    bootstrap: dict[str, None] = field(default_factory=dict)
    no_ib: int = 0
    transports: Counter[str] = field(default_factory=Counter)
    pairs: dict[str, set[tuple[int, int]]] = field(default_factory=dict)
    rings: dict[int, list[int]] = field(default_factory=dict)
    trees: list[dict[str, Any]] = field(default_factory=list)
    channels: dict[str, int] = field(default_factory=dict)
    nvls_supported: bool = False
    nvls_used: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    warnings: Counter[str] = field(default_factory=Counter)
    complete: int = 0
    graph: GraphLines = field(default_factory=GraphLines)
    lines: int = 0


def _recognise(text: Text) -> float:
    lines = sum(" NCCL INFO " in line or " NCCL WARN " in line or line.startswith("NCCL INFO ")
                for line in text.head.split("\n"))  # fmt: skip
    if not lines:
        return 0.0
    return 0.8 if lines >= 3 else 0.6


def _read(text: Text) -> Reading:
    log, used = _Log(), set[int]()
    for number, line in enumerate(text.lines, 1):
        version = _VERSION.search(line[:400])
        if version is not None:
            log.versions[version[1]] += 1
            used.add(number)
        found = _LINE.search(line[:4000])
        if found is None:
            continue
        used.add(number)
        log.lines += 1
        if found[1] is not None:
            log.hosts.setdefault(found[1])
        if found[5] in ("WARN", "ERROR"):
            log.warnings[found[6].strip()[:200]] += 1
        _say(found[6], log)
    if not log.lines:
        rule = "NCCL_DEBUG=INFO prints lines with NCCL INFO"
        fix = "set NCCL_DEBUG=INFO and run again"
        raise InputError(Problem(file=text.path, found="no such line", rule=rule, fix=fix))
    fields = _fields(log)
    ignored = passed_over(text, used, None, "not a line of NCCL")
    summary, warnings = tuple(_summary(fields)), tuple(_warnings(fields))
    return Reading("nccl-debug", "log", summary, fields, warnings, ignored)


def _say(said: str, log: _Log) -> None:
    """Note what one message says: the first reader that knows it takes it."""
    if not any(reader(said, log) for reader in _READERS):
        log.graph.take(said)


def _connection(said: str, log: _Log) -> bool:
    if via := _VIA.search(said):
        kind = re.sub(r"/\d+(?=/|$)", "", via[5].rstrip(","))
        log.transports[kind] += 1
        pairs = log.pairs.setdefault(kind, set())
        if len(pairs) < 100_000:
            pairs.add((int(via[2]), int(via[3])))
        return True
    if "NET/" in said and ("[receive]" in said or "[send]" in said):
        for one in _OLD_VIA.findall(said):
            log.transports[re.sub(r"/\d+(?=/|$)", "", one)] += 1
        return True
    return False


def _order(said: str, log: _Log) -> bool:
    if ring := _RING.match(said):
        if int(ring[1]) < 64:
            log.rings.setdefault(int(ring[1]), [int(one) for one in ring[3].split()])
        if ring[2] is not None:
            log.channels.setdefault("rings", int(ring[2]))
        return True
    if said.startswith("Trees "):
        for channel, children, rank, parent in _TREES.findall(said)[:64]:
            if len(log.trees) < 10_000:
                below = [int(one) for one in children.split("/") if int(one) >= 0]
                log.trees.append({"channel": int(channel), "rank": int(rank), "children": below,
                                  "parent": int(parent) if int(parent) >= 0 else None})  # fmt: skip
        return True
    return False


def _communicator(said: str, log: _Log) -> bool:
    found = _COMM.search(said) or _RANK.search(said)
    if found is not None:
        log.ranks.add(int(found[1]))
        log.nranks[int(found[2])] += 1
        if found.re is _COMM and found[3] is not None:
            log.nodes = max(log.nodes or 0, int(found[3]))
        if found.re is _COMM and found[4] is not None:
            log.mnnvl = found[4] == "1"
        log.complete += "Init COMPLETE" in said
        return True
    if counts := _CHANNELS.search(said):
        names = ("collective", "collnet", "nvls", "p2p")
        log.channels |= {
            name: int(one) for name, one in zip(names, counts.groups(), strict=True) if one
        }
        return True
    return False


def _network(said: str, log: _Log) -> bool:
    if "NET/IB" in said and "No device found" in said:
        log.no_ib += 1
    elif "NET/IB" in said and "Using" in said:
        for index, name, port, kind in _USING.findall(said)[:64]:
            log.devices[name] = {"index": int(index), "name": name, "port": int(port), "kind": kind}
    elif "NET/Socket" in said and "Using" in said:
        log.sockets |= {name: address for _, name, address in _SOCKET.findall(said)[:64]}
    elif network := _NETWORK.search(said):
        log.networks[network[1]] += 1
    elif "No plugin found" in said or "Could not find: libnccl-net" in said:
        log.no_plugin += 1
    elif "NET/Plugin" in said and (plugin := _PLUGIN.search(said)):
        log.plugins.setdefault(plugin[1])
    elif "Bootstrap" in said and "Using" in said:
        log.bootstrap |= dict.fromkeys(re.findall(r"Using (?:\[\d\])?([\w.-]{1,40}):", said)[:4])
    elif said.startswith("NET : Using interface"):
        log.sockets |= dict(re.findall(r"interface ([\w.-]{1,40}):([\d.]{1,40})", said)[:4])
    else:
        return False
    return True


def _other(said: str, log: _Log) -> bool:
    if setting := _ENVIRONMENT.search(said):
        log.environment[setting[1]] = setting[2]
    elif "NVLS multicast support is" in said:
        log.nvls_supported = log.nvls_supported or "is available" in said
    elif said.startswith("NVLS comm"):
        log.nvls_used = True
    elif said.startswith("MNNVL ") and (state := re.match(r"MNNVL (\d)", said)):
        log.mnnvl = state[1] == "1"
    else:
        return False
    return True


_READERS: Final[tuple[Callable[[str, _Log], bool], ...]] = (
    _connection, _order, _communicator, _network, _other,
)  # fmt: skip


def _fields(log: _Log) -> dict[str, Any]:
    net = {kind: count for kind, count in log.transports.items() if kind.startswith("NET/")}
    ranks = max(log.nranks, default=0) or (len(log.rings.get(0, ())) or None)
    graph = log.graph.fields()
    return {
        "version": log.versions.most_common(1)[0][0] if log.versions else None,
        "versions": dict(log.versions),
        "hosts": list(log.hosts)[:10_000],
        "nodes": log.nodes or (len(log.hosts) if len(log.ranks) == ranks else None),
        "ranks": ranks,
        "ranks_seen": len(log.ranks),
        "communicators": dict(log.nranks),
        "initialised": log.complete,
        "network": log.networks.most_common(1)[0][0] if log.networks else _implied(log),
        "plugins": list(log.plugins),
        "plugin_missing": log.no_plugin > 0,
        "ib_devices": sorted(log.devices.values(), key=lambda one: one["index"]),
        "ib_missing": log.no_ib > 0,
        "socket_interfaces": list(log.sockets),
        "bootstrap_interfaces": list(log.bootstrap),
        "transports": dict(log.transports),
        "pairs_by_transport": {kind: len(pairs) for kind, pairs in log.pairs.items()},
        "gpu_direct_rdma": any("GDRDMA" in kind for kind in net) if net else None,
        "rings": {str(channel): order for channel, order in sorted(log.rings.items())},
        "trees": log.trees,
        "channels": log.channels,
        "nvls_supported": log.nvls_supported,
        "nvls_used": log.nvls_used,
        "mnnvl": log.mnnvl,
        "environment": log.environment,
        "warning_lines": [{"text": one, "count": n} for one, n in log.warnings.most_common(20)],
        **graph,
    }  # fmt: skip


def _implied(log: _Log) -> str | None:
    """Return the network that old versions did not name."""
    if log.devices and not log.no_ib:
        return "IB"
    return "Socket" if log.sockets else None


OWN_MEMORY: Final = 5e12
"""B/s that NCCL gives to a way inside one device (topo.h: LOC_BW, 5000 GB/s)."""


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    ranks = f"{fields['ranks']} ranks" if fields["ranks"] else "ranks unknown"
    nodes = f" on {fields['nodes']} nodes" if fields["nodes"] else ""
    version = f"NCCL {fields['version']}, " if fields["version"] else ""
    yield f"{version}{ranks}{nodes}"
    if fields["network"]:
        cards = ", ".join(one["name"] for one in fields["ib_devices"][:8])
        names = cards or ", ".join(fields["socket_interfaces"][:4])
        yield f"network {fields['network']}" + (f" over {names}" if names else "")
    if fields["transports"]:
        said = ", ".join(f"{n} {kind}" for kind, n in sorted(fields["transports"].items())[:6])
        yield f"connections: {said}"
    if fields["nvls_used"] or fields["nvls_supported"]:
        yield f"NVLS: {'in use' if fields['nvls_used'] else 'available, its use is not shown'}"
    if fields["graph"]:
        one = fields["graph"][0]
        most, total = one["max_bytes_per_s"] / 1e9, one["total_bytes_per_s"] / 1e9
        yield f"the machine as NCCL sees it: at most {most:g} GB/s; a GPU's links sum to {total:g}"
        links = [
            f"{one['links'][kind]} {kind} of {width / 1e9:g} GB/s"
            for kind, width in one["widths"].items()
            if 0 < width < OWN_MEMORY
        ]
        if links:
            yield f"links, by the widest of a kind: {', '.join(links)}"
    if fields["paths"]:
        slow = min(fields["paths"], key=lambda path: path["bytes_per_s"])
        rate = f"{slow['bytes_per_s'] / 1e9:g} GB/s, {slow['type']}"
        yield f"slowest path {slow['from']} to {slow['to']}: {rate}"


def _warnings(fields: dict[str, Any]) -> Iterator[str]:
    yield from _about_network(fields)
    if len(fields["versions"]) > 1:
        yield f"ranks run different versions: {', '.join(fields['versions'])}"
    switches = ("NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE", "NCCL_IB_DISABLE")
    disabled = [one for one in switches if fields["environment"].get(one) == "1"]
    if disabled:
        yield f"switched off by the environment: {', '.join(disabled)}"
    if fields["nvls_supported"] and not fields["nvls_used"] and "nvls" not in fields["channels"]:
        yield "NVLS multicast is available, which is a capability; the log does not show it in use"
    if fields["ranks"] and 0 < fields["ranks_seen"] < fields["ranks"]:
        yield f"the log has {fields['ranks_seen']} of {fields['ranks']} ranks"
    for one in fields["warning_lines"][:5]:
        yield f"NCCL WARN: {one['text']}"


def _about_network(fields: dict[str, Any]) -> Iterator[str]:
    names = fields["socket_interfaces"]
    network = (fields["network"] or "").casefold()
    if fields["gpu_direct_rdma"] is False and any("NET/IB" in one for one in fields["transports"]):
        yield ("NET/IB without GDRDMA: data pass through host memory (is nvidia-peermem loaded, "
               "are card and GPU under one switch?)")  # fmt: skip
    if "socket" in network:
        yield "traffic goes over TCP sockets: a few GB/s per node at most"
    if fields["ib_missing"]:
        yield "no InfiniBand or RoCE device was found: expose /dev/infiniband to the container"
    if names and names[0] == "lo":
        yield ("the loopback interface lo comes first: peers are told 127.0.0.1 and hang "
               "(NCCL_SOCKET_IFNAME=eth0)")  # fmt: skip
    if any("libibverbs" in one["text"] for one in fields["warning_lines"]):
        yield "libibverbs is missing in the image: no RDMA, TCP sockets instead"


FORMAT = Format("nccl-debug", "log", _recognise, _read)
