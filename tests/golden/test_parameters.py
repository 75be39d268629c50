"""Weights and multiply-adds of published models, against what their authors print."""

from __future__ import annotations

import pytest

from artery.catalog import model
from tests.workload.counting import macs, score_flops

EXACT = {
    # torchvision 0.x model cards (weights of the original recipes)
    "vgg16": 138_357_544,
    "resnet18": 11_689_512,
    "resnet50": 25_557_032,
    "vit-l-16": 304_326_632,
    # Krizhevsky et al. 2012, Figure 2, by layer: 34,944 + 307,456 + 885,120 + 663,936 + 442,624
    # + 37,752,832 + 16,781,312 + 4,097,000
    "alexnet": 60_965_224,
    # Hugging Face model cards (number of parameters of the safetensors file)
    "gpt2": 124_439_808,
    "llama2-7b": 6_738_415_616,
    "llama2-13b": 13_015_864_320,
    "llama2-70b": 68_976_648_192,
    "llama3-8b": 8_030_261_248,
    "llama3-70b": 70_553_706_496,
    "llama3-405b": 405_853_388_800,
    "mixtral-8x7b": 46_702_792_704,
    "qwen3-30b-a3b": 30_532_122_624,
    "bloom-176b": 176_247_271_424,
    "t5-11b": 11_307_321_344,
    # BertForPreTraining: 109,482,240 of the encoder with pooler, and the two heads
    "bert-base": 110_106_428,
    "bert-large": 336_226_108,
    # The released checkpoint less its multi-token prediction module
    "deepseek-v3": 671_026_404_352,
}


@pytest.mark.parametrize(("name", "parameters"), EXACT.items())
def test_to_the_unit(name: str, parameters: int) -> None:
    assert model(name).parameters == parameters


PRINTED = {
    # Narayanan et al. 2021, Table 1, "Number of parameters (billion)"
    "megatron-1.7b": "1.7",
    "megatron-3.6b": "3.6",
    "megatron-7.5b": "7.5",
    "megatron-18.4b": "18.4",
    "megatron-39.1b": "39.1",
    "megatron-76.1b": "76.1",
    "megatron-145.6b": "145.6",
    "megatron-310.1b": "310.1",
    "megatron-529.6b": "529.6",
    "megatron-1t": "1008.0",
    "gpt3-175b": "174.6",  # Table 2
    "mt-nlg-530b": "529.6",
    "nemotron4-15b": "15.6",  # 3.1 B embedding and 12.5 B other, Parmar et al. 2024, Table 1
    # llm-foundry benchmark tables, "Params" at a sequence of 2,048
    "mpt-125m": "0.1253",
    "mpt-350m": "0.3560",
    "mpt-760m": "0.7605",
    "mpt-1b": "1.3160",
    "mpt-3b": "2.6518",
    "mpt-7b": "6.6589",
    "mpt-13b": "12.8540",
    "mpt-30b": "29.9752",
    "mpt-70b": "64.8624",
}


@pytest.mark.parametrize(("name", "billions"), PRINTED.items())
def test_as_printed(name: str, billions: str) -> None:
    half_a_digit = 0.5 * 10.0 ** -len(billions.partition(".")[2])
    assert model(name).parameters / 1e9 == pytest.approx(float(billions), abs=half_a_digit)


def test_palm() -> None:
    # Chowdhery et al. 2022, Table 1: 540.35 B, which is the sum without the norms' weights.
    workload = model("palm-540b")
    norms = sum(
        part.count * p.size for part in workload.parts for p in part.parameters if "norm" in p.name
    )
    assert norms == 119 * 18432
    assert (workload.parameters - norms) / 1e9 == pytest.approx(540.35, abs=0.005)


@pytest.mark.parametrize(
    ("name", "active"),
    [
        ("mixtral-8x7b", 12_879_925_248),  # 12.9 B, Jiang et al. 2024, section 2
        ("qwen3-30b-a3b", 3_353_032_704),  # 3.3 B, Qwen3 model card
        ("deepseek-v3", 37_552_282_624),  # 37 B, DeepSeek-V3 report, abstract
    ],
)
def test_active_weights(name: str, active: int) -> None:
    assert model(name).active_parameters == active


def test_the_assumed_ten_trillion_model_is_what_it_says() -> None:
    assumed = model("moe-10t")
    assert assumed.parameters == pytest.approx(10e12, rel=0.01)
    assert assumed.active_parameters == pytest.approx(300e9, rel=0.01)
    assert "assumed" in assumed.notes[0]


@pytest.mark.parametrize(
    ("name", "giga"),
    [
        # He et al. 2015, Table 1: 3.8e9 with the stride in the 1x1; 4.09 with it in the 3x3
        # (torchvision's model card, v1.5); ResNet-18 1.814 there
        ("resnet50", 4.09),
        ("resnet18", 1.814),
        ("vgg16", 15.47),  # torchvision's model card
        # 105.4 + 223.9 + 149.5 + 112.1 + 74.8 million of the five convolutions (two of them and
        # the second grouped) and 58.6 million of the dense layers
        ("alexnet", 0.7244),
    ],
)
def test_multiply_adds_of_an_image(name: str, giga: float) -> None:
    assert macs(model(name)) == pytest.approx(giga * 1e9, rel=2e-3)


def test_multiply_adds_of_a_vision_transformer() -> None:
    # torchvision's model card for vit_l_16: 61.55 GMAC with the score core.
    workload = model("vit-l-16")
    per_token = macs(workload) + score_flops(workload, workload.sequence) / 2
    assert per_token * workload.sequence == pytest.approx(61.55e9, rel=1e-3)
