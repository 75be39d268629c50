"""``expect``: names, sizes, columns and notes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.answers.expect import MOST_ROWS, expect, parse_sizes, type_named
from artery.core.pricing import named
from artery.errors import InputError, UnknownNameError, UsageError


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("all_reduce", "all_reduce"),
        ("all-reduce", "all_reduce"),
        ("AllReduce", "all_reduce"),
        ("allgather", "all_gather"),
        ("reduce-scatter", "reduce_scatter"),
        ("all-to-all", "alltoall"),
        ("all_to_all", "alltoall"),
        ("a2a", "alltoall"),
        ("send-recv", "sendrecv"),
        ("broadcast", "broadcast"),
    ],
)
def test_collectives_go_by_several_names(text: str, name: str) -> None:
    assert named(text) == name


def test_an_unknown_collective_gets_the_nearest_names() -> None:
    with pytest.raises(UnknownNameError, match="all_reduce"):
        named("all_reduse")
    with pytest.raises(UnknownNameError, match="bfloat16"):
        type_named("bfloat")


def test_an_algorithm_that_is_played_only_is_not_called_unknown() -> None:
    with pytest.raises(UsageError, match="pairwise has no closed form, and artery simulate plays"):
        expect("alltoall", "dgx-h100:1000", algorithm="pairwise")


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("8:64:x2", (8, 16, 32, 64)),
        ("8:65", (8, 16, 32, 64)),
        ("1M:4M:+1M", (2**20, 2 * 2**20, 3 * 2**20, 4 * 2**20)),
        ("1K:1K:x2", (1024,)),
        ("64M", (2**26,)),
        ("1K,1M", (2**10, 2**20)),
        ("8:16G:x2", tuple(2**power for power in range(3, 35))),
    ],
)
def test_sizes_as_in_nccl_tests(text: str, sizes: tuple[int, ...]) -> None:
    assert parse_sizes(text) == sizes


@pytest.mark.parametrize(
    "text",
    ["", "0", "-1", "1e30", "8:", ":8", "8:16:32:64", "16:8", "8:16:2", "8:16:x1", "8:16:x-2",
     "8:16:+0", "8:16:y2", "1:16G:+1", "nan", "8;16", "8:16:x" + "9" * 40],
)  # fmt: skip
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(InputError):
        parse_sizes(text)


def test_sizes_as_numbers_are_checked_too() -> None:
    assert [row.size for row in expect("broadcast", "dgx-h100", sizes=[8, 1024]).rows] == [8, 1024]
    for wrong in ([0], [-5], [2**61], [1] * (MOST_ROWS + 1)):
        with pytest.raises(InputError):
            expect("broadcast", "dgx-h100", sizes=wrong)
    with pytest.raises(UsageError):
        expect("broadcast", "dgx-h100", sizes=[])


@given(st.integers(1, 2**40), st.integers(2, 9))
def test_a_range_multiplies_up_to_its_end(begin: int, factor: int) -> None:
    end = begin * 1000
    sizes = parse_sizes(f"{begin}:{end}:x{factor}")
    assert sizes[0] == begin
    assert sizes[-1] <= end < sizes[-1] * factor
    assert all(two == one * factor for one, two in pairwise(sizes))


@pytest.mark.parametrize(
    ("collective", "count", "reduction", "root"),
    [  # 1 MiB of floats over 8 ranks: nccl-tests counts per rank what every rank contributes
        ("all_reduce", 262_144, "sum", -1),
        ("all_gather", 32_768, "none", -1),
        ("reduce_scatter", 32_768, "sum", -1),
        ("alltoall", 32_768, "none", -1),
        ("broadcast", 262_144, "none", 0),
        ("reduce", 262_144, "sum", 0),
        ("sendrecv", 262_144, "sum", -1),
    ],
)
def test_columns_of_nccl_tests(collective: str, count: int, reduction: str, root: int) -> None:
    answer = expect(collective, "dgx-h100", sizes="1M")
    assert (answer.rows[0].count, answer.reduction, answer.root) == (count, reduction, root)


def test_bandwidths_are_size_over_time() -> None:
    speed = expect("all_reduce", "dgx-h100:16", sizes="64M").rows[0].speed
    assert speed.algbw == pytest.approx(2**26 / speed.seconds)
    assert speed.busbw == pytest.approx(speed.algbw * 2 * 15 / 16)
    assert speed.low < speed.seconds < speed.high


def test_one_chip_pays_nothing_and_says_so() -> None:
    answer = expect("all_reduce", "h100", sizes="8:1M:x2")
    assert all(row.speed.seconds == 0 and row.speed.busbw == 0 for row in answer.rows)
    assert answer.notes == ("alone",)
    assert answer.limit is None


def test_notes_say_why_numbers_look_odd() -> None:
    assert "above_link" in expect("all_reduce", "dgx-h100", sizes="16G").notes
    assert "above_link" not in expect("all_reduce", "dgx-a100", sizes="16G").notes
    assert "two_nodes" in expect("all_reduce", "aws-p4de:16", sizes="2G").notes
    assert "two_nodes" not in expect("all_reduce", "aws-p4de:32", sizes="2G").notes
    assert "average" in expect("all_reduce", "dgx-a100").notes


def test_sharp_is_best_but_not_what_nccl_takes_by_itself() -> None:
    row = expect("all_reduce", "dgx-h100:32", sizes="16G").rows[0]
    assert row.speed.algorithm == "NVLSTree"
    assert row.best is not None
    assert row.best.algorithm == "CollNet"
    assert row.best.seconds < row.speed.seconds


def test_versions_of_nccl_have_their_menus() -> None:
    old = expect("all_reduce", "dgx-h100", sizes="16G", nccl="2.16").rows[0].speed
    assert old.algorithm == "Ring"
    for wrong in ("3", "2", "2.x", "", "1.9"):
        with pytest.raises(InputError, match="NCCL"):
            expect("all_reduce", "dgx-h100", nccl=wrong)
    with pytest.raises(InputError, match="RCCL"):
        expect("all_reduce", "mi300x-8", nccl="2.27")


def test_switches_add_floats_only() -> None:
    # Eight H100: 445 GB/s with halves, 351 with int8 at 512 MiB (aiconfigurator-core's tables).
    half, byte = (
        expect("all_reduce", "dgx-h100", sizes="512M", dtype=dtype).rows[0].speed
        for dtype in ("half", "int8")
    )
    assert half.busbw == pytest.approx(445e9, rel=0.05)
    assert byte.busbw == pytest.approx(351e9, rel=0.05)


def test_chips_per_node_uses_that_many_of_every_node() -> None:
    answer = expect("all_gather", "dgx-h100:64", sizes="8G", chips_per_node=1)
    assert (answer.ranks, answer.nodes) == (8, 8)
    # One 400 Gb/s card per rank carries 46 to 48 GB/s (NVIDIA/nccl-tests issues 119, 290, 319).
    assert 46e9 <= answer.rows[0].speed.busbw <= 48.5e9
    for wrong in (0, 9):
        with pytest.raises(InputError, match="8 chip"):
            expect("all_gather", "dgx-h100:64", chips_per_node=wrong)


def test_a_resource_can_be_overridden() -> None:
    usual = expect("alltoall", "dgx-h100:64", sizes="1G").rows[0].speed.seconds
    doubled = expect(
        "alltoall", "dgx-h100:64", sizes="1G", overrides=["fabric.nic.bandwidth=800 Gb/s"]
    )
    assert doubled.rows[0].speed.seconds == pytest.approx(usual / 2, rel=0.01)


@pytest.mark.parametrize(
    ("collective", "dtype", "least", "why"),
    [
        ("all_reduce", "double", 8, "one element"),
        ("broadcast", "half", 2, "one element"),
        ("alltoall", "float", 32, "one element for every rank"),
    ],
)
def test_sizes_without_an_element_are_refused_or_told(
    collective: str, dtype: str, least: int, why: str
) -> None:
    # nccl-tests counts bytes / (bytes of the type), of all ranks for all-to-all, rounded down.
    with pytest.raises(InputError) as caught:
        expect(collective, "dgx-h100:8", sizes=[least - 1], dtype=dtype)
    (problem,) = caught.value.problems
    assert problem.found == f"{least - 1} B"
    assert problem.rule == f"{collective} of {dtype} moves {least} B or more here, {why}"
    mixed = expect(collective, "dgx-h100:8", sizes=[least - 1, least], dtype=dtype)
    assert [row.count for row in mixed.rows] == [0, 1]
    assert "empty" in mixed.notes
    whole = expect(collective, "dgx-h100:8", sizes=[least, 2 * least], dtype=dtype)
    assert "empty" not in whole.notes
