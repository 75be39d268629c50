"""Exchanges of gradients and weights over real processes, held to exact means."""

from __future__ import annotations

import json
import os
import sys
from functools import cache
from pathlib import Path

import pytest

from artery.errors import InputError
from artery.runner.exchange.choice import Choice
from artery.runner.launch import launched, run_folder

ROOT = Path(__file__).parents[2]
WORLDS = pytest.mark.parametrize("ranks", [2, 3])

pytestmark = pytest.mark.real

Found = dict[str, dict[str, float]]


@cache
def ran(ranks: int) -> tuple[Found, ...]:
    """Return what each of ``ranks`` processes found; they run once for all tests."""
    with run_folder() as folder:
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        environ = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "PYTHONPATH": path}
        command = [sys.executable, "-m", "tests.runner.exchange_ranks"]
        launched(command, ranks, folder=folder, timeout=180, environ=environ)
        return tuple(
            json.loads((folder / f"{rank}.json").read_text("utf-8")) for rank in range(ranks)
        )


def each(ranks: int, case: str) -> list[dict[str, float]]:
    return [found[case] for found in ran(ranks)]


@WORLDS
@pytest.mark.parametrize("kind", ["none", "fp16", "bf16"])
def test_the_mean_is_right_within_the_rounding_of_its_type(ranks: int, kind: str) -> None:
    for found in each(ranks, "rounding"):
        assert found[kind] <= 1.0
    if kind != "none":  # a narrow type that leaves no trace was not used
        assert max(found[kind] for found in each(ranks, "rounding")) > 0.01


@WORLDS
def test_a_layer_that_one_rank_uses_counts_as_zero_on_the_others(ranks: int) -> None:
    found = each(ranks, "one_sided_gradient")
    assert [one["own"] > 0 for one in found] == [True] + [False] * (ranks - 1)
    assert all(one["off"] < 1e-6 for one in found)


@WORLDS
def test_overlap_changes_no_bit(ranks: int) -> None:
    assert all(one["differ"] == 0 for one in each(ranks, "overlap"))


@WORLDS
def test_ours_and_torchs_ddp_agree(ranks: int) -> None:
    """With two ranks halving is exact and a sum has one order: every bit is the same."""
    for found in each(ranks, "ddp"):
        assert found["ours"] <= 1
        assert found["theirs"] <= 1
        if ranks == 2:
            assert found["differ"] == 0


@WORLDS
def test_accumulation_sends_once(ranks: int) -> None:
    for found in each(ranks, "accumulation"):
        assert found["error"] <= 1
        assert found["sent"] == 1


def test_bytes_on_the_wire() -> None:
    """189 + 7, 3696 + 33, 1089 + 33 and 165 + 5 weights and biases: 5,217 in all.

    PowerSGD of rank 2: 2·(7 + 27), 2·(33 + 112), 2·(33 + 33), 2·(5 + 33), and 78 biases: 644.
    """
    for found in each(2, "bytes_on_the_wire"):
        assert found["none"] == found["none expected"] == 4 * 5217
        assert found["fp16"] == found["fp16 expected"] == 2 * 5217
        assert found["bf16"] == found["bf16 expected"] == 2 * 5217
        assert found["powersgd"] == found["powersgd expected"] == 4 * 644


@WORLDS
def test_powersgd_loses_nothing_of_a_low_rank(ranks: int) -> None:
    assert all(one["off"] < 1e-5 for one in each(ranks, "low_rank"))


@WORLDS
def test_powersgd_makes_good_what_it_loses(ranks: int) -> None:
    for found in each(ranks, "feedback"):
        assert found["first"] > 0.5  # rank 2 of a random 30 x 40 keeps little
        assert found["kept"] < 1e-5
        assert found["spread"] == 0


@WORLDS
def test_powersgd_goes_on_from_its_state(ranks: int) -> None:
    assert all(one["differ"] == 0 for one in each(ranks, "resumed"))


@WORLDS
def test_local_sgd_averages_every_so_often(ranks: int) -> None:
    """16 weights and biases, 8 of the norm, 8 running statistics: 32 floats, 128 bytes."""
    mean = 1 + (ranks - 1) / 2
    away = (ranks - 1) / 2 / mean
    for rank, found in enumerate(each(ranks, "local_sgd")):
        assert found["apart"] == pytest.approx(away)
        assert found["weight after 1"] == found["weight after 2"] == 1 + rank
        assert found["sent after 2"] == 0
        assert found["weight after 3"] == found["buffer"] == pytest.approx(mean)
        assert found["sent after 3"] == 128
        assert found["largest drift"] == pytest.approx(away)
        assert found["count"] == 1 + rank  # a whole number is no weight
        assert found["apart at the end"] == 0
        assert found["never: apart"] > 0
        assert found["never: sent"] == 0
        assert (found["saved"], found["never: saved"]) == (2 * 128, 128)
        assert found["seconds saved over spent"] == pytest.approx(2)  # one average, two skipped
        assert found["never: final drift"] == found["never: apart"]


@pytest.mark.parametrize(
    ("how", "found"),
    [
        ({"sync": 0}, "0"),
        ({"sync": "often"}, "often"),
        ({"sync": True}, "True"),
        ({"compress": "int8"}, "int8"),
        ({"compress": "powersgd", "powersgd_rank": 0}, "0"),
        ({"bucket_bytes": 0}, "0"),
        ({"sync": 4, "compress": "fp16"}, "--sync 4"),
        ({"sync": "none", "compress": "bf16"}, "--sync none"),
    ],
)
def test_choices_that_make_no_sense(how: dict[str, object], found: str) -> None:
    with pytest.raises(InputError) as caught:
        Choice(**how)  # type: ignore[arg-type]
    assert found in str(caught.value)
