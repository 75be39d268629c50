"""The answer says why it differs from the closed form."""

from __future__ import annotations

from typing import get_args

import pytest

from artery.answers.expect import expect
from artery.answers.simulate import simulate
from artery.answers.simulate.apart import NEAR
from artery.answers.simulate.result import Why


@pytest.mark.parametrize(
    ("collective", "on", "algorithm", "size", "why"),
    [
        ("all_reduce", "dgx-b200:32", "ring", "32M", "hidden"),
        ("sendrecv", "aliyun-hpn7:16", "sendrecv", "1G", "one_card"),
        ("all_reduce", "dgx-1v", "halving_doubling", "1G", "partners"),
        ("all_reduce", "tpu-v5e-pod:8", "torus", "1G", "sides"),
        ("all_reduce", "pcie-a100:32", "tree", "1G", "slots"),
        ("alltoall", "dgx-h100:16", "grouped", "1M", "turns"),
    ],
)
def test_the_reason_is_named(collective: str, on: str, algorithm: str, size: str, why: str) -> None:
    found = simulate(collective, on, algorithm=algorithm, size=size, routing="static", links=0)
    assert found.closed is not None
    assert abs(found.seconds / found.closed.seconds - 1) > NEAR
    assert [note for note in found.notes if note in get_args(Why)] == [why]


@pytest.mark.parametrize("options", [{}, {"slow": ("3=2x",)}])
def test_none_is_named_where_both_agree_or_somebody_is_in_the_way(
    options: dict[str, tuple[str, ...]],
) -> None:
    found = simulate("all_reduce", "mi300x-8:4", algorithm="ring", size="1G", links=0, **options)
    assert not set(found.notes) & set(get_args(Why))


@pytest.mark.parametrize("chips", [9, 12, 15])
def test_rings_over_a_part_filled_node_are_bounded_by_its_cards(chips: int) -> None:
    """All bytes of a ring pass each node: of eight cards of 48 GB/s, chips - 8 have a chip here."""
    found = simulate("all_reduce", f"dgx-h100:{chips}", algorithm="ring", size="1G", links=0)
    assert found.closed is not None
    assert found.seconds == pytest.approx(found.closed.seconds, rel=0.02)
    assert found.seconds >= 2 * (chips - 1) / chips * 2**30 / ((chips - 8) * 48e9)


def test_a_dgx_1_reaches_what_was_measured() -> None:
    """122 GB/s on a slide of NVIDIA's (GTC24 S62129), 130 to 132 as recalled of its six rings."""
    rows = expect("all_reduce", "dgx-1v", sizes="1G:16G:x4").rows
    assert all(120e9 <= row.speed.busbw <= 132e9 for row in rows)
