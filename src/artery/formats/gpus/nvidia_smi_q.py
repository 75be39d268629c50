"""``nvidia-smi -q``, as text or XML: clocks, why they are lowered, memory errors, PCIe, power.

Also ``nvidia-smi nvlink -s``, which lists the links of every GPU with their rates.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.gpus.names import chip_of
from artery.formats.gpus.nvidia_smi_tree import BANNER, GPU, Table, found, of_text, of_xml
from artery.formats.gpus.state import warnings_on
from artery.formats.passed import passed_over, runs
from artery.formats.reading import Format, Reading
from artery.formats.syntax.numerals import number
from artery.formats.syntax.prefixes import bare
from artery.formats.text import Text
from artery.formats.wording import counted
from artery.units import show_bytes

_XML: Final = re.compile(r"<nvidia_smi_log\b")
_LINK: Final = re.compile(r"\s{1,40}Link (\d{1,3}): (?:([\d.]{1,12}) GB/s|<?(inactive)>?)\s*$")
_LINKED: Final = re.compile(r"GPU (\d{1,3}): ([^(\n]{2,80}?) \(UUID")
_LOG: Final = re.compile(
    r"\s{4,12}(?:Product Name|Performance State|Clocks(?: Throttle| Event)? ?(?:Reasons)?|"
    r"Max Clocks|FB Memory Usage|ECC Mode|ECC Errors|PCI|Temperature|(?:GPU )?Power Readings|"
    r"Utilization|"
    r"Retired Pages|Remapped Rows|Performance)\b"
)

REASONS: Final = {
    "hw_thermal_slowdown": ("hw_thermal_slowdown",),
    "hw_power_brake_slowdown": ("hw_power_brake_slowdown",),
    "hw_slowdown": ("hw_slowdown",),
    "sw_thermal_slowdown": ("sw_thermal_slowdown",),
    "sw_power_cap": ("sw_power_cap",),
    "idle": ("gpu_idle", "idle"),
    "applications_clocks": ("applications_clocks_setting",),
    "sync_boost": ("sync_boost",),
}
"""Why clocks are lowered: our name, and how the tool's titles end (NVML, clocks event reasons)."""


def _recognise(text: Text) -> float:
    if _XML.search(text.head):
        return 0.95
    lines = text.head.split("\n")
    if any(_LINK.match(bare(line)) for line in lines) and _LINKED.search(text.head):
        return 0.9
    gpus = any(GPU.match(bare(line)) for line in lines)
    if not gpus:
        return 0.0
    return 0.95 if BANNER.search(text.head) or any(map(_LOG.match, map(bare, lines))) else 0.0


def _read(text: Text) -> Reading:
    used: set[int] = set()
    xml = _XML.search(text.head) is not None
    if xml:
        tables = of_xml(text)
    else:
        tables, used = of_text(text)
    gpus = [_gpu(bus, table) for bus, table in tables]
    links, linked = _links(text)
    used |= linked
    if not gpus and not links:
        rule = "nvidia-smi -q prints a block for every GPU"
        raise InputError(
            Problem(file=text.path, found="no GPU", rule=rule, fix="send its whole output")
        )
    fields = _fields(gpus, links)
    known = re.compile(r"\s*(?:$|Timestamp|Driver Version|CUDA Version|Attached GPUs|GPU \d+: )")
    ignored = runs((), "") if xml else passed_over(text, used, known, "no value of a GPU")
    return Reading(
        "nvidia-smi-q",
        "state",
        tuple(_summary(fields)),
        fields,
        tuple(warnings_on(gpus, links)),
        ignored,
    )


