"""Defaults that are said, and everything wrong with a request at once."""

from __future__ import annotations

from typing import Any

import pytest

from artery.answers.plan.request import BATCH_TOKENS, Request, settle
from artery.catalog import model, system
from artery.errors import InputError

H100 = system("dgx-h100:16")


def asked(name: str = "llama3-8b", place: str | None = None, **given: Any) -> Request:
    return Request(model(name), system(place) if place else H100, **given)


def fields(request: Request) -> list[str]:
    with pytest.raises(InputError) as caught:
        settle(request)
    assert all(p.found and p.rule and p.fix for p in caught.value.problems)
    return [p.field or p.found.split()[0] for p in caught.value.problems]


def test_what_is_not_said_comes_from_the_profile_and_the_model() -> None:
    settled = settle(asked())
    assert settled.profile.name == "megatron-core"
    assert settled.shared.sequence == model("llama3-8b").sequence
    assert settled.shared.dtype == "bf16"
    assert settled.shared.attention == "flash3"
    assert settled.shared.optimizer == settled.profile.optimizer
    assert settled.shared.overlap is None
    assert set(settled.fixed) == {"global_batch"}


def test_what_is_said_stays() -> None:
    settled = settle(
        asked(
            degrees={"tp": 4, "zero": 0}, global_batch=96, sequence=2048, dtype="fp8",
            grad_dtype="bf16", recompute="full", recompute_layers=0.5, sequence_parallel=False,
            attention="eager", overlap=(), framework="nemo", optimizer="lamb", load_factor=1.0,
        )
    )  # fmt: skip
    assert settled.fixed == {
        "tp": 4, "zero": 0, "global_batch": 96, "recompute": 2, "sequence_parallel": 0,
    }  # fmt: skip
    shared = settled.shared
    assert (shared.sequence, shared.dtype, shared.grad_dtype) == (2048, "fp8", "bf16")
    assert (shared.recompute_layers, shared.attention, shared.overlap) == (0.5, "eager", ())
    assert (shared.framework, shared.optimizer, shared.load_factor) == ("nemo", "lamb", 1.0)
    assert settled.warnings == ()


def test_a_share_of_no_layers_is_not_the_default() -> None:
    assert settle(asked(recompute_layers=0.0)).shared.recompute_layers == 0.0


@pytest.mark.parametrize(
    ("name", "place", "profile", "dtype", "attention"),
    [
        ("llama3-8b", "tpu-v4-pod:64", "maxtext", "bf16", "flash2"),
        ("resnet50", "dgx-h100:8", "pytorch-ddp", "bf16", "eager"),
        ("llama3-8b", "dgx-1v", "megatron-core", "fp16", "flash1"),
        ("llama3-8b", "dgx-a100:8", "megatron-core", "bf16", "flash2"),
    ],
)
def test_defaults_follow_the_chip(
    name: str, place: str, profile: str, dtype: str, attention: str
) -> None:
    settled = settle(asked(name, place))
    assert settled.profile.name == profile
    assert (settled.shared.dtype, settled.shared.attention) == (dtype, attention)


def test_a_published_batch_is_used_and_an_assumed_one_is_said() -> None:
    published = settle(asked("gpt3-175b"))
    assert published.fixed["global_batch"] == model("gpt3-175b").global_batch
    assert not any("assumed" in text for text in published.warnings)
    other = settle(asked("gpt3-175b", sequence=4096))
    assert other.fixed["global_batch"] * 4096 == BATCH_TOKENS
    assert any("assumed" in text for text in other.warnings)


def test_a_sequence_longer_than_the_model_allows_is_said() -> None:
    longest = model("gpt3-175b").max_sequence
    assert longest is not None
    warnings = settle(asked("gpt3-175b", sequence=longest * 2, global_batch=64)).warnings
    assert len(warnings) == 1
    assert "longer" in warnings[0]
    assert settle(asked("gpt3-175b", sequence=longest, global_batch=64)).warnings == ()


def test_every_unknown_name_is_told_with_the_nearest() -> None:
    request = asked(
        dtype="bf17", grad_dtype="fp23", recompute="ful", attention="flash9", optimizer="adan",
        overlap=("dp", "np"), framework="megatron-cor",
    )  # fmt: skip
    with pytest.raises(InputError) as caught:
        settle(request)
    found = [problem.found for problem in caught.value.problems]
    assert found == [
        'dtype "bf17"', 'grad_dtype "fp23"', 'recompute "ful"', 'attention "flash9"',
        'optimizer "adan"', 'overlap "np"', 'profile "megatron-cor"',
    ]  # fmt: skip
    fixes = [problem.fix for problem in caught.value.problems]
    assert all("did you mean" in fix for index, fix in enumerate(fixes) if index != 5)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"degrees": {"tp": 0}}, "tp"),
        ({"degrees": {"dp": -4}}, "dp"),
        ({"degrees": {"zero": 4}}, "zero"),
        ({"degrees": {"zero": -1}}, "zero"),
        ({"degrees": {"micro_batch": 10**13}}, "micro_batch"),
        ({"global_batch": 0}, "global_batch"),
        ({"sequence": -1}, "seq"),
        ({"recompute_layers": 1.5}, "recompute_layers"),
        ({"recompute_layers": -0.1}, "recompute_layers"),
        ({"recompute_layers": float("nan")}, "recompute_layers"),
        ({"load_factor": 0.9}, "load_factor"),
        ({"load_factor": float("inf")}, "load_factor"),
        ({"tokens": 0.0}, "tokens"),
        ({"tokens": 1e31}, "tokens"),
        ({"tokens": float("nan")}, "tokens"),
        ({"dtype": "fp4"}, "dtype"),
        ({"attention": "flash3"}, "attention"),
    ],
)
def test_numbers_out_of_range_and_what_the_chip_has_not(given: dict[str, Any], field: str) -> None:
    place = "dgx-1v" if field == "attention" else None
    given = {"attention": "flash3"} if field == "attention" else given
    assert fields(asked(place=place, **given)) == [field]


def test_problems_of_all_kinds_come_together() -> None:
    request = asked(
        "resnet50",
        degrees={"tp": 0, "zero": 9}, dtype="x", framework="y", tokens=-1.0, load_factor=0.0,
    )  # fmt: skip
    assert fields(request) == ["dtype", "tp", "zero", "load_factor", "tokens", "tokens", "profile"]


def test_images_have_no_tokens() -> None:
    assert fields(asked("resnet50", tokens=1e9)) == ["tokens"]
    assert settle(asked("bert-large", tokens=1e9)).warnings == ()
