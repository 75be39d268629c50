"""``--set path=value``."""

from __future__ import annotations

import pytest

from artery.catalog import chip, link, system
from artery.catalog.overrides import apply_overrides, under
from artery.errors import InputError


def test_a_quantity_a_fraction_and_a_count() -> None:
    found = chip("h100", ["power=500 W", "efficiency.memory=0.7", "ports.nvlink.count=12"])
    assert (found.power, found.efficiency.memory) == (500, 0.7)
    assert next(port.count for port in found.ports if port.kind == "nvlink") == 12
    assert found.name == "h100-sxm"


def test_where_it_came_from_is_kept() -> None:
    found = chip("h100", ["power=500 W"])
    assert found.provenance["power"].text == "--set power=500 W"
    assert found.provenance["cores"] == chip("h100").provenance["cores"]


def test_a_new_bandwidth_stands_although_the_pins_gave_another() -> None:
    memory = chip("h100", ["memory.bandwidth=4 TB/s"]).memory
    assert (memory.bandwidth, memory.rate) == (4e12, None)


def test_new_pins_give_a_new_bandwidth() -> None:
    found = chip("h100", ["memory.stacks=6", "memory.rate=6.4 Gb/s"])
    assert found.memory.bandwidth == pytest.approx(6 * 1024 * 6.4e9 / 8)
    assert found.provenance["memory.bandwidth"].text == "--set memory.rate=6.4 Gb/s"


def test_a_value_that_was_unknown_may_be_set() -> None:
    assert chip("b200").price is None
    assert chip("b200", ["price=40000 USD"]).price == 40000
    assert link("ib-ndr", ["price=1200 USD", "bandwidth=800 Gb/s"]).bandwidth == 100e9


def test_the_catalog_itself_is_not_touched() -> None:
    before = chip("h100").memory
    chip("h100", ["memory.bandwidth=4 TB/s"])
    assert chip("h100").memory == before


def test_values_are_read_as_toml_and_else_as_text() -> None:
    table = {"tiers": [{"nodes": 4}, {"nodes": 8}], "node": {}}
    texts = [
        "tiers[1].nodes=16",
        "tiers.0.nodes=2",
        "node.dims=[4,4]",
        'node.a="x y"',
        "node.b=x y",
    ]
    values = apply_overrides(table, [*texts, "node.c=true", "node.d=2026-11-30"]).values
    assert values["tiers"] == [{"nodes": 2}, {"nodes": 16}]
    assert values["node"] == {"dims": [4, 4], "a": "x y", "b": "x y", "c": True, "d": "2026-11-30"}
    assert table["node"] == {}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("memory.bandwidth", "path=value"),
        ("=4 TB/s", "path=value"),
        ("memory.bandwidth=", "path=value"),
        ("memory bandwidth=4 TB/s", "path=value"),
        ("memory.bandwidth.x=1", "no table"),
        ("memory[0]=1", "unknown field"),
        ("memry.bandwidth=4 TB/s", 'did you mean "memory"'),
        ("memory.bandwdth=4 TB/s", 'did you mean "bandwidth"'),
        ("memory.bandwidth=4", "needs a unit"),
        ("memory.bandwidth=4 GiB", "B/s"),
        ("memory.bandwidth=-4 TB/s", "negative"),
        ("memory.bandwidth=1e300 TB/s", "finite"),
        ("ports.nvlink.bandwidth=25 GB/s", "direction"),
        ("cores=many", "whole number"),
        ("cores=0", "at least 1"),
        ("efficiency.memory=1.5", "fraction"),
        ("efficiency.memory=nan", "finite"),
        ("peaks.bf61=1 PFLOP/s", 'did you mean "bf16"'),
        ("peaks=1", "table"),
        ("power=5 A", "unit of W"),
        ("year=99", "1990"),
    ],
)
def test_a_wrong_override_says_what_would_be_right(text: str, word: str) -> None:
    with pytest.raises(InputError) as caught:
        chip("h100", [text])
    assert word in str(caught.value)
    assert caught.value.problems[0].file == "--set"


def test_all_wrong_overrides_are_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        chip("h100", ["cores=x", "power=5 A", "memry.kind=HBM"])
    assert len(caught.value.problems) == 3


def test_the_overrides_below_a_root_are_split_off() -> None:
    assert under("chip", ["chip.power=1 W", "chips=8", "node.chips=4"]) == (
        ["power=1 W"],
        ["chips=8", "node.chips=4"],
    )


@pytest.mark.parametrize("text", ["chip.power=", "chip.power=7", "chip.pwr=7 W"])
def test_what_is_wrong_is_called_as_it_was_written(text: str) -> None:
    with pytest.raises(InputError) as caught:
        system("dgx-h100:8", [text])
    assert text.partition("=")[0] in str(caught.value)


@pytest.mark.parametrize("name", ["dgx-h100:8", "tpu-v4-pod:4x4x4"])
def test_the_number_of_chips_is_said_once(name: str) -> None:
    with pytest.raises(InputError, match=r"--set  chips .* said once"):
        system(name, ["chips=16"])
    assert system(name.partition(":")[0], ["chips=16"]).chips == 16
