"""What an expert remarks on the state of GPUs: lowered clocks, narrow slots, errors, odd ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

Gpu = Mapping[str, Any]

_HELD: Final = {
    "hw_thermal_slowdown": "hardware thermal slowdown: too hot, clocks are halved or less",
    "hw_power_brake_slowdown": "power brake: the board or its power supply asked for less",
    "hw_slowdown": "hardware slowdown (heat, power brake or supply)",
    "sw_thermal_slowdown": "software thermal slowdown: at its temperature limit",
}
"""Reasons that mean a fault (NVIDIA, nvidia-smi manual, clocks event reasons)."""

_BUSY: Final = 0.3
"""Assumed: a GPU that works less is idle, and idle links and clocks go down by themselves."""

_LOW: Final = 0.75
"""Assumed: a busy GPU below this share of its highest clock is held back."""

_MOST: Final = 50


def warnings_on(gpus: Sequence[Gpu], links: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """Return the remarks, the gravest first."""
    lines = [line for one in gpus for line in _errors(one)]
    lines += [line for one in gpus for line in _slow(one)]
    lines += _unlike(gpus)
    lines += _links(links)
    if len(lines) > _MOST:
        lines[_MOST:] = [f"{len(lines) - _MOST} more such remarks"]
    return lines


def _errors(one: Gpu) -> Iterator[str]:
    name, ecc = f"GPU {one['bus_id']}", one["ecc"]
    if one["lost"]:
        yield f"{name} does not answer: it fell off the bus, or its driver failed"
    for span in ("volatile", "aggregate"):
        count = ecc.get(f"{span}_uncorrectable")
        if count:
            when = "since the driver loaded" if span == "volatile" else "over its life"
            yield f"{name}: {count:,} uncorrectable memory errors {when}"
    rows, pages = one["remapped_rows"], one["retired_pages"]
    if rows["failure"]:
        yield f"{name}: remapping a row failed, no spare rows are left: replace it"
    if rows["pending"] or pages["pending"]:
        yield f"{name}: memory waits to be remapped or retired: reset the GPU"
    if pages["double_bit"]:
        yield f"{name}: {pages['double_bit']} pages retired for double-bit errors"
    if one["fabric_state"] not in (None, "Completed"):
        yield f"{name}: NVLink fabric {one['fabric_state']}: nvidia-fabricmanager does not run"
    elif one["fabric_status"] not in (None, "Success"):
        yield f"{name}: NVLink fabric ended with {one['fabric_status']}"


def _slow(one: Gpu) -> Iterator[str]:
    name, reasons, pcie = f"GPU {one['bus_id']}", one["reasons"], one["pcie"]
    held = [words for key, words in _HELD.items() if reasons.get(key)]
    if len(held) > 1:  # the general reason stands beside its special one
        held = [words for words in held if words != _HELD["hw_slowdown"]]
    for words in held:
        yield f"{name} is throttled: {words}"
    limit, usual = one["power_limit_w"], one["power_limit_default_w"]
    if limit and usual and limit < usual:
        yield f"{name}: power limit {limit:g} W, below its default of {usual:g} W"
    if pcie["width"] and pcie["width_max"] and pcie["width"] < pcie["width_max"]:
        yield f"{name}: PCIe width x{pcie['width']} of x{pcie['width_max']}"
    yield from _generation(name, one)
    yield from _clock(name, one, held=bool(held))
    if one["mig"] == "Enabled":
        yield f"{name} is split (MIG): its slices have no NVLink and no peer-to-peer"


def _generation(name: str, one: Gpu) -> Iterator[str]:
    pcie = one["pcie"]
    now, most = pcie["generation"], pcie["generation_max"]
    if now and most and now < most:
        if _idle(one):
            yield f"{name}: PCIe generation {now} of {most} while idle: read again under load"
        else:
            yield f"{name}: PCIe generation {now} of {most}, at work"
    card, host = pcie["generation_card"], pcie["generation_host"]
    if card and host and host < card:
        yield f"{name}: the slot gives PCIe generation {host}, the card could do {card}"


def _clock(name: str, one: Gpu, *, held: bool) -> Iterator[str]:
    now, most, busy = one["sm_clock_hz"], one["sm_clock_max_hz"], one["utilization"]
    if held or not now or not most or busy is None or busy < _BUSY or now >= _LOW * most:
        return
    capped = one["reasons"].get("sw_power_cap")
    why = "it is at its power limit" if capped else "no reason is shown"
    yield f"{name} works at {now / 1e6:,.0f} of {most / 1e6:,.0f} MHz: {why}"


def _idle(one: Gpu) -> bool:
    """Whether the GPU has nothing to do, or nobody said that it has."""
    if one["utilization"] is not None:
        return bool(one["utilization"] < _BUSY)
    return one["reasons"].get("idle", True) or one["performance_state"] not in ("P0", None)


def _unlike(gpus: Sequence[Gpu]) -> Iterator[str]:
    for key, what in (("product", "products"), ("memory_bytes", "sizes of memory"),
                      ("power_limit_w", "power limits")):  # fmt: skip
        counts = Counter(one[key] for one in gpus if one[key] is not None)
        if len(counts) > 1:
            least = min(counts, key=lambda value: (counts[value], str(value)))
            odd = next(one["bus_id"] for one in gpus if one[key] == least)
            yield f"the GPUs have {len(counts)} different {what}, first GPU {odd}"


def _links(links: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for one in links:
        down = one["rates"].count(None)
        if down:
            yield f"GPU {one['gpu']} has {down} of {len(one['rates'])} NVLinks inactive"
    up = {sum(rate is not None for rate in one["rates"]) for one in links}
    if len(up) > 1:
        yield f"some GPUs have lost NVLinks: {min(up)} are up, {max(up)} on others"
