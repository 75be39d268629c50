"""What readings of foreign files contribute to a case: facts by name, and measured curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from artery.answers.diagnose.columns import Columns, columns_of, told_busbw
from artery.core.pricing import Collective, named
from artery.diagnoser.case import Curve, Fact, Point
from artery.errors import InputError
from artery.formats.facts.curves import curves, ranks_of
from artery.formats.facts.keys import PATHS
from artery.formats.reading import Reading

PLATEAU: Final = 8 * 2**30
"""Bytes. Where nobody said a size, the largest that people measure."""

Fields = Mapping[str, Any]
Named = Iterator[tuple[str, Fact | None]]


def facts_of(reading: Reading) -> dict[str, Fact]:
    """Return the facts that ``reading`` states, by the names that the rule base uses.

    What the file does not say is left out.
    """
    told = _TELLERS.get(reading.format)
    if told is None:
        return {}
    return {name: value for name, value in told(reading.fields) if value is not None}


def curves_of(reading: Reading, source: str) -> tuple[Curve, ...]:
    """Return the measured curves of ``reading``, sizes rising; none if it measured nothing."""
    if reading.format == "artery-bench" and "tables" in reading.fields:
        return tuple(_table_curves(reading.fields, source))
    if reading.format == "nccl-tests":
        if "tables" not in reading.fields:
            return tuple(_script_curves(reading.fields, source))
        return tuple(_table_curves(reading.fields, source))
    if reading.format == "facts":
        return tuple(_told_curves(reading.fields, source))
    return ()


def _table_curves(fields: Fields, source: str) -> Iterator[Curve]:
    for table in fields.get("tables", ()):
        if not table["valid"]:
            continue
        found = columns_in(table)
        groups: dict[int | None, list[Fields]] = {}
        for row in table["rows"]:
            groups.setdefault(row["extra"][0] if row["extra"] else None, []).append(row)
        for nodes, rows in groups.items():
            points = {row["size_bytes"]: rate for row in rows if (rate := _busbw(row))}
            if found is not None and found.lies in _WRONG_BUSBW:
                points = dict(found.rates)
            listed = tuple(Point(*one) for one in sorted(points.items()) if one[0])
            ranks = table["ranks"] if nodes is None else rows[0].get("ranks")
            if listed:
                told = table["nodes"] if nodes is None else _even(ranks, nodes)
                hosts = tuple(table["hosts"])
                yield Curve(table["collective"], ranks, told, listed, source, hosts)


_WRONG_BUSBW: Final = frozenset({"busbw", "unit", "rows"})
"""What lies where busbw by size and time is right."""


def columns_in(table: Fields) -> Columns | None:
    """Return which column of a table lies; ``None`` where too little is there to tell."""
    if table["old_columns"] or any(row["extra"] for row in table["rows"]):
        return None
    return columns_of(table["rows"], _known(table["collective"]) or "all_reduce", table["ranks"])


def _script_curves(fields: Fields, source: str) -> Iterator[Curve]:
    """Yield the last trial of a benchmark script, which has one size."""
    size, rate = fields.get("size_bytes"), fields.get("peak_busbw_bytes_per_s")
    if size and rate:
        yield Curve(fields["collective"], fields["ranks"], None, (Point(int(size), rate),), source)


def _even(ranks: int | None, column: int) -> int | None:
    """A column in front of the sizes counts nodes where the ranks are a multiple of it."""
    return column if ranks and column and ranks % column == 0 else None


def _busbw(row: Fields) -> float | None:
    """The better side of a row; old all-gather columns are right as busbw."""
    sides = (row["out_of_place"], row["in_place"])
    found = [side["busbw_bytes_per_s"] for side in sides if side is not None]
    return max((rate for rate in found if rate is not None), default=None)


def _told_curves(fields: Fields, source: str) -> Iterator[Curve]:
    facts = fields.get("facts", {})
    told = fields.get("measured", ())
    rows = [with_busbw(row, facts) for row in told if not row.get("average")]
    again = len(rows) < len(told) or any(a is not b for a, b in zip(rows, told, strict=True))
    for one in curves(facts, rows) if again else fields.get("curves", ()):
        for points in _apart(one["points"]):
            listed = tuple(Point(*point) for point in sorted(points.items()) if all(point))
            if listed:
                yield Curve(_known(one["collective"]), one["ranks"], one["nodes"], listed, source)
    yield from _plateaus(fields, source)


def with_busbw(row: Fields, facts: Fields) -> Fields:
    """Return the measurement with the busbw that follows from an algbw alone."""
    known = asked_of(row, facts)
    rate = told_busbw(row, *known) if known is not None else None
    return row if rate is None else {**row, "busbw": rate}


def asked_of(row: Fields, facts: Fields) -> tuple[Collective, int] | None:
    """Return collective and ranks of a measurement that people tell; ``None`` if one is unknown."""
    name = _known(row.get("collective", facts.get("collective")))
    ranks = _count(ranks_of(row, facts))
    return None if name is None or ranks is None or ranks < 2 else (name, ranks)


def _apart(points: Sequence[Fields]) -> Iterator[dict[int, float]]:
    """Yield curves with one bandwidth a size: two at the same size are two runs."""
    runs: list[dict[int, float]] = []
    for point in points:
        size, rate = int(point["size_bytes"]), float(point["busbw_bytes_per_s"])
        run = next((one for one in runs if size not in one), None)
        if run is None:
            runs.append(run := {})
        run[size] = rate
    yield from runs


def _plateaus(fields: Fields, source: str) -> Iterator[Curve]:
    """Yield bandwidths of which nobody said the size: they are taken as the plateau."""
    facts = fields.get("facts", {})
    for told in fields.get("measured", ()):
        row = with_busbw(told, facts)
        rate = None if row.get("average") else row.get("busbw")
        if rate and "size" not in row and "size" not in facts:
            nodes = _count(row.get("nodes", facts.get("nodes")))
            ranks = _count(ranks_of(row, facts))
            name = row.get("collective", facts.get("collective"))
            point = Point(PLATEAU, float(rate))
            yield Curve(_known(name), ranks, nodes, (point,), source, sized=False)


def _known(name: object) -> Collective | None:
    """Return the collective of that name; ``None`` if there is none."""
    try:
        return named(str(name)) if name else None
    except InputError:
        return None


def _count(value: object) -> int | None:
    return int(value) if isinstance(value, float) and 1 <= value < 10_000_000 else None


def _nccl_tests(fields: Fields) -> Named:
    yield "chip", fields.get("chip")
    yield "ranks", _number(fields.get("ranks"))
    yield "nodes", _number(fields.get("nodes"))
    sizes = [row["size_bytes"] for row in fields.get("rows", ())]
    yield "largest_size", _number(max(sizes, default=None))
    for table in fields.get("tables", ())[:1]:
        found = columns_in(table)
        if found is not None and found.lies != "none":
            yield "algbw_over_size_by_time", found.algbw
            yield "busbw_over_size_by_time", found.busbw


def _nccl_debug(fields: Fields) -> Named:
    yield "nccl", fields.get("version")
    yield "ranks", _number(fields.get("ranks"))
    yield "nodes", _number(fields.get("nodes"))
    network = (fields.get("network") or "").casefold()
    if network:
        yield "transport", "socket" if "socket" in network else "ib" if "ib" in network else network
    cards = fields.get("ib_devices") or ()
    yield "cards_used", _number(len(cards) or None)
    kinds = {str(card.get("kind", card.get("layer", ""))).casefold() for card in cards}
    if cards and all(str(card.get("name", "")).startswith("hfi1") for card in cards):
        yield "fabric", "omni-path"  # whose verbs say that they are InfiniBand
    elif kinds & {"roce"}:
        yield "fabric", "roce"
    elif kinds & {"ib", "infiniband"}:
        yield "fabric", "infiniband"
    over_ib = any("NET/IB" in kind for kind in fields.get("transports") or ())
    yield "gpu_direct_rdma", fields.get("gpu_direct_rdma") if over_ib else None
    yield "nvls_supported", fields.get("nvls_supported") or None
    yield "nvls_used", fields.get("nvls_used") or None
    yield from _environment(fields.get("environment") or {})
    yield "shm_pairs_share", _shm_share(fields.get("transports") or {})


def _environment(environment: Fields) -> Named:
    yield "p2p_disabled", environment.get("NCCL_P2P_DISABLE") == "1" or None
    yield "ib_disabled", environment.get("NCCL_IB_DISABLE") == "1" or None
    yield "nvls_disabled", environment.get("NCCL_NVLS_ENABLE") == "0" or None
    pinned = {"NCCL_ALGO", "NCCL_PROTO"} & set(environment)
    yield "pinned_algorithm", True if pinned else None


def _shm_share(transports: Fields) -> float | None:
    """The share of the connections inside nodes that go through shared memory."""
    inside = {kind: n for kind, n in transports.items() if kind.startswith(("P2P", "SHM"))}
    total = sum(inside.values())
    return None if not total else sum(n for k, n in inside.items() if k.startswith("SHM")) / total


def _topology(fields: Fields) -> Named:
    yield "chip", fields.get("chip")
    yield "gpus_per_node", _number(fields.get("gpus"))
    nics = fields.get("nics")
    yield "nics_per_node", _number(len(nics)) if nics else None
    counts = fields.get("nvlinks_per_pair") or ()
    yield "nvlinks", _number(max(counts, default=None))
    links = set(fields.get("links") or fields.get("link_type") or ())
    yield "nic_path", _nearest_card(fields.get("nic_distance") or {})
    yield "all_pairs_far", True if links and links <= {"SYS", "SOC", "NODE", "PCIE"} else None
    p2p = fields.get("p2p")
    yield "peers", None if not p2p else bool(p2p["all_ok"])


def _nearest_card(distance: Mapping[str, Mapping[str, str]]) -> str | None:
    """Return how far the nearest card of any GPU is.

    GPUs without a card of their own send through a neighbour that has one (NCCL, PXN).
    """
    known = {cell for cells in distance.values() for cell in cells.values()}
    return next((path.casefold() for path in PATHS if path in known), None)


def _ibstat(fields: Fields) -> Named:
    usable = [one for one in fields["ports"] if one["usable"] and one["rate_bytes_per_s"]]
    if not usable:
        return
    yield "nics_per_node", float(len(usable))
    yield "nic_rate", max(one["rate_bytes_per_s"] for one in usable)
    layers = {one["link_layer"] for one in usable}
    yield "fabric", "infiniband" if layers == {"InfiniBand"} else "roce"


def _fabric(fields: Fields) -> Named:
    yield "uplinks_missing", _number(fields.get("uplinks_missing"))
    if fields.get("link_layer") == "InfiniBand":
        yield "fabric", "infiniband"


def _hang(fields: Fields) -> Named:
    behind = fields.get("behind")
    yield "missing_ranks", _listed(behind)
    yield "ranks_behind", _number(len(behind)) if behind else None
    yield "timed_out", True


def _listed(ranks: object) -> str | None:
    """Return ranks by their numbers in words; ``None`` if there is none."""
    numbers = list(ranks) if isinstance(ranks, (list, tuple)) else []
    more = f" and {len(numbers) - 12} more" if len(numbers) > 12 else ""
    return f"rank {', '.join(map(str, numbers[:12]))}{more}" if numbers else None


def _torchrun(fields: Fields) -> Named:
    yield "ranks", _number(fields.get("world_size"))
    yield "exit_code", _number(fields.get("exit_code"))
    yield "failed_rank", _number(fields.get("root_cause_rank"))
    yield "failed_for_memory", fields.get("root_cause") == "out of memory" or None
    silent = fields.get("silent_ranks")
    waiting = fields.get("waiting_ranks")
    yield "ranks_behind", _number(len(silent)) if silent and waiting else None
    yield "missing_ranks", _listed(silent) if waiting else None
    yield "timed_out", True if waiting else None


def _trace(fields: Fields) -> Named:
    if fields.get("kernels") and fields.get("span_s"):
        yield "idle_share", _number(fields.get("idle_fraction"))
        yield "exposed_share", fields["exposed_communication_s"] / fields["span_s"]


def _megatron(fields: Fields) -> Named:
    yield "ranks", _number(fields.get("chips"))
    for name in ("tp", "pp", "cp", "parameters"):
        yield name, _number(fields.get(name))


def _training_log(fields: Fields) -> Named:
    yield "mfu_said", _number(fields.get("mfu"))


def _gpu_state(fields: Fields) -> Named:
    yield "chip", fields.get("chip")
    if not fields["gpus"]:
        return
    yield "gpus_per_node", _number(fields.get("gpu_count"))
    yield "throttled_gpus", float(len(fields["throttled"]))
    narrow = fields["narrow"]
    yield "narrow_gpus", float(len(narrow)) if narrow else None
    # An idle link falls to a lower generation by itself; only lanes that are gone count.
    yield "pcie_share", _number(fields.get("pcie_share")) if narrow else None


_TRANSPORTS: Final = {
    "tcp": "socket", "sockets": "socket", "tcp/ip": "socket", "ethernet": "socket",
    "infiniband": "ib", "rdma": "ib", "roce": "ib", "verbs": "ib",
}  # fmt: skip
"""What people call the transports that the rules know."""


def _told(fields: Fields) -> Named:
    facts = fields.get("facts")
    for name, value in (facts if isinstance(facts, Mapping) else {}).items():
        same = _TRANSPORTS.get(str(value)) if name == "transport" else None
        yield name, same or value


_TELLERS: Final[Mapping[str, Callable[[Fields], Named]]] = {
    "nccl-tests": _nccl_tests,
    "artery-bench": _nccl_tests,
    "nccl-debug": _nccl_debug,
    "nvidia-smi-topo": _topology,
    "rocm-smi-topo": _topology,
    "nvidia-smi-q": _gpu_state,
    "ibstat": _ibstat,
    "ibnetdiscover": _fabric,
    "iblinkinfo": _fabric,
    "torch-watchdog": _hang,
    "flight-recorder": _hang,
    "torchrun": _torchrun,
    "kineto": _trace,
    "megatron-args": _megatron,
    "megatron-log": _training_log,
    "facts": _told,
}


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value)
