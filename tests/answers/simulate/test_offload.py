"""Who adds: chips, switches or network cards, as ``simulate`` takes it."""

from __future__ import annotations

import pytest

from artery.answers.simulate import simulate
from artery.errors import InputError, UnknownNameError, UsageError

POD = "dgx-h100:32"


def test_cards_add_between_nodes_at_the_rate_of_the_catalog() -> None:
    """Slower than the link behind them, they set the pace of a large all-reduce."""
    chips = simulate("all_reduce", POD, algorithm="ring", offload="none")
    cards = simulate("all_reduce", POD, algorithm="ring", offload="bf3")
    assert cards.adding is not None
    assert cards.adding.card
    assert cards.adding.rate == pytest.approx(14.9e9)
    assert cards.adding.seconds == pytest.approx(2**30 * 31 / 32 / 8 / 14.9e9, rel=0.01)
    assert cards.network > chips.network
    assert cards.network > cards.adding.seconds
    assert "card" in cards.notes
    assert chips.adding is None


def test_a_slower_card_takes_longer_by_its_rate() -> None:
    times = {
        card: simulate("all_reduce", POD, algorithm="ring", offload=card).adding
        for card in ("bf2", "bf3")
    }
    assert times["bf2"] is not None
    assert times["bf3"] is not None
    assert times["bf2"].seconds / times["bf3"].seconds == pytest.approx(14.9 / 4.27, rel=1e-3)


def test_small_messages_gain_what_the_hosts_took_a_step() -> None:
    """NCCL's 4 us of each of the tree's steps between nodes become 1 us."""
    chips = simulate("all_reduce", POD, size="8", algorithm="tree", offload="none")
    cards = simulate("all_reduce", POD, size="8", algorithm="tree", offload="bf3")
    steps = 2 * 2  # up and down the two levels of four nodes
    assert chips.startup - cards.startup == pytest.approx(steps * 3e-6, rel=1e-6)
    assert cards.seconds < chips.seconds


def test_inside_a_node_a_card_has_nothing_to_do() -> None:
    chips = simulate("all_reduce", "dgx-h100:8", offload="none")
    cards = simulate("all_reduce", "dgx-h100:8", offload="bf2")
    assert cards.seconds == chips.seconds


@pytest.mark.parametrize(
    ("on", "offload", "algorithm"),
    [
        ("dgx-h100:8", "auto", "nvls"),
        ("dgx-h100:8", "switch", "nvls"),
        ("dgx-h100:32", "switch", "collnet"),
        ("hgx-h100-roce:32", "switch", "nvls_tree"),
        ("dgx-h100:16", "switch", "collnet"),
    ],
)
def test_switches_add_where_there_are_any(on: str, offload: str, algorithm: str) -> None:
    assert simulate("all_reduce", on, offload=offload).algorithm == algorithm


@pytest.mark.parametrize("offload", ["none", "bf3"])
def test_without_switches_another_algorithm_is_taken(offload: str) -> None:
    found = simulate("all_reduce", POD, offload=offload)
    assert found.algorithm in ("ring", "tree")
    assert "replaced" not in found.notes
    best = simulate("all_reduce", POD, offload=offload, algorithm="best", size="1M")
    assert not {one.algorithm for one in best.tried} & {"nvls", "nvls_tree", "collnet"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"offload": "cx7"}, "cards that do: bf2, bf3"),
        ({"offload": "switch", "algorithm": "ring"}, "leave --algorithm or --offload out"),
        ({"offload": "none", "algorithm": "nvls"}, "leave --algorithm or --offload out"),
        ({"offload": "switch", "on": "dgx-1v:8"}, "--offload switch"),
        ({"offload": "sharp"}, "switch"),
        ({"offload": 3}, "must be text"),
        ({"reduce_rate": "lots"}, "400 GB/s, or chip"),
        ({"reduce_rate": "0 GB/s"}, "at least 1 B/s"),
        ({"reduce_rate": "-1GB/s"}, "at least 1 B/s"),
        ({"reduce_rate": "1e15 GB/s"}, "at most 1e+18 B/s"),
        ({"reduce_rate": "1e-30GB/s"}, "at least 1 B/s"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, object], said: str) -> None:
    asked = {"on": "dgx-h100:8", "size": "1M", **options}
    with pytest.raises((InputError, UsageError, UnknownNameError)) as caught:
        simulate("all_reduce", **asked)  # type: ignore[arg-type]
    assert said in str(caught.value)


def test_a_chip_adds_as_its_memory_allows() -> None:
    """Two reads and a write a byte of 3.35 TB/s: an H100's links are slower, nothing changes."""
    usual = simulate("all_reduce", "dgx-h100:16", algorithm="ring", size="64M")
    found = simulate("all_reduce", "dgx-h100:16", algorithm="ring", size="64M", reduce_rate="chip")
    assert found.adding is not None
    assert found.adding.rate == pytest.approx(3.35e12 / 3, rel=0.01)
    assert found.seconds == pytest.approx(usual.seconds, rel=0.005)
    slow = simulate("all_reduce", "dgx-h100:16", algorithm="ring", reduce_rate="100 GB/s")
    assert slow.adding is not None
    assert slow.seconds > slow.adding.seconds > 2**30 * 15 / 16 / 100e9 * 0.999
