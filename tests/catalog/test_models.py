"""Every shipped model: well formed, sourced, and found by its name."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from artery.catalog import model, names
from artery.catalog.loader import aliases, entry
from artery.catalog.sourced import leaves
from artery.errors import UnknownNameError
from artery.workload import (
    CnnShape,
    DecoderShape,
    EncoderDecoderShape,
    EncoderShape,
    MlpShape,
    VitShape,
)

MUST_EXIST = (
    *("alexnet", "resnet18", "resnet50", "vgg16", "bert-base", "bert-large", "gpt2", "gpt3-175b"),
    *("megatron-1.7b", "megatron-3.6b", "megatron-7.5b", "megatron-18.4b", "megatron-39.1b"),
    *("megatron-76.1b", "megatron-145.6b", "megatron-310.1b", "megatron-529.6b", "megatron-1t"),
    *("mt-nlg-530b", "bloom-176b", "opt-175b", "palm-540b", "llama2-7b", "llama2-13b"),
    *("llama2-70b", "llama3-8b", "llama3-70b", "llama3-405b", "mixtral-8x7b", "qwen3-30b-a3b"),
    *("deepseek-v3", "moe-10t"),
)

SHAPES = {
    "cnn": CnnShape,
    "decoder": DecoderShape,
    "encoder": EncoderShape,
    "encoder-decoder": EncoderDecoderShape,
    "mlp": MlpShape,
    "vit": VitShape,
}


@pytest.mark.parametrize("name", MUST_EXIST)
def test_the_model_exists_under_its_own_name(name: str) -> None:
    assert name in names("models")
    assert model(name).name == name


@pytest.mark.parametrize("name", names("models"))
def test_the_file_says_nothing_that_is_not_read(name: str) -> None:
    values = entry("models", name).values
    assert set(values) <= {"name", "family", "shape", "notes"}
    assert set(values["shape"]) <= {field.name for field in fields(SHAPES[values["family"]])}


@pytest.mark.parametrize("name", names("models"))
def test_every_value_has_a_dated_source(name: str) -> None:
    sourced = entry("models", name)
    unsourced = [path for path, _ in leaves(sourced.values) if path not in sourced.sources]
    assert unsourced in ([], [("name",)])
    for source in sourced.sources.values():
        assert source.text
        assert re.fullmatch(r"(19|20)\d\d(-(0[1-9]|1[0-2]))?", source.as_of)


@pytest.mark.parametrize(("alias", "name"), aliases("models").items())
def test_an_alias_says_what_it_was_taken_for(alias: str, name: str) -> None:
    found = model(alias)
    assert found.name == name
    assert f"is taken as {name}" in found.notes[0]


def test_upper_and_lower_case_are_alike() -> None:
    assert model("LLaMA3-8B") == model("llama3-8b")


def test_an_unknown_name_gets_the_nearest_ones() -> None:
    with pytest.raises(UnknownNameError, match="did you mean") as caught:
        model("lama3-8b")
    assert "llama3-8b" in caught.value.near
