from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.collective.schedules import chunk_bytes, messages, schedule
from artery.errors import UsageError


def test_the_last_chunks_are_a_byte_smaller() -> None:
    ring = schedule("ring", "all_reduce", 4)
    sizes = chunk_bytes(ring, 10, np.arange(4), np.ones(4, np.int64))
    assert sizes.tolist() == [3, 3, 2, 2]


def test_blocks_of_all_to_all_are_cut_from_each_ranks_own_buffer() -> None:
    grouped = schedule("grouped", "alltoall", 3)
    one = messages(grouped, 0, 10)
    assert one.source.tolist() == [0, 1, 2, 0, 1, 2]
    assert one.target.tolist() == [1, 2, 0, 2, 0, 1]
    assert one.size.tolist() == [3, 3, 4, 3, 4, 3]


@pytest.mark.parametrize("name", ["grouped", "pairwise", "bruck", "rail_aligned"])
def test_experts_with_unequal_load(name: str) -> None:
    matrix = np.arange(36).reshape(6, 6)
    shape = {"per_node": 1} if name == "rail_aligned" else {}
    built = schedule(name, "alltoall", 6, **shape)
    sent = [messages(built, k, matrix) for k in range(built.steps)]
    total = sum(int(one.size.sum()) for one in sent)
    if name == "bruck":
        # A block is sent on once for every bit that is set in its distance.
        hops = [[((d - s) % 6).bit_count() for d in range(6)] for s in range(6)]
        assert total == (matrix * hops).sum()
    else:
        assert total == matrix.sum() - matrix.trace()


def test_halves_of_a_torus_share_an_uneven_block() -> None:
    built = schedule("torus", "alltoall", 2, dims=(2,))
    one = messages(built, 0, np.array([[0, 7], [4, 0]]))
    assert dict(zip(one.source.tolist(), one.size.tolist(), strict=True)) == {0: 7, 1: 4}


def test_only_all_to_all_takes_a_matrix() -> None:
    with pytest.raises(UsageError, match="all_reduce over 2 ranks takes no matrix"):
        messages(schedule("ring", "all_reduce", 2), 0, np.ones((2, 2), np.int64))
    with pytest.raises(UsageError, match="ranks by ranks"):
        messages(schedule("grouped", "alltoall", 3), 0, np.ones((2, 2), np.int64))


def test_send_receive_moves_the_whole_buffer() -> None:
    assert messages(schedule("sendrecv", "sendrecv", 3), 0, 10).size.tolist() == [10] * 3


def test_transfers_between_the_same_two_are_one_message() -> None:
    bruck = schedule("bruck", "alltoall", 4)
    one = messages(bruck, 0, 4)
    assert len(bruck.step(0).source) == 8
    assert one.size.tolist() == [2] * 4


@given(st.integers(0, 10**15), st.integers(1, 40), st.integers(1, 8))
def test_chunks_add_up_to_the_buffer(size: int, ranks: int, channels: int) -> None:
    ring = schedule("ring", "all_reduce", ranks, channels=channels)
    chunks = np.arange(ring.chunks)
    sizes = chunk_bytes(ring, size, chunks, np.ones_like(chunks))
    assert sizes.sum() == size
    assert sizes.max() - sizes.min() <= 1
    assert chunk_bytes(ring, size, np.array([0]), np.array([ring.chunks])).tolist() == [size]


@given(st.integers(0, 10**9), st.integers(2, 20))
def test_a_ring_sends_2_n_minus_1_buffers_in_all(size: int, ranks: int) -> None:
    ring = schedule("ring", "all_reduce", ranks)
    total = sum(int(messages(ring, k, size).size.sum()) for k in range(ring.steps))
    assert total == 2 * (ranks - 1) * size
