from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.answers.plan.result import PlanResult
from artery.core.plan import Plan, Recompute
from artery.core.term import Estimate
from artery.report.plan.timeline import Slice, order, play, timeline
from tests import factories


def pipelined(stages: int, chunks: int, micro_batches: int) -> Plan:
    return Plan(pp=stages, vpp=chunks, global_batch=micro_batches)


@given(st.integers(1, 8), st.integers(1, 24))
def test_the_bubble_of_1f1b_is_that_of_the_paper(stages: int, micro_batches: int) -> None:
    """(p-1)(f+b) on top of m(f+b): arXiv 2104.04473, section 2.2."""
    played = play(pipelined(stages, 1, micro_batches), 1.0, 2.0)
    assert played.end == pytest.approx(3.0 * (micro_batches + stages - 1))


@given(st.integers(2, 6), st.integers(2, 4), st.integers(1, 5))
def test_interleaving_divides_the_bubble(stages: int, chunks: int, groups: int) -> None:
    """(p-1)(f+b)/v where m is a multiple of p: arXiv 2104.04473, section 2.2.2."""
    micro_batches = stages * groups
    played = play(pipelined(stages, chunks, micro_batches), 1.0 / chunks, 2.0 / chunks)
    assert played.end == pytest.approx(3.0 * (micro_batches + (stages - 1) / chunks))


@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 20))
def test_every_pass_is_done_once_and_forward_comes_first(
    stages: int, chunks: int, micro_batches: int
) -> None:
    for stage in range(stages):
        work = order(stage, stages, chunks, micro_batches)
        assert len(work) == 2 * chunks * micro_batches
        assert set(Counter(work).values()) == {1}
        for index, piece in enumerate(work):
            if piece.kind == "backward":
                assert replace(piece, kind="forward") in work[:index]


@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 12))
def test_nothing_waits_for_ever(stages: int, chunks: int, micro_batches: int) -> None:
    played = play(pipelined(stages, chunks, micro_batches), 1.0, 2.0)
    assert sum(map(len, played.starts)) == 2 * stages * chunks * micro_batches


def test_memory_of_1f1b_is_bounded_by_the_stages() -> None:
    """At most p - stage micro-batches are in flight, however many there are."""
    for stage in range(4):
        in_flight = most = 0
        for work in order(stage, 4, 1, 32):
            in_flight += 1 if work.kind == "forward" else -1
            most = max(most, in_flight)
        assert most == 4 - stage


def end(slices: list[Slice]) -> float:
    return max(piece.start + piece.duration for piece in slices)


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
@pytest.mark.parametrize(("pp", "vpp", "dp"), [(1, 1, 16), (4, 1, 4), (4, 2, 4), (8, 4, 2)])
def test_the_timeline_is_as_long_as_the_step(
    pp: int, vpp: int, dp: int, recompute: Recompute
) -> None:
    result = planned(pp, vpp, dp, recompute)
    assert end(timeline(result)) == pytest.approx(result.time.root.value, rel=1e-9)


def test_a_stage_never_does_two_things_on_one_stream() -> None:
    slices = timeline(planned(4, 2, 4, "full"))
    for stage in range(4):
        for stream in ("compute", "comm"):
            mine = sorted(
                (s for s in slices if (s.stage, s.stream) == (stage, stream)),
                key=lambda piece: piece.start,
            )
            for first, second in pairwise(mine):
                assert first.start + first.duration <= second.start + 1e-9


def test_recomputation_is_a_third_of_the_backward_pass() -> None:
    """Forward again (1), then the backward pass (2)."""
    slices = timeline(planned(4, 1, 4, "full"))
    spent: defaultdict[str, float] = defaultdict(float)
    for piece in slices:
        spent[piece.name] += piece.duration
    assert spent["recompute"] * 2 == pytest.approx(spent["backward"])
    assert spent["forward"] == pytest.approx(spent["recompute"])


def test_parts_without_time_leave_no_slice() -> None:
    assert not [piece for piece in timeline(planned(4, 2, 4, "none")) if piece.part == "ep"]


def test_negative_rounding_in_a_part_draws_nothing() -> None:
    parts = {**factories.BREAKDOWN, "other": -0.01}
    tree = factories.tree("step", "s", parts, 0.9, 1.1)
    result = replace(factories.result(), time=Estimate(tree, "closed form"))
    slices = timeline(result)
    assert min(piece.duration for piece in slices) > 0
    assert end(slices) == pytest.approx(tree.value)


def planned(pp: int, vpp: int, dp: int, recompute: Recompute) -> PlanResult:
    plan = replace(factories.plan(), tp=1, pp=pp, vpp=vpp, dp=dp, recompute=recompute)
    return replace(factories.result(), plan=plan)
