"""Every complete row of the published tables of parts is in the catalog, with the same numbers."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from artery.catalog import nic, optic, switch

Row = dict[str, str]
GBPS = 1e9 / 8
NAMES = {"dr4-800-200g": "dr4-800"}
NO_PART = ("hdr-cable", "generic-400")
"""Rows without a medium or a reach of their own."""


def rows(shared: Path, name: str) -> Iterator[Row]:
    with (shared / "validation" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def number(text: str) -> float | None:
    found = re.fullmatch(r"<?\s*(\d+(?:\.\d+)?)", text.strip())
    return float(found[1]) if found else None


def bounds(text: str) -> list[float]:
    """The numbers that a cell begins with: ``14 to 16``, ``<=16``, ``about 600 to 800``."""
    first = re.match(r"\D*?(\d+(?:\.\d+)?)(?:\s*to\s*(\d+(?:\.\d+)?))?", text)
    return [float(part) for part in first.groups() if part] if first else []


def test_switches(shared: Path) -> None:
    complete = 0
    for row in rows(shared, "switches"):
        if not all(number(row[key]) for key in ("ports", "port_gb_s", "capacity_tb_s_one_way")):
            continue
        complete += 1
        found = switch(row["id"])
        assert found.ports == int(row["ports"])
        assert found.port == float(row["port_gb_s"]) * GBPS
        assert found.capacity == pytest.approx(float(row["capacity_tb_s_one_way"]) * 1e12 / 8)
        assert found.year == int(row["year"])
        typical = number(row["power_typ_w"])
        if typical:
            assert found.power is not None
            assert found.power.low <= typical <= found.power.high
        assert found.power_max == (number(row["power_max_w"]) if row["id"] != "th5" else None)
        if row["price_usd_rough"] and "per" not in row["price_usd_rough"]:
            assert found.price is not None
            assert f"{found.price.low:.0f}" in row["price_usd_rough"]
            assert f"{found.price.high:.0f}" in row["price_usd_rough"]
    assert complete == 17


def test_cards(shared: Path) -> None:
    complete = 0
    for row in rows(shared, "nics"):
        rate = number(row["total_gb_s_one_way_gbit"])
        if row["class"] == "host-cost" or rate is None:
            continue
        complete += 1
        found = nic(row["id"])
        assert found.rate == rate * GBPS
        kind = "supernic" if "SuperNIC" in row["name"] else row["class"]
        assert (found.kind, found.year) == (kind, int(row["year"]))
        if row["power_typ_w"]:
            assert found.power is not None
            # "25 (17 to 26)": the range is what counts.
            ranges = [told for part in row["power_typ_w"].split("(") if (told := bounds(part))]
            assert [found.power.low, found.power.high] == max(ranges, key=len)
        if row["price_usd_rough"]:
            assert found.price is not None
            assert [found.price.low, found.price.high] == bounds(row["price_usd_rough"])
    assert complete == 15


def test_optics(shared: Path) -> None:
    complete = 0
    for row in rows(shared, "optics"):
        rate = number(row["rate_gbit"])
        is_part = row["kind"] in ("copper", "optics", "CPO", "microLED")
        if not is_part or rate is None or row["id"] in NO_PART:
            continue
        complete += 1
        found = optic(NAMES.get(row["id"], row["id"]))
        assert found.rate == rate * GBPS
        if row["reach_m"]:
            told = bounds(row["reach_m"])
            assert {found.reach.low, found.reach.high} >= {told[-1]}
        if row["mtbf_hours"]:
            assert found.mtbf is not None
            assert found.mtbf.low == bounds(row["mtbf_hours"])[0] * 3600
        energy = number(row["pj_per_bit_per_end"])
        if energy:
            assert found.energy_per_bit == pytest.approx(energy * 1e-12)
    assert complete == 18