def _gpu(bus: str, table: Table) -> dict[str, Any]:
    product = found(table, "product_name")
    return {
        "bus_id": bus,
        "product": product,
        "chip": chip_of(product) if product else None,
        "performance_state": found(table, "performance_state"),
        "reasons": _reasons(table),
        "sm_clock_hz": _value(table, 1e6, "clocks.sm_clock", "clocks.sm"),
        "sm_clock_max_hz": _value(table, 1e6, "max_clocks.sm_clock", "max_clocks.sm"),
        "memory_clock_hz": _value(table, 1e6, "clocks.mem_clock", "clocks.memory"),
        "memory_clock_max_hz": _value(table, 1e6, "max_clocks.mem_clock", "max_clocks.memory"),
        "pcie": _pcie(table),
        "ecc": _ecc(table),
        "retired_pages": _retired(table),
        "remapped_rows": _remapped(table),
        "temperature_c": _value(table, 1, "gpu_temp", "gpu_current_temp"),
        "slowdown_temperature_c": _value(
            table, 1, "gpu_temp_slow_threshold", "gpu_slowdown_temp", "gpu_temp_max_threshold"
        ),
        "power_w": _value(
            table,
            1,
            "instantaneous_power_draw",
            "instant_power_draw",
            "average_power_draw",
            "power_draw",
        ),
        "power_limit_w": _value(
            table, 1, "enforced_power_limit", "current_power_limit", "power_limit"
        ),
        "power_limit_default_w": _value(table, 1, "default_power_limit"),
        "utilization": _value(table, 0.01, "utilization.gpu_util", "utilization.gpu"),
        "memory_bytes": _value(table, 2**20, "fb_memory_usage.total"),
        "mig": found(table, "mig_mode.current_mig", "mig_mode.current"),
        "fabric_state": found(table, "fabric.state"),
        "fabric_status": found(table, "fabric.status"),
        "lost": any("Unknown Error" in value or "is lost" in value for value in table.values()),
    }


def _value(table: Mapping[str, str], unit: float, *ends: str) -> float | None:
    """Return the first number of a value, times ``unit``."""
    text = found(table, *ends)
    known = None if text is None else number(text.partition(" ")[0].rstrip("xX"))
    return None if known is None else known * unit


def _count(table: Mapping[str, str], *ends: str) -> int | None:
    known = _value(table, 1, *ends)
    return None if known is None else int(known)


def _reasons(table: Table) -> dict[str, bool]:
    """Return which reasons are active, as far as they are printed."""
    kept = {
        key: value
        for key, value in table.items()
        if ("reasons." in key or key.startswith("reasons")) and "counters" not in key
    }
    known = {}
    for name, ends in REASONS.items():
        for key, value in kept.items():
            if key.endswith(ends) and value in ("Active", "Not Active"):
                known[name] = value == "Active"
    return known


def _pcie(table: Table) -> dict[str, Any]:
    info = "gpu_link_info"
    return {
        "generation": _count(table, "pcie_gen.current_link_gen", f"{info}.pcie_generation.current"),
        "generation_max": _count(table, "pcie_gen.max_link_gen", f"{info}.pcie_generation.max"),
        "generation_card": _count(
            table, "pcie_gen.max_device_link_gen", f"{info}.pcie_generation.device_max"
        ),
        "generation_host": _count(
            table, "pcie_gen.max_host_link_gen", f"{info}.pcie_generation.host_max"
        ),
        "width": _count(table, "link_widths.current_link_width", "link_width.current"),
        "width_max": _count(table, "link_widths.max_link_width", "link_width.max"),
        "replays": _count(table, "replay_counter", "replays_since_reset"),
    }


def _ecc(table: Table) -> dict[str, Any]:
    """Return error counts; what was said apart (SRAM and DRAM, old: by memory) is added up."""
    sums: dict[str, int] = {}
    for key, value in table.items():
        parts = key.split(".")
        if "ecc_errors" not in parts or (count := number(value)) is None:
            continue
        span = next((one for one in ("volatile", "aggregate") if one in parts), None)
        # Old drivers list memories and their total; new ones two memories and no total.
        if span is None or ("total" not in parts[-1] and {"single_bit", "double_bit"} & set(parts)):
            continue
        bad = "uncorrectable" in key or "double_bit" in key
        name = f"{span}_{'uncorrectable' if bad else 'correctable'}"
        sums[name] = sums.get(name, 0) + int(count)
    return {"mode": found(table, "ecc_mode.current_ecc", "ecc_mode.current"), **sums}


def _retired(table: Table) -> dict[str, Any]:
    return {
        "single_bit": _count(
            table, "multiple_single_bit_retirement.retired_count", "retired_pages.single_bit_ecc"
        ),
        "double_bit": _count(
            table, "double_bit_retirement.retired_count", "retired_pages.double_bit_ecc"
        ),
        "pending": _yes(
            found(table, "pending_retirement", "pending_page_blacklist", "pending_blacklist")
        ),
    }


def _remapped(table: Table) -> dict[str, Any]:
    return {
        "correctable": _count(table, "remapped_row_corr", "remapped_rows.correctable_error"),
        "uncorrectable": _count(table, "remapped_row_unc", "remapped_rows.uncorrectable_error"),
        "pending": _yes(found(table, "remapped_row_pending", "remapped_rows.pending")),
        "failure": _yes(
            found(
                table,
                "remapped_row_failure",
                "remapped_rows.remapping_failure_occurred",
                "remapped_rows.failure_occurred",
            )
        ),
    }


