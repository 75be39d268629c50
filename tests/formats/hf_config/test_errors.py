"""Broken configurations: where, what, and how to repair it; never a traceback."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.errors import InputError, Problem
from artery.formats.hf_config import read
from artery.formats.hf_config.document import parse
from artery.formats.hf_config.families import KNOWN, read_family
from artery.formats.hf_config.keys import Keys
from tests.formats.hf_config.configs import COUNTED
from tests.formats.hf_config.decoders import LATENT, LLAMA, Config


def problems(folder: Path, content: str | bytes) -> tuple[Problem, ...]:
    path = folder / "config.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        read(path)
    for problem in caught.value.problems:
        assert problem.file == str(path)
        assert problem.line
        assert problem.rule
        assert problem.fix
    return caught.value.problems


def config_problems(folder: Path, config: Config) -> tuple[Problem, ...]:
    return problems(folder, json.dumps(config, indent=2))


@pytest.mark.parametrize(
    ("content", "found", "place"),
    [
        ("", "empty", (1, 1)),
        (" \n\t\n", "empty", (1, 1)),
        ('{"hidden_size": 64,\n "vocab_size" 100}', "broken JSON", (2, 15)),
        ('{"hidden_size": 64,\n "vocab_size": 100', "broken JSON", (2, 19)),
        ("{hidden_size: 64}", "broken JSON", (1, 2)),
        ("[1, 2]", "a list at the top", (1, 1)),
        ("42", "a number at the top", (1, 1)),
        ("null", "null at the top", (1, 1)),
        ("model: llama\n", "broken JSON", (1, 1)),
        (b"\x80\x02}q\x00", "not UTF-8", (1, 1)),
        (b"GGUF\x00\x03\xff\xfe", "not UTF-8", (1, 1)),
        ('{\n "model_type": "llama",\n  "model_type": "gpt2"}', "stands twice", (3, 3)),
        ("[" * 100_000, "brackets too deep", (1, 1)),
        ('{"a": ' + "9" * 5000 + "}", "a number too long", (1, 1)),
        ("{}".encode("utf-16"), "UTF-16 text", (1, 1)),
    ],
)
def test_what_is_no_configuration(
    tmp_path: Path, content: str | bytes, found: str, place: tuple[int, int]
) -> None:
    (problem,) = problems(tmp_path, content)
    assert found in problem.found
    assert (problem.line, problem.column) == place


def test_a_file_larger_than_any_configuration(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, b" " * (16 * 2**20 + 1))
    assert "16 MiB" in problem.found
    assert "weights" in problem.fix


@pytest.mark.parametrize("missing", ["nowhere.json", "no/such/folder", "nul\0byte.json"])
def test_a_path_that_is_not_there(tmp_path: Path, missing: str) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read(str(tmp_path / missing))


def test_a_folder_without_a_configuration(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"config\.json"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("extra", "field", "rule"),
    [
        ({"num_hidden_layers": 1e30}, "num_hidden_layers", "from 1 to 100,000"),
        ({"num_hidden_layers": 0}, "num_hidden_layers", "from 1"),
        ({"num_attention_heads": -8}, "num_attention_heads", "from 1"),
        ({"hidden_size": 10**12}, "hidden_size", "from 1 to 1,000,000,000"),
        ({"hidden_size": 64.5}, "hidden_size", "whole number"),
        ({"hidden_size": "64"}, "hidden_size", "whole number"),
        ({"hidden_size": True}, "hidden_size", "whole number"),
        ({"hidden_size": [64]}, "hidden_size", "whole number"),
        ({"hidden_size": float("inf")}, "hidden_size", "whole number"),
        ({"vocab_size": float("nan")}, "vocab_size", "whole number"),
        ({"vocab_size": None}, "vocab_size", "needs it"),
        ({"intermediate_size": None}, "intermediate_size", "needs it"),
        ({"num_attention_heads": 6}, "num_attention_heads", "must divide hidden_size"),
        ({"num_key_value_heads": 3}, "num_key_value_heads", "must divide num_attention_heads"),
        ({"tie_word_embeddings": "no"}, "tie_word_embeddings", "true or false"),
        ({"attention_dropout": 3}, "attention_dropout", "from 0 to 1"),
        ({"model_type": 5}, "model_type", "must be a text"),
        ({"architectures": "LlamaForCausalLM"}, "architectures", "a list of texts"),
        ({"quantization_config": "fp8"}, "quantization_config", "must be a table"),
        ({"layer_types": ["full_attention"], "sliding_window": 8}, "layer_types", "each of the 3"),
        ({"layer_types": ["ssm"] * 3, "sliding_window": 8}, "layer_types", "are modelled"),
        ({"text_config": 7}, "text_config", "must be a table"),
    ],
)
def test_one_wrong_value(tmp_path: Path, extra: Config, field: str, rule: str) -> None:
    found = config_problems(tmp_path, {**LLAMA, **extra})
    assert [problem.field for problem in found] == [field]
    assert rule in found[0].rule


def test_a_problem_points_at_its_line(tmp_path: Path) -> None:
    text = '{\n  "model_type": "llama",\n  "hidden_size": 64, "num_attention_heads": 7\n}'
    found = {problem.field: problem for problem in problems(tmp_path, text)}
    assert (found["num_attention_heads"].line, found["num_attention_heads"].column) == (3, 22)


def test_a_nested_problem_points_at_its_line(tmp_path: Path) -> None:
    nested = {"model_type": "llama4", "text_config": {**LLAMA, "hidden_size": -1}}
    (problem,) = config_problems(tmp_path, nested)
    assert problem.field == "text_config.hidden_size"
    assert (
        problem.line == json.dumps(nested, indent=2).split("\n").index('    "hidden_size": -1,') + 1
    )


def test_all_problems_at_once(tmp_path: Path) -> None:
    wrong = {**LLAMA, "hidden_size": -1, "vocab_size": "many", "num_hidden_layers": 0}
    fields = {problem.field for problem in config_problems(tmp_path, wrong)}
    assert fields == {"hidden_size", "vocab_size", "num_hidden_layers"}


def test_more_experts_per_token_than_there_are(tmp_path: Path) -> None:
    (problem,) = config_problems(tmp_path, {**COUNTED["mixtral"][0], "num_experts_per_tok": 5})
    assert problem.field == "num_experts_per_tok"
    assert "4 experts" in problem.rule


def test_latent_attention_needs_all_its_widths(tmp_path: Path) -> None:
    short = {k: v for k, v in LATENT.items() if k not in ("v_head_dim", "qk_rope_head_dim")}
    fields = {problem.field for problem in config_problems(tmp_path, short)}
    assert fields == {"v_head_dim", "qk_rope_head_dim"}


@pytest.mark.parametrize(
    ("extra", "field", "near"),
    [
        ({"model_type": "lllama"}, "model_type", "llama"),
        ({"model_type": "qwen_3"}, "model_type", "qwen3"),
        (
            {"model_type": None, "architectures": ["MixtrallForCausalLM"]},
            "architectures",
            "mixtral",
        ),
    ],
)
def test_an_unknown_architecture_gets_the_nearest(
    tmp_path: Path, extra: Config, field: str, near: str
) -> None:
    (problem,) = config_problems(tmp_path, {**LLAMA, **extra})
    assert problem.field == field
    assert f'did you mean "{near}"' in problem.fix
    assert "deepseek_v3" in problem.rule


def test_an_empty_table_is_asked_what_it_is(tmp_path: Path) -> None:
    (problem,) = config_problems(tmp_path, {})
    assert problem.field == "model_type"


def test_a_clip_without_one_tower(tmp_path: Path) -> None:
    half = {"model_type": "clip", "text_config": COUNTED["clip"][0]["text_config"]}
    (problem,) = config_problems(tmp_path, half)
    assert problem.field == "vision_config"


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 200),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.integers(0, 3), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
NAMES = sorted({key for config, _ in COUNTED.values() for key in config})


@given(
    st.sampled_from(sorted(COUNTED)),
    st.dictionaries(st.sampled_from(NAMES), values, max_size=4),
    st.sampled_from(KNOWN),
)
def test_never_a_traceback(start: str, changes: Config, kind: str) -> None:
    config = {**COUNTED[start][0], "model_type": kind, **changes}
    document = parse(json.dumps(config), "config.json")
    with suppress(InputError):
        workload = read_family(Keys(document, document.table), "model")
        assert workload.parameters > 0


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"num_local_experts": 10**9}, "num_local_experts"),
        ({"num_local_experts": 5040, "num_experts_per_tok": 5040}, "num_experts_per_tok"),
    ],
)
def test_more_experts_than_anybody_tried(tmp_path: Path, changes: Config, field: str) -> None:
    mixture = {**LLAMA, "model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2}
    assert [p.field for p in config_problems(tmp_path, {**mixture, **changes})] == [field]


def test_the_path_is_called_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    for written, called in (("./config.json", "./config.json"), ("folder", "folder/config.json")):
        with pytest.raises(InputError) as caught:
            read(written)
        assert caught.value.problems[0].file == called
