"""Reading a ``config.json``: weights, dtypes, windows, names, and what is said about it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from artery.core.workload import Attention, Workload
from artery.formats.hf_config import read
from tests.formats.hf_config.configs import COUNTED
from tests.formats.hf_config.decoders import LATENT, LLAMA, Config
from tests.formats.hf_config.vision import SEEING


def written(folder: Path, config: Config, name: str = "config.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def of(folder: Path, config: Config) -> Workload:
    return read(written(folder, config))


@pytest.mark.parametrize(("config", "weights"), COUNTED.values(), ids=COUNTED)
def test_weights_by_hand(tmp_path: Path, config: Config, weights: int) -> None:
    assert of(tmp_path, config).parameters == weights


def test_a_model_type_follows_from_the_class_name(tmp_path: Path) -> None:
    named = {key: value for key, value in LLAMA.items() if key != "model_type"}
    assert of(tmp_path, named).parameters == COUNTED["llama"][1]


def test_without_any_name_the_keys_decide_and_that_is_said(tmp_path: Path) -> None:
    bare = {k: v for k, v in LLAMA.items() if k not in ("model_type", "architectures")}
    workload = of(tmp_path, bare)
    assert workload.parameters == COUNTED["llama"][1]
    assert any("read as a llama" in note for note in workload.notes)


def test_a_folder_a_file_and_standard_input_are_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, LLAMA)
    stream = io.TextIOWrapper(io.BytesIO(path.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stream)
    assert read(tmp_path) == read(str(path))
    assert read("-").parameters == read(path).parameters


def test_the_name_is_the_file_or_its_folder(tmp_path: Path) -> None:
    assert read(written(tmp_path, LLAMA)).name == tmp_path.name
    assert read(written(tmp_path, LLAMA, "small.json")).name == "small"


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA), encoding="utf-8-sig")
    assert read(path).parameters == COUNTED["llama"][1]


@pytest.mark.parametrize(
    ("extra", "dtype"),
    [
        ({}, "bf16"),
        ({"torch_dtype": "float16"}, "fp16"),
        ({"dtype": "float32"}, "fp32"),
        ({"torch_dtype": None}, None),
        ({"quantization_config": {"quant_method": "mxfp4"}}, "fp4"),
        ({"quantization_config": {"quant_method": "gptq", "bits": 4}}, "int4"),
        ({"quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"}}, "fp4"),
        ({"quantization_config": {"load_in_8bit": True}}, "int8"),
        (
            {
                "quantization_config": {
                    "quant_method": "compressed-tensors",
                    "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}}},
                }
            },
            "fp8",
        ),
    ],
)
def test_dtype_of_the_weights(tmp_path: Path, extra: Config, dtype: str | None) -> None:
    assert of(tmp_path, {**LLAMA, **extra}).weight_dtype == dtype


def test_quantisation_goes_before_the_dtype(tmp_path: Path) -> None:
    assert of(tmp_path, LATENT).weight_dtype == "fp8"


def windows(workload: Workload) -> list[int | None]:
    return [
        operator.window
        for layer in workload.layers
        for operator in layer.operators * layer.count
        if isinstance(operator, Attention)
    ]


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ({"model_type": "llama", "sliding_window": 9}, [None] * 6),
        ({"model_type": "mistral", "sliding_window": 9}, [9] * 6),
        ({"model_type": "mistral", "sliding_window": None}, [None] * 6),
        ({"model_type": "gemma2", "head_dim": 8, "sliding_window": 9}, [9, None] * 3),
        (
            {"model_type": "gemma3_text", "head_dim": 8, "sliding_window": 9},
            [9, 9, 9, 9, 9, None],
        ),
        ({"model_type": "cohere2", "sliding_window": 9}, [9, 9, 9, None, 9, 9]),
        (
            {
                "model_type": "qwen2",
                "sliding_window": 9,
                "use_sliding_window": True,
                "max_window_layers": 4,
            },
            [None] * 4 + [9] * 2,
        ),
        (
            {"model_type": "qwen2", "sliding_window": 9, "use_sliding_window": False},
            [None] * 6,
        ),
        (
            {
                "model_type": "olmo3",
                "sliding_window": 9,
                "layer_types": ["full_attention"] * 5 + ["sliding_attention"],
            },
            [None] * 5 + [9],
        ),
        ({"model_type": "llama4_text", "attention_chunk_size": 9}, [9, 9, 9, None, 9, 9]),
        (
            {
                "model_type": "llama4_text",
                "attention_chunk_size": 9,
                "no_rope_layers": [0, 1, 1, 1, 1, 1],
            },
            [None] + [9] * 5,
        ),
    ],
)
def test_windows(tmp_path: Path, extra: Config, expected: list[int | None]) -> None:
    assert windows(of(tmp_path, {**LLAMA, "num_hidden_layers": 6, **extra})) == expected


def test_the_training_length_is_an_assumption_that_is_said(tmp_path: Path) -> None:
    short = of(tmp_path, LLAMA)
    assert (short.sequence, short.max_sequence) == (512, 512)
    long = of(tmp_path, {**LLAMA, "max_position_embeddings": 131072})
    assert (long.sequence, long.max_sequence) == (4096, 131072)
    assert any("4,096 tokens" in note for note in long.notes)


def test_dropout_only_where_it_is_above_zero(tmp_path: Path) -> None:
    wet = of(tmp_path, {**LLAMA, "attention_dropout": 0.1})
    assert any(item.name == "score dropout mask" for item in wet.layers[0].saved)
    dry = of(tmp_path, {**LLAMA, "attention_dropout": 0.0})
    assert not [item for item in dry.layers[0].saved if "mask" in item.name]


def test_harmless_keys_are_silent_and_strange_shapes_are_named(tmp_path: Path) -> None:
    quiet = of(tmp_path, {**LLAMA, "bos_token_id": 7, "rope_theta": 5e5, "my_note": "x"})
    assert not [note for note in quiet.notes if "Not understood" in note]
    strange = of(tmp_path, {**LLAMA, "num_memory_tokens": 16})
    (note,) = [note for note in strange.notes if "Not understood" in note]
    assert "num_memory_tokens" in note


def test_an_unknown_vision_tower_is_left_out_and_that_is_said(tmp_path: Path) -> None:
    seeing = {"model_type": "idefics3", "text_config": LLAMA, "vision_config": {"hidden_size": 8}}
    workload = of(tmp_path, seeing)
    assert workload.parameters == COUNTED["llama"][1]
    assert "The vision tower is neither counted nor timed." in workload.notes


@pytest.mark.parametrize(
    "family",
    [
        "clip",
        "mamba",
        "nemotron_h: a pattern of mixers",
        "qwen3_next: linear attention, a gate on the rest, a gated shared expert",
    ],
)
def test_what_cannot_be_timed_says_why(tmp_path: Path, family: str) -> None:
    reason = of(tmp_path, COUNTED[family][0]).unsupported
    assert reason is not None
    assert "not modelled" in reason


def test_active_weights_of_a_mixture(tmp_path: Path) -> None:
    config, weights = COUNTED["mixtral"]
    spared = 3 * 2 * 3 * 64 * 160
    assert of(tmp_path, config).active_parameters == weights - spared


def test_a_silent_nested_table_takes_the_defaults_and_says_which(tmp_path: Path) -> None:
    nested = {key: value for key, value in LLAMA.items() if key != "vocab_size"}
    workload = of(
        tmp_path, {**SEEING["llava: clip's tower and two maps"][0], "text_config": nested}
    )
    assert workload.logits == 32000
    assert any("vocab_size 32000" in note for note in workload.notes)


def test_the_weights_of_a_tower_are_said(tmp_path: Path) -> None:
    workload = of(tmp_path, SEEING["llava: clip's tower and two maps"][0])
    tower = workload.parameters - COUNTED["llama"][1]
    assert f"The vision tower ({tower:,} weights) is counted, not timed." in workload.notes
