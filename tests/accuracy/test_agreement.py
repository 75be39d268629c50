"""Both prices of a collective agree, or differ for a reason that is stated, and no further."""

from __future__ import annotations

from functools import cache

import pytest

from accuracy.agreement import BOUNDS, BY_HAND, MIB, UNEVEN, Pair, kept, pairs

EVERY = 1024 * MIB
"""Bytes of which the links take nearly all of the time."""

RUN = ("ring", "tree", "grouped", "sendrecv", "hierarchical")
"""Algorithms of which libraries run every part."""

played = cache(lambda system: tuple(pairs([system], (MIB, EVERY))))
WIRED = ["mi300x-8", "dgx-1v", "leonardo", UNEVEN, BY_HAND]


@pytest.mark.parametrize(
    "system", [*WIRED, "dgx-h100", "pcie-a100", "rtx3090x2", "ethernet-10g", "tpu-v4-pod"]
)
def test_what_is_played_is_what_is_expected(system: str) -> None:
    """Every collective and algorithm, from part of a node to four nodes."""
    found: tuple[Pair, ...] = played(system)
    assert found
    for one in found:
        if one.why is not None:
            least, most = BOUNDS[one.why]
            assert least <= one.ratio <= most, (one.case, one.why, one.ratio)


@pytest.mark.parametrize("system", WIRED)
def test_large_messages_agree_on_part_of_a_mesh_and_on_uneven_groups(system: str) -> None:
    """Where every way round a node is known: within 5 %."""
    found: tuple[Pair, ...] = played(system)
    for one in found:
        if one.algorithm in RUN and one.size == EVERY:
            assert one.why is None, (one.case, one.ratio)


def test_the_whole_table_is_within_its_bounds() -> None:
    """As it was written last, over all systems of the catalog."""
    rows = kept()
    agree = sum(row.pairs for row in rows if not row.why)
    assert agree > 0.96 * sum(row.pairs for row in rows)
    bounds = {str(why): bound for why, bound in BOUNDS.items()}
    for row in rows:
        if row.why:
            least, most = bounds[row.why]
            assert least <= row.least <= row.most <= most, row
