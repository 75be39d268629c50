"""The executor against the verifier, between threads: right schedules, broken ones, every shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.collective.schedules import names, schedule
from artery.collective.schedules.registry import builders
from artery.collective.verify import outcome, verify
from artery.core.pricing import Collective
from artery.core.schedule import Schedule
from artery.errors import UsageError
from artery.runner.executor import play as play_module
from artery.runner.executor.play import Player
from artery.runner.executor.transport import CARRIED
from artery.runner.executor.values import drawn, fill, wrong
from tests.collective.schedules.faults import doubled, dropped, misdirected
from tests.runner.threads import ThreadTransport, together


def played(plan: Schedule, elements: int, dtype: str = "float", more: int = 0) -> int:
    """Return how many elements are wrong in the end, over all ranks."""
    processes = plan.ranks + (1 if plan.switches else 0) + more

    def part(transport: ThreadTransport) -> int:
        player = Player(plan, elements, transport, dtype)
        fill(transport, plan, player.buffers, elements, dtype)
        player.run()
        return wrong(transport, plan, player.buffers, elements, dtype)

    return sum(together(processes, part))


def shape(name: str, ranks: int) -> dict[str, Any]:
    return {"per_node": 2 - ranks % 2} if "per_node" in builders()[name].required else {}


ALL = [(name, c) for name, builder in builders().items() for c in sorted(builder.collectives)]


@pytest.mark.parametrize(("name", "collective"), ALL)
def test_every_schedule_gives_the_exact_sum(name: str, collective: Collective) -> None:
    for ranks in (2, 3, 5, 8):
        plan = schedule(name, collective, ranks, **shape(name, ranks))
        for elements, dtype in ((1, "float"), (7, "int64"), (1000 + ranks, "float")):
            assert played(plan, elements, dtype) == 0


@pytest.mark.parametrize("name", [name for name in names() if builders()[name].required or
                                  schedule(name, next(iter(sorted(builders()[name].collectives))),
                                           4).switches])  # fmt: skip
def test_the_switch_may_share_the_process_of_the_last_rank(name: str) -> None:
    collective = min(builders()[name].collectives)
    plan = schedule(name, collective, 4, **shape(name, 4))

    def part(transport: ThreadTransport) -> int:
        player = Player(plan, 101, transport)
        fill(transport, plan, player.buffers, 101, "float")
        player.run()
        return wrong(transport, plan, player.buffers, 101, "float")

    assert sum(together(4, part)) == 0


@pytest.mark.parametrize(
    ("name", "collective", "ranks", "more"),
    [
        ("hierarchical", "all_reduce", 8, {"levels": (2, 4)}),
        ("hierarchical", "all_gather", 8, {"levels": (2, 2, 2)}),
        ("torus", "reduce_scatter", 8, {"dims": (2, 2, 2)}),
        ("torus", "alltoall", 8, {"dims": (2, 4)}),
        ("ring", "all_reduce", 6, {"channels": 3, "per_node": 3}),
        ("ring", "broadcast", 5, {"slices": 4, "root": 3}),
        ("tree", "all_reduce", 8, {"slices": 5, "per_node": 2}),
        ("collnet", "all_reduce", 8, {"radix": 2, "slices": 3}),
        ("collnet", "all_reduce", 8, {"per_node": 2, "radix": 2}),
        ("collnet", "reduce", 7, {"radix": 2, "root": 6}),
        ("nvls_tree", "all_reduce", 8, {"per_node": 4, "slices": 2}),
        ("rail_aligned", "alltoall", 8, {"per_node": 4}),
        ("pat", "reduce_scatter", 7, {"buffers": 1}),
        ("windowed", "alltoall", 7, {"window": 3}),
    ],
)
def test_shapes_with_levels_slices_roots_and_many_switches(
    name: str, collective: Collective, ranks: int, more: dict[str, Any]
) -> None:
    plan = schedule(name, collective, ranks, **more)
    for elements in (3, 257):
        assert played(plan, elements, "int32") == 0


@given(
    which=st.sampled_from(ALL),
    ranks=st.integers(2, 8),
    elements=st.integers(1, 400),
    dtype=st.sampled_from(["int8", "uint64", "float", "double"]),
)
def test_any_size_and_type_in_pieces(
    which: tuple[str, Collective], ranks: int, elements: int, dtype: str
) -> None:
    name, collective = which
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(play_module, "PIECE", 64)  # a few elements, so that there are many pieces
        plan = schedule(name, collective, ranks, **shape(name, ranks))
        assert played(plan, elements, dtype) == 0


@pytest.mark.parametrize("fault", [dropped, doubled, misdirected])
@pytest.mark.parametrize(("name", "ranks"), [("ring", 4), ("tree", 5), ("halving_doubling", 4)])
def test_a_broken_schedule_gives_what_the_verifier_says_it_does(
    fault: Any, name: str, ranks: int
) -> None:
    plan = schedule(name, "all_reduce", ranks)
    elements = plan.chunks  # one element a chunk: the verifier's cells are the executor's elements
    start = np.array([drawn(rank, 0, elements, "int64") for rank in range(ranks)])
    right = outcome(plan, start)
    seen = set()
    for k in range(plan.steps):
        broken = fault(plan, k, 0)
        if any(one.kind == "range" for one in verify(broken).faults):
            continue  # a rank that sends to itself: nothing to be played

        def part(transport: ThreadTransport, what: Schedule = broken) -> Any:
            player = Player(what, elements, transport, "int64")
            fill(transport, what, player.buffers, elements, "int64")
            player.run()
            bad = wrong(transport, what, player.buffers, elements, "int64")
            return player.buffers[transport.process], bad

        ends = together(ranks, part)
        said = outcome(broken, start)
        assert np.array_equal([buffer for buffer, _ in ends], said)
        assert sum(bad for _, bad in ends) == np.count_nonzero(said != right)
        seen.add(bool((said != right).any()))
    assert True in seen


def test_a_run_may_be_repeated_and_begins_with_what_the_buffers_hold() -> None:
    plan = schedule("nvls", "all_reduce", 3)

    def part(transport: ThreadTransport) -> Any:
        player = Player(plan, 5, transport, "int64")
        for buffer in player.buffers.values():
            buffer[...] = 1
        player.run()
        player.run()
        return player.buffers.get(transport.process)

    first, *_ = together(4, part)
    assert first.tolist() == [9] * 5


def test_a_ring_sends_two_parts_in_n_of_the_buffer_a_step() -> None:
    plan = schedule("ring", "all_reduce", 4)

    def part(transport: ThreadTransport) -> int:
        Player(plan, 16, transport).run()
        return transport.parcels

    assert together(4, part) == [6] * 4


def test_a_paced_run_has_no_switches() -> None:
    plan = schedule("nvls", "all_reduce", 2)
    with pytest.raises(UsageError, match="nvls adds in switches, and a paced run has none"):
        together(3, lambda transport: Player(plan, 4, transport, gate=object()))  # type: ignore[arg-type]


def test_types_that_a_transport_does_not_carry_are_refused() -> None:
    from artery.runner.executor import mpi_transport, torch_transport

    assert tuple(torch_transport.TYPES) == CARRIED["torch"]
    assert tuple(mpi_transport.TYPES) == CARRIED["mpi"]
    with pytest.raises(UsageError, match="MPI adds no bfloat16"):
        mpi_transport.type_of("bfloat16")
    with pytest.raises(UsageError, match="torch adds no fp8_e4m3"):
        torch_transport.type_of("fp8_e4m3")
