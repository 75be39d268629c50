"""All-to-alls whose blocks pass through other ranks: their messages, and what is too many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from artery.answers.simulate import simulate
from artery.collective.schedules import messages, schedule
from artery.errors import InputError
from artery.simulator import choice
from artery.simulator.choice import count_of
from artery.simulator.placed import Placed
from artery.simulator.scenario import Scenario

MIB = 2**20


@pytest.mark.parametrize(
    ("name", "shape"),
    [("torus", {"dims": (4, 4, 2)}), ("bruck", {}), ("pairwise", {}), ("windowed", {}),
     ("grouped", {}), ("rail_aligned", {"per_node": 8})],
)  # fmt: skip
def test_blocks_that_go_together_are_one_message(name: str, shape: dict[str, object]) -> None:
    one = schedule(name, "alltoall", 32, **shape)
    sent = sum(len(messages(one, k, MIB).size) for k in range(one.steps))
    counted = count_of((Placed(one, MIB, np.arange(32)),), Scenario())
    assert sent <= counted <= 1.5 * sent


def test_a_torus_is_played_where_its_messages_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """64 ranks send six neighbours a message in each of six steps: 2,304, of 73,728 blocks."""
    monkeypatch.setattr(choice, "MOST_MESSAGES", 2_400)
    found = simulate("alltoall", "tpu-v4-pod:64", size="16M", links=0)
    assert (found.algorithm, found.flows) == ("torus", 2_304)
    assert found.closed is not None
    assert found.seconds == pytest.approx(found.closed.seconds, rel=0.1)


def test_where_a_torus_takes_too_long_grouped_messages_stand_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(choice, "MOST_BLOCKS", 70_000)
    found = simulate("alltoall", "tpu-v4-pod:64", size="1M", links=0)
    assert (found.algorithm, found.notes) == ("grouped", ("replaced",))
    best = simulate("alltoall", "tpu-v4-pod:64", size="1M", links=0, algorithm="best")
    left = {one.algorithm: one.reason for one in best.tried if one.seconds is None}
    assert "73,728 moves of blocks" in left["torus"]
    with pytest.raises(InputError, match="--algorithm grouped"):
        simulate("alltoall", "tpu-v4-pod:64", size="1M", algorithm="torus")


def test_what_is_too_much_is_known_before_a_step_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """4,096 ranks on a torus: each of 24 steps would list 50 million blocks."""
    monkeypatch.setattr(np, "indices", None)
    with pytest.raises(InputError, match="1,207,959,552 moves of blocks"):
        simulate("alltoall", "tpu-v4-pod:4096", algorithm="torus")


@pytest.mark.parametrize(
    ("asked", "rule", "fix"),
    [
        ({"fail_links": "1%", "fail_at": "3ms", "algorithm": "ring"},
         "with --fail-at all are played one by one, at most 300", "--algorithm halving_doubling"),
        ({"engine": "messages", "algorithm": "ring"}, "at most 300", "--engine auto"),
        ({"algorithm": "bruck"}, "at most 300", "--algorithm ring"),
    ],
)  # fmt: skip
def test_too_many_messages_are_refused_with_what_would_do(
    asked: dict[str, Any], rule: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "MOST_MESSAGES", 300)
    with pytest.raises(InputError) as caught:
        simulate("all_reduce", "rail-clos-h100:64", **asked)
    assert rule in str(caught.value)
    assert fix in str(caught.value)
