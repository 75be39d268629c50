"""Every shipped chip and link: well formed, and every value with a source."""

from __future__ import annotations

import re

import pytest

from artery.catalog import chip, link, names
from artery.catalog.door import check
from artery.catalog.loader import aliases, entry, resolve
from artery.catalog.part_schema import NicTable, OpticTable, SwitchTable
from artery.catalog.schema import ChipTable, LinkTable
from artery.catalog.sourced import leaves
from artery.catalog.structure import fill
from artery.catalog.syntax import Document
from artery.core.source import Source

MUST_EXIST = (
    *("gtx580", "v100", "a100-40g", "a100-80g", "a800", "h100-sxm", "h100-pcie", "h800", "h200"),
    *("b200", "gb200", "b300", "mi250x", "mi300x", "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e"),
    *("gaudi2", "ascend-910b", "rtx3090", "rtx4090", "l40s", "epyc-9654", "xeon-8480"),
    *("h100-96g-500w", "v100-16g"),
)

SIBLINGS: dict[str, type] = {
    "chips": ChipTable,
    "links": LinkTable,
    "switches": SwitchTable,
    "nics": NicTable,
    "optics": OpticTable,
}
ENTRIES = [(kind, name) for kind in SIBLINGS for name in names(kind)]


@pytest.mark.parametrize("name", MUST_EXIST)
def test_the_chip_exists_under_its_own_name(name: str) -> None:
    assert name in names("chips")
    assert chip(name).name == name


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_the_strict_door_takes_it_and_reads_the_same(kind: str, name: str) -> None:
    values = entry(kind, name).values
    document = Document(name, values)
    assert check(SIBLINGS[kind], values, document) == fill(SIBLINGS[kind], values)


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_every_value_has_a_dated_source(kind: str, name: str) -> None:
    sourced = entry(kind, name)
    unsourced = [path for path, _ in leaves(sourced.values) if path not in sourced.sources]
    assert unsourced in ([], [("name",)])
    for source in sourced.sources.values():
        assert source.text
        assert re.fullmatch(r"(19|20)\d\d(-(0[1-9]|1[0-2]))?", source.as_of)


@pytest.mark.parametrize("name", names("chips"))
def test_every_number_of_a_chip_has_a_source(name: str) -> None:
    found = chip(name)
    owed = {f"peaks.{dtype}" for dtype in found.peaks}
    owed |= {f"efficiency.matmul.{dtype}" for dtype in found.peaks}
    owed |= {
        f"efficiency.{field}" for field in ("wave_quantisation", "memory", "kernel", "sustained")
    }
    owed |= {f"memory.{field}" for field in ("capacity", "bandwidth")}
    owed |= {
        f"ports.{port.kind}.{field}" for port in found.ports for field in ("count", "bandwidth")
    }
    owed |= {field for field in ("power", "price") if getattr(found, field) is not None}
    assert owed | {"cores", "cache", "year"} <= found.provenance.keys()
    assert all(isinstance(source, Source) for source in found.provenance.values())


@pytest.mark.parametrize("name", names("chips"))
def test_stacks_times_bits_times_rate_is_the_bandwidth(name: str) -> None:
    memory = chip(name).memory
    if memory.stacks is None or memory.bits_per_stack is None or memory.rate is None:
        assert (memory.rate, memory.stacks) == (None, None), "all of them or none"
        return
    product = memory.stacks * memory.bits_per_stack * memory.rate / 8
    assert product == pytest.approx(memory.bandwidth, rel=0.02)


def test_most_memories_are_broken_down_into_stacks() -> None:
    assert sum(chip(name).memory.stacks is not None for name in names("chips")) >= 40


@pytest.mark.parametrize("name", names("chips"))
def test_what_is_unknown_is_none_and_never_zero(name: str) -> None:
    found = chip(name)
    assert found.power is None or found.power > 0
    assert found.price is None or found.price > 0


@pytest.mark.parametrize("name", names("links"))
def test_a_link_has_a_rate_and_an_efficiency(name: str) -> None:
    found = link(name)
    assert found.name == name
    assert found.bandwidth > 0
    assert 0 < found.efficiency <= 1
    assert 0 < found.latency < 1e-3
    for field in ("energy_per_bit", "price", "reach"):
        assert getattr(found, field) is None or getattr(found, field) > 0


@pytest.mark.parametrize("kind", ["chips", "links"])
def test_aliases_lead_to_entries_and_hide_none(kind: str) -> None:
    for alias, target in aliases(kind).items():
        assert target in names(kind)
        assert alias not in names(kind)
        assert alias == alias.casefold()
        assert resolve(kind, alias.upper()).name == target
