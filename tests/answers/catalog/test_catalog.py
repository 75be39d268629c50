"""What ``artery catalog`` answers."""

from __future__ import annotations

import json
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


def test_a_model_has_its_parameters_counted() -> None:
    """ResNet-50 of torchvision: 25,557,032; Mixtral 8x7B: 46.7 and 12.9 billion."""
    assert value("resnet50", "parameters").value == 25_557_032
    assert value("mixtral-8x7b", "parameters").value == 46_702_792_704
    assert value("mixtral-8x7b", "active_parameters").text == "12,879,925,248"


def test_a_configuration_is_counted_even_where_no_step_time_is_modelled(tmp_path: Path) -> None:
    """state-spaces/mamba-2.8b-hf has 2,768,345,600 parameters (embedding tied)."""
    config = {
        "architectures": ["MambaForCausalLM"], "model_type": "mamba", "hidden_size": 2560,
        "intermediate_size": 5120, "num_hidden_layers": 64, "state_size": 16, "time_step_rank": 160,
        "vocab_size": 50280, "conv_kernel": 4, "use_bias": False, "use_conv_bias": True,
    }  # fmt: skip
    folder = tmp_path / "mamba-2.8b"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    for name in (str(folder), str(folder / "config.json")):
        (entry,) = catalog_show(name)
        shown = {found.path: found.value for found in entry.values}
        assert (entry.kind, entry.name) == ("models", "mamba-2.8b")
        assert shown["parameters"] == 2_768_345_600
        assert "state-space" in str(shown["unsupported"])


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
        counted = {"parameters", "active_parameters"}
        assert all(value.source or value.path in counted for value in shown[0].values), name


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
