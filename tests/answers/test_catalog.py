"""What ``artery catalog`` answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.answers.catalog import (
    Value,
    catalog,
    catalog_list,
    catalog_schema,
    catalog_show,
)
from artery.catalog import chip, names
from artery.catalog.loader import KINDS
from artery.errors import InputError, UnknownNameError


def value(name: str, path: str) -> Value:
    (entry,) = catalog_show(name)
    return next(found for found in entry.values if found.path == path)


def test_every_kind_is_counted() -> None:
    assert {count.kind: count.count for count in catalog()} == {
        kind: len(names(kind)) for kind in KINDS
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_has_a_line_for_every_entry(kind: str) -> None:
    listing = catalog_list(kind)
    assert tuple(item.name for item in listing.items) == names(kind)
    assert all(item.summary for item in listing.items)


def test_a_list_says_what_matters() -> None:
    summaries = {item.name: item.summary for item in catalog_list("chip").items}
    assert summaries["h100-sxm"] == "989 TFLOP/s bf16, 79.6 GiB at 3.35 TB/s, 700 W"
    assert summaries["gtx580"].startswith("1.58 TFLOP/s fp32")
    links = {item.name: item.summary for item in catalog_list("links").items}
    assert links["ib-ndr"] == "50.0 GB/s per direction, 600 ns"


def test_a_quantity_is_given_in_si_and_as_written() -> None:
    found = value("h100-sxm", "peaks.bf16")
    assert (found.value, found.unit, found.text) == (989.4e12, "FLOP/s", "989.4 TFLOP/s")
    assert found.confidence == "datasheet"
    assert found.as_of == "2023-03"
    assert "H100" in str(found.source)
    assert value("ib-ndr", "bandwidth").value == 50e9


def test_what_is_assumed_is_shown_beside_what_is_known() -> None:
    assumed = value("gaudi3", "efficiency.kernel")
    assert (assumed.value, assumed.unit, assumed.confidence) == (3e-6, "s", "assumed")
    curve = value("gaudi3", "efficiency.attention.flash2.half_length")
    assert curve.value == chip("gaudi3").efficiency.attention["flash2"].half_length


@pytest.mark.parametrize("kind", KINDS)
def test_every_entry_of_every_kind_can_be_shown_with_its_sources(kind: str) -> None:
    for name in names(kind):
        shown = [entry for entry in catalog_show(name) if entry.kind == kind]
        assert len(shown) == 1
        assert shown[0].values
        assert all(value.source for value in shown[0].values), name


def test_an_alias_is_noted() -> None:
    (entry,) = catalog_show("H100")
    assert entry.name == "h100-sxm"
    assert "h100-sxm" in str(entry.note)


def test_an_unknown_name_is_answered_with_the_nearest_of_any_kind() -> None:
    with pytest.raises(InputError, match='did you mean "resnet50"'):
        catalog_show("resnet5O")
    with pytest.raises(InputError, match="artery catalog list"):
        catalog_show("zzzzzz")
    with pytest.raises(UnknownNameError, match='did you mean "chips"'):
        catalog_list("chps")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('base = "h100"\n', "chips"),
        ('base = "ib-ndr"\n', "links"),
        ('base = "dgx-h100"\n', "systems"),
        ('kind = "x"\nbandwidth = "1 Gb/s"\nlatency = "1 us"\nefficiency = 0.9\n', "links"),
    ],
)
def test_a_file_is_shown_as_what_it_describes(tmp_path: Path, text: str, kind: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    (entry,) = catalog_show(str(file))
    assert (entry.kind, entry.name) == (kind, "mine")


@pytest.mark.parametrize("kind", ["chip", "links", "System"])
def test_the_schema_of_what_a_user_may_describe(kind: str) -> None:
    schema = catalog_schema(kind)
    assert schema["additionalProperties"] is False
    assert "name" in schema["properties"]


def test_no_schema_of_what_a_user_may_not_describe() -> None:
    with pytest.raises(UnknownNameError, match="chip"):
        catalog_schema("model")
