"""What holds for every schedule of every algorithm, over any number of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from artery.collective.schedules import chunk_bytes, messages, schedule
from artery.collective.schedules.registry import builders
from artery.collective.verify import verify
from artery.core.schedule import Schedule
from tests.collective.schedules.faults import doubled, dropped, misdirected

PAIRS = [(name, what) for name, one in builders().items() for what in sorted(one.collectives)]


@st.composite
def schedules(draw: st.DrawFn, most: int = 40) -> Schedule:
    """Any schedule over up to ``most`` ranks, of any shape."""
    name, collective = draw(st.sampled_from(PAIRS))
    takes = builders()[name].shape
    ranks = draw(st.integers(1, most))
    shape: dict[str, Any] = {}
    if name == "hierarchical":
        levels = draw(st.lists(st.integers(1, 5), min_size=2, max_size=3))
        shape, ranks = {"levels": tuple(levels)}, int(np.prod(levels))
    elif name == "torus":
        # All-to-all hop by hop over many ranks has more chunks than are worth playing here.
        dims = draw(st.lists(st.integers(1, 3 if collective == "alltoall" else 4), max_size=3))
        shape, ranks = {"dims": tuple(dims) or (1,)}, int(np.prod(dims))
    elif "per_node" in takes and (name != "collnet" or collective == "all_reduce"):
        per_node = draw(st.integers(1, 8))
        shape = {"per_node": per_node}
        if name not in {"ring", "tree"}:
            ranks = per_node * max(1, ranks // per_node)
    for keyword, highest in (("channels", 4), ("slices", 5), ("window", 9), ("buffers", 5)):
        if keyword in takes:
            shape[keyword] = draw(st.integers(1, highest))
    if "radix" in takes:
        shape["radix"] = draw(st.integers(2, 16))
    if "root" in takes and collective in {"broadcast", "reduce"}:
        shape["root"] = draw(st.integers(0, ranks - 1))
    return schedule(name, collective, ranks, **shape)


@settings(max_examples=300, deadline=None)
@given(schedules())
def test_every_schedule_is_right_and_as_it_claims(built: Schedule) -> None:
    verdict = verify(built)
    assert verdict.faults == ()
    assert verdict.steps == built.steps


@settings(max_examples=60, deadline=None)
@given(schedules(most=16), st.integers(0, 10**12))
def test_no_byte_is_lost_or_made(built: Schedule, size: int) -> None:
    """Whatever the size, a step moves what its chunks hold, to the byte."""
    chunks = np.arange(built.chunks)
    sizes = chunk_bytes(built, size, chunks, np.ones_like(chunks))
    buffers = built.ranks if built.collective in {"alltoall", "sendrecv"} else 1
    assert sizes.sum() == size * buffers
    for k in range(built.steps):
        step, sent = built.step(k), messages(built, k, size)
        runs = zip(step.first.tolist(), step.count.tolist(), strict=True)
        assert sent.size.sum() == sum(int(sizes[at : at + count].sum()) for at, count in runs)
        assert (sent.source != sent.target).all()
        pairs = set(zip(step.source.tolist(), step.target.tolist(), strict=True))
        assert len(sent.size) == len(pairs)


@settings(max_examples=100, deadline=None)
@given(schedules(most=16), st.sampled_from([dropped, doubled, misdirected]), st.data())
def test_a_spoilt_schedule_is_not_right(built: Schedule, spoil: Any, data: st.DataObject) -> None:
    assume(built.steps > 0 and built.ranks > 2)
    # A fold may hand its excess to any other rank, and NVLS copies may come from any switch.
    assume(spoil is not misdirected or ("doubling" not in built.name and not built.switches))
    k = data.draw(st.integers(0, built.steps - 1))
    at = data.draw(st.integers(0, len(built.step(k).source) - 1))
    assert not verify(spoil(built, k, at)).right