def _yes(word: str | None) -> bool | None:
    return None if word is None else word.casefold() in ("yes", "true", "1")


def _links(text: Text) -> tuple[list[dict[str, Any]], set[int]]:
    """Return the links of every GPU that ``nvlink -s`` lists, and the lines that were used."""
    listed: list[dict[str, Any]] = []
    used: set[int] = set()
    for count, line in enumerate(text.lines, 1):
        shown = bare(line[:400])
        gpu = _LINKED.match(shown)
        link = _LINK.match(shown)
        if gpu is not None:
            listed.append({"gpu": int(gpu[1]), "product": gpu[2].strip(), "rates": []})
            used.add(count)
        elif link is not None and listed:
            rate = None if link[3] else number(link[2])
            listed[-1]["rates"].append(None if rate is None else rate * 1e9)
            used.add(count)
    return [one for one in listed if one["rates"]], used


def _fields(gpus: list[dict[str, Any]], links: list[dict[str, Any]]) -> dict[str, Any]:
    products = Counter(one["product"] for one in (*gpus, *links) if one.get("product"))
    chips = sorted({chip for name in products if (chip := chip_of(name))})
    return {
        "gpu_count": len(gpus) or len(links),
        "products": dict(products),
        "chip": chips[0] if len(chips) == 1 else None,
        "throttled": [one["bus_id"] for one in gpus if _held_back(one)],
        "narrow": [one["bus_id"] for one in gpus if _narrow(one)],
        "pcie_share": min(
            (share for one in gpus if (share := pcie_share(one["pcie"])) is not None), default=None
        ),
        "gpus": gpus,
        "nvlinks": [
            {
                "gpu": one["gpu"],
                "links": len(one["rates"]),
                "inactive": one["rates"].count(None),
                "rate_bytes_per_s": sum(rate for rate in one["rates"] if rate is not None),
            }
            for one in links
        ],
    }


def pcie_share(pcie: Mapping[str, Any]) -> float | None:
    """Return the share of its slot's bandwidth that a link runs at: 2 per generation, width.

    ``None`` if the tool did not say all four.
    """
    now, most = pcie["generation"], pcie["generation_max"]
    width, widest = pcie["width"], pcie["width_max"]
    if not (now and most and width and widest) or max(now, most) > 9:
        return None
    return float(2.0 ** (now - most) * width / widest)


def _held_back(one: Mapping[str, Any]) -> bool:
    slow = ("hw_thermal_slowdown", "hw_power_brake_slowdown", "hw_slowdown", "sw_thermal_slowdown")
    return any(one["reasons"].get(name) for name in slow)


def _narrow(one: Mapping[str, Any]) -> bool:
    width, widest = one["pcie"]["width"], one["pcie"]["width_max"]
    return bool(width and widest and width < widest)


def _summary(fields: Mapping[str, Any]) -> Iterator[str]:
    named = ", ".join(f"{count} x {name}" for name, count in fields["products"].items())
    yield counted(fields["gpu_count"], "GPU") + (f": {named}" if named else "")
    gpus = fields["gpus"]
    clocks = [(one["sm_clock_hz"], one["sm_clock_max_hz"]) for one in gpus]
    known = [(now, most) for now, most in clocks if now and most]
    if known:
        low, most = min(now for now, _ in known), max(most for _, most in known)
        yield f"multiprocessors at {low / 1e6:,.0f} MHz or more, of {most / 1e6:,.0f} MHz"
    slots = Counter(
        f"gen {one['pcie']['generation']} x{one['pcie']['width']}"
        for one in gpus
        if one["pcie"]["generation"] and one["pcie"]["width"]
    )
    if slots:
        yield "PCIe: " + ", ".join(f"{count} at {name}" for name, count in slots.items())
    memory = {one["memory_bytes"] for one in gpus if one["memory_bytes"]}
    if memory:
        yield "memory: " + ", ".join(show_bytes(one) for one in sorted(memory))
    if fields["nvlinks"]:
        links = Counter(one["links"] - one["inactive"] for one in fields["nvlinks"])
        yield "NVLinks up: " + ", ".join(f"{n} on {count} GPUs" for n, count in links.items())


FORMAT: Final = Format(
    "nvidia-smi-q", "state", _recognise, _read, tested=False,
    notes=("text checked by hand on one public report (a GeForce, driver 535)",
           "XML and nvlink -s are written from NVIDIA's documentation"),
)  # fmt: skip
