from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from artery.collective.schedules import schedule
from artery.collective.schedules.transfers import transfers
from artery.collective.verify import verify
from artery.core.pricing import Collective
from artery.core.schedule import Schedule, Step
from artery.errors import UsageError
from tests.collective.schedules.faults import Spoil, copied, doubled, dropped, misdirected


def two_ranks(*steps: Step, **claims: Any) -> Schedule:
    """An all-reduce of one chunk over ranks 0 and 1, written by hand."""
    stated = {"steps": len(steps), "wire": 1.0} | claims
    return Schedule("hand", "all_reduce", 2, 1, step=lambda k: steps[k], **stated)


ADD = transfers([0, 1], [1, 0], 0, reduce=True)
THERE = transfers(0, 1, 0, reduce=True)
BACK = transfers(1, 0, 0)


def kinds(of: Schedule) -> set[str]:
    return {fault.kind for fault in verify(of).faults}


def test_an_exchange_and_a_round_trip_are_all_reduces() -> None:
    assert verify(two_ranks(ADD)).right
    assert verify(two_ranks(THERE, BACK)).right


def test_a_lost_term_is_seen_at_the_first_wrong_rank() -> None:
    (fault,) = verify(two_ranks(THERE, wire=1.0)).faults
    assert (fault.kind, fault.rank, fault.chunk) == ("result", 0, 0)
    assert "chunk 0 of rank 0 is wrong (1 of 2 are)" in fault.text


def test_a_term_added_twice_is_seen() -> None:
    assert kinds(two_ranks(ADD, transfers(0, 1, 0, reduce=True), wire=2.0)) == {"result"}


def test_what_never_arrives_is_named() -> None:
    gather = schedule("ring", "all_gather", 3)
    (fault,) = verify(replace(gather, steps=1, wire=1.0, pipes=())).faults
    assert "never arrives" in fault.text


def test_a_rank_that_sends_what_it_does_not_hold_would_wait_for_ever() -> None:
    early = Schedule("hand", "broadcast", 3, 1, 1, lambda k: transfers(1, 2, 0), 1.0)
    (fault,) = verify(early).faults
    assert (fault.kind, fault.step, fault.rank) == ("missing", 0, 1)


def test_two_copies_to_one_place_are_a_race() -> None:
    both = Schedule("hand", "all_gather", 3, 3, 1, lambda k: transfers([0, 0], 1, 0), 2.0)
    assert "race" in kinds(both)


def test_claims_are_held_to_what_was_played() -> None:
    assert kinds(two_ranks(ADD, wire=3.0)) == {"wire"}
    assert kinds(two_ranks(ADD, transfers((), (), ()))) == {"steps"}
    assert kinds(replace(schedule("grouped", "alltoall", 4), ports=2)) == {"ports"}
    ring = schedule("ring", "all_reduce", 4)
    lighter = replace(ring.pipes[0], volume=1.0)
    assert kinds(replace(ring, pipes=(lighter,))) == {"pipes"}
    open_ring = replace(ring.pipes[0], source=ring.pipes[0].source[:-1], target=np.array([1, 2, 3]))
    assert kinds(replace(ring, pipes=(open_ring,))) == {"pipes"}


@pytest.mark.parametrize(
    "step",
    [transfers(0, 2, 0), transfers(0, 0, 0), transfers(0, 1, 1), transfers(0, 1, 0, 2)],
    ids=["no such rank", "to itself", "no such chunk", "past the end"],
)
def test_transfers_stay_inside_the_group(step: Step) -> None:
    assert kinds(two_ranks(step)) == {"range"}


def test_counts_of_a_ring() -> None:
    verdict = verify(schedule("ring", "all_reduce", 4))
    assert verdict.sent.tolist() == verdict.received.tolist() == [6] * 4
    assert (verdict.steps, verdict.fan_out, verdict.fan_in) == (6, 1, 1)
    assert verdict.carried.tolist() == [6] * 4


@pytest.mark.parametrize("spoil", [dropped, doubled, misdirected, copied])
@pytest.mark.parametrize(
    ("name", "collective", "shape"),
    [
        ("ring", "all_reduce", {}),
        ("tree", "all_reduce", {"slices": 2}),
        ("halving_doubling", "all_reduce", {}),
        ("recursive_doubling", "all_reduce", {}),
        ("hierarchical", "all_reduce", {"levels": (2, 3)}),
        ("nvls", "all_reduce", {}),
        ("pat", "reduce_scatter", {}),
        ("torus", "all_gather", {"dims": (2, 3)}),
        ("bruck", "alltoall", {}),
    ],
)
def test_every_spoilt_transfer_of_every_step_is_seen(
    spoil: Spoil, name: str, collective: Collective, shape: dict[str, Any]
) -> None:
    # Folded to a power of two, an excess rank may hand its data to any other: no fault.
    ranks = 8 if spoil is misdirected and "doubling" in name else 6
    right = schedule(name, collective, ranks, **shape)
    for k in range(right.steps):
        for at in range(len(right.step(k).source)):
            harmless = spoil is copied and _lands_on_nothing(right, k, at)
            assert verify(spoil(right, k, at)).right == harmless


def _lands_on_nothing(schedule: Schedule, k: int, at: int) -> bool:
    """Whether adding and overwriting are the same: nothing was at the target before."""
    held = np.zeros((schedule.ranks + schedule.switches, schedule.chunks), bool)
    if schedule.collective not in {"all_gather", "alltoall"}:
        held[: schedule.ranks] = True
    for now in range(k):
        step = schedule.step(now)
        for target, first, count in zip(step.target, step.first, step.count, strict=True):
            held[target, first : first + count] = True
    step = schedule.step(k)
    spot = step.target[at], slice(step.first[at], step.first[at] + step.count[at])
    others = np.flatnonzero((step.target == step.target[at]) & (step.first == step.first[at]))
    return not held[spot].any() and len(others) == 1


def test_what_is_too_large_to_play_is_refused() -> None:
    with pytest.raises(UsageError, match="over fewer ranks"):
        verify(schedule("ring", "all_reduce", 131_072))
