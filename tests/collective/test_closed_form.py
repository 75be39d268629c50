"""The closed form: by hand on small systems, and what must hold for all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.collective import ClosedForm, bus_factor
from artery.collective.overheads import Played, overheads
from artery.collective.placement import listed
from artery.core.pricing import Collective, Demand
from artery.errors import UnknownNameError, UsageError
from tests.collective.systems import CARD, LIBRARY, NVLINK, cluster, torus

COLLECTIVES: tuple[Collective, ...] = get_args(Collective)
NVLINK_RATE = NVLINK.bandwidth * NVLINK.efficiency
CARD_RATE = CARD.bandwidth * CARD.efficiency
LARGE = 2.0**40


def demand(
    collective: Collective,
    size: object,
    ranks: object,
    stride: object = 1,
    *,
    concurrent: bool = False,
) -> Demand:
    return Demand(
        collective,
        np.asarray(size, dtype=np.float64),
        np.asarray(ranks, dtype=np.int64),
        np.asarray(stride, dtype=np.int64),
        concurrent,
    )


def seconds(pricer: ClosedForm, *arguments: object, **options: bool) -> float:
    return float(pricer.price(demand(*arguments, **options)).seconds)  # type: ignore[arg-type]


def busbw(pricer: ClosedForm, collective: Collective, ranks: int) -> float:
    factor = float(bus_factor(collective, np.array(ranks)))
    return factor * LARGE / seconds(pricer, collective, LARGE, ranks)


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_one_rank_costs_nothing(collective: Collective) -> None:
    assert seconds(ClosedForm(cluster(8), LIBRARY), collective, 1e9, 1) == 0


def test_ring_in_one_node_by_hand() -> None:
    # Ring, Simple: base + 2(n-1) steps + 2(n-1)/n of the size over the link.
    pricer = ClosedForm(cluster(8), LIBRARY, "ring")
    expected = 40e-6 + 14 * 2e-6 + 1.75 * 2**30 / NVLINK_RATE
    assert seconds(pricer, "all_reduce", 2.0**30, 8) == pytest.approx(expected)


def test_small_messages_take_the_fast_start() -> None:
    pricer = ClosedForm(cluster(8), LIBRARY, "ring")
    assert seconds(pricer, "all_reduce", 8, 8) == pytest.approx(5e-6 + 14e-6, rel=1e-3)


def test_small_messages_open_a_channel_per_4_kib_up_to_16() -> None:
    network = replace(LIBRARY.networks["default"], message={"LL": 1e-6})
    costly = replace(LIBRARY, networks={"default": network})
    for ranks, steps in ((8, 0), (16, 2), (32, 4)):  # a tree goes up and down its levels
        for size, further in ((0.0, 0), (8192.0, 2), (61440.0, 15), (65536.0, 15), (131072.0, 15)):
            pair = (ClosedForm(cluster(ranks), one, "tree") for one in (LIBRARY, costly))
            free, paid = (seconds(each, "all_reduce", size, ranks) for each in pair)
            assert paid - free == pytest.approx(steps * further * 1e-6, abs=1e-12)
            played = Played("tree", "all_reduce", size, ranks)
            before, now = (overheads(cluster(ranks), one, played) for one in (LIBRARY, costly))
            assert now.startup - before.startup == pytest.approx(paid - free, abs=1e-12)


def test_switch_reduction_starts_at_the_smallest_group() -> None:
    pricer = ClosedForm(cluster(8), LIBRARY)
    chosen = [
        pricer.quote(demand("all_reduce", LARGE, ranks)).algorithm[0] for ranks in (2, 4, 5, 8)
    ]
    assert chosen == ["Ring", "Ring", "NVLS", "NVLS"]
    # 1 + 1/8 of the size at 0.9 of the link: bus bandwidth 1.75/1.125·0.9 = 1.4 of the link.
    assert busbw(pricer, "all_reduce", 8) == pytest.approx(1.4 * NVLINK_RATE, rel=1e-4)


def test_switches_do_not_add_bytes() -> None:
    pricer = ClosedForm(cluster(8), LIBRARY, addable=False)
    assert pricer.quote(demand("all_reduce", LARGE, 8)).algorithm == ("Ring",)


@pytest.mark.parametrize(
    ("nodes", "share"),
    # Bytes that the busiest node sends, per byte: one edge per tree, then 3/2, then 2.
    [(2, 1.0), (3, 1.5), (4, 2.0), (16, 2.0)],
)
def test_trees_over_nodes_are_bound_by_the_cards(nodes: int, share: float) -> None:
    chips = 8 * nodes
    pricer = ClosedForm(cluster(chips, cards=1), LIBRARY, "tree")
    expected = LARGE * share / CARD_RATE
    assert seconds(pricer, "all_reduce", LARGE, chips) == pytest.approx(expected, rel=1e-4)


def test_two_nodes_show_twice_the_cards_but_the_wire_does_not() -> None:
    pricer = ClosedForm(cluster(16, cards=2), LIBRARY)
    quote = pricer.quote(demand("all_reduce", LARGE, 16))
    assert "Tree" in quote.algorithm[0]
    found = busbw(pricer, "all_reduce", 16)
    assert found == pytest.approx(2 * (15 / 16) * 2 * CARD_RATE, rel=1e-3)
    # The wire rate per chip is busbw·(k-1)/(n-1), and eight chips fill the two cards.
    assert quote.wire[0] == pytest.approx(found / 15)
    assert 8 * quote.wire[0] == pytest.approx(2 * CARD_RATE, rel=1e-3)


def test_tensor_parallel_group_over_two_nodes_pays_the_network() -> None:
    pricer = ClosedForm(cluster(64), LIBRARY)
    inside = seconds(pricer, "all_reduce", 2.0**28, 8, concurrent=True)
    across = seconds(pricer, "all_reduce", 2.0**28, 16, concurrent=True)
    odd = seconds(pricer, "all_reduce", 2.0**28, 6, concurrent=True)
    assert across > inside
    # Six over nodes of eight: some group has two members on one node, so two cards' worth.
    assert odd == pytest.approx(2.0**28 / (2 * CARD_RATE), rel=0.3)
    assert odd > inside


def test_stride_decides_the_tier() -> None:
    pricer = ClosedForm(cluster(64), LIBRARY)
    price = pricer.price(demand("all_reduce", LARGE, 8, [1, 8], concurrent=True))
    assert price.tier.tolist() == [0, 1]
    assert price.seconds[1] == pytest.approx(1.75 * LARGE / CARD_RATE, rel=1e-3)


def test_groups_that_run_together_share_the_cards() -> None:
    system = cluster(64, cards=4)
    alone = seconds(ClosedForm(system, LIBRARY), "all_gather", LARGE, 8, 8)
    shared = seconds(ClosedForm(system, LIBRARY), "all_gather", LARGE, 8, 8, concurrent=True)
    assert shared == pytest.approx(2 * alone, rel=1e-3)


def test_all_to_all_by_hand() -> None:
    # Of each chip's size 24/32 leaves the node over its own card; 7/32 stays on NVLink.
    pricer = ClosedForm(cluster(32), LIBRARY)
    expected = LARGE * (24 / 32) / CARD_RATE
    assert seconds(pricer, "alltoall", LARGE, 32) == pytest.approx(expected, rel=1e-4)


def test_all_to_all_pays_the_taper_and_rings_do_not() -> None:
    full = cluster(256, pod=64)
    tapered = cluster(256, pod=64, taper=4)
    assert seconds(ClosedForm(tapered, LIBRARY), "alltoall", LARGE, 256) == pytest.approx(
        LARGE * (192 / 256) / (CARD_RATE / 4), rel=1e-4
    )
    ring = [
        seconds(ClosedForm(system, LIBRARY, "ring"), "all_reduce", LARGE, 256)
        for system in (full, tapered)
    ]
    assert ring[0] == ring[1]


def test_concurrent_rings_pay_the_taper_where_they_cross() -> None:
    # One member per pod: all 64 chips of a pod send to the next pod at once.
    tapered = ClosedForm(cluster(256, pod=64, taper=4), LIBRARY)
    price = tapered.price(demand("all_gather", LARGE, 4, 64, concurrent=True))
    assert price.tier == 2
    assert price.seconds == pytest.approx(0.75 * LARGE / (CARD_RATE / 4), rel=1e-3)


def test_part_filled_last_node_holds_the_others_up() -> None:
    whole = seconds(ClosedForm(cluster(16), LIBRARY, "ring"), "all_reduce", LARGE, 16)
    ragged = seconds(ClosedForm(cluster(9), LIBRARY, "ring"), "all_reduce", LARGE, 9)
    assert ragged == pytest.approx(2 * (8 / 9) * LARGE / CARD_RATE, rel=1e-4)
    assert ragged > 4 * whole


def test_send_receive_uses_one_card() -> None:
    pricer = ClosedForm(cluster(16), LIBRARY)
    assert seconds(pricer, "sendrecv", LARGE, 2, 8) == pytest.approx(LARGE / CARD_RATE, rel=1e-4)
    assert seconds(pricer, "sendrecv", LARGE, 2) == pytest.approx(LARGE / NVLINK_RATE, rel=1e-4)


def test_pat_needs_one_chip_per_node_and_its_version() -> None:
    system = cluster(128)
    new = ClosedForm(system, LIBRARY).quote(demand("all_gather", 1e3, 16, 8))
    old = ClosedForm(system, LIBRARY, version="2.22").quote(demand("all_gather", 1e3, 16, 8))
    assert (new.algorithm, old.algorithm) == (("PAT",), ("Ring",))


def test_nvls_came_with_a_version() -> None:
    old = ClosedForm(cluster(8), LIBRARY, version="2.16")
    assert old.quote(demand("all_reduce", LARGE, 8)).algorithm == ("Ring",)


def test_nccl_never_halves_and_doubles_but_best_may() -> None:
    system = cluster(64, reduction=None)
    sizes = 2.0 ** np.arange(3, 35)
    auto = ClosedForm(system, LIBRARY).quote(demand("all_reduce", sizes, 64))
    best = ClosedForm(system, LIBRARY, "best").quote(demand("all_reduce", sizes, 64))
    assert set(auto.algorithm) <= {"Ring", "Tree"}
    assert "HalvingDoubling" in best.algorithm
    assert (best.seconds <= auto.seconds).all()


def test_torus_by_hand() -> None:
    # A 4x4 torus, every chip on four links of 100 GB/s: 2·15/16 of the size over all four.
    system = torus((4, 4), 100e9)
    line = replace(LIBRARY, name="ici")
    assert seconds(ClosedForm(system, line), "all_reduce", LARGE, 16) == pytest.approx(
        2 * (15 / 16) * LARGE / 400e9, rel=1e-4
    )
    # All-to-all on a ring of 8: bytes travel two links on average, 8/4/2 = 1 per link pair.
    ring = torus((8,), 100e9)
    assert seconds(ClosedForm(ring, line), "alltoall", LARGE, 8) == pytest.approx(
        LARGE * 8 / 4 / 200e9, rel=1e-4
    )


def test_a_torus_that_lost_half_of_its_links_takes_twice_as_long() -> None:
    system = torus((4, 4), 100e9)
    lost = replace(system, tiers=tuple(tier.times(0.5) for tier in system.tiers))
    line = replace(LIBRARY, name="ici")
    whole, half = (
        seconds(ClosedForm(one, line), "all_reduce", LARGE, 16) for one in (system, lost)
    )
    assert half == pytest.approx(2 * whole, rel=1e-3)


def test_a_list_in_rank_order_is_the_packed_placement() -> None:
    system = cluster(64)
    asked = demand("all_reduce", 2.0**26, [2, 8, 16, 64], [8, 1, 4, 1], concurrent=True)
    usual = ClosedForm(system, LIBRARY).price(asked)
    explicit = ClosedForm(system, LIBRARY, placement=listed(np.arange(64))).price(asked)
    assert usual.seconds.tolist() == explicit.seconds.tolist()


def test_unknown_and_unfit_algorithms_are_refused() -> None:
    system = cluster(16)
    with pytest.raises(UnknownNameError, match="ring"):
        seconds(ClosedForm(system, LIBRARY, "rign"), "all_reduce", 1e6, 16)
    with pytest.raises(UsageError, match="does not do all_gather"):
        seconds(ClosedForm(system, LIBRARY, "tree"), "all_gather", 1e6, 16)
    with pytest.raises(UsageError, match=r"16 ranks on 2 node\(s\)"):
        seconds(ClosedForm(system, LIBRARY, "nvls"), "all_reduce", 1e6, 16)


def test_arrays_cost_what_single_demands_cost() -> None:
    rng = np.random.default_rng(7)
    pricer = ClosedForm(cluster(256, pod=64, taper=2), LIBRARY)
    size = 2.0 ** rng.uniform(3, 34, (5, 20))
    ranks = rng.integers(1, 17, (5, 20))
    stride = 2 ** rng.integers(0, 5, (5, 20))
    price = pricer.price(demand("all_reduce", size, ranks, stride, concurrent=True))
    assert price.seconds.shape == price.tier.shape == (5, 20)
    for place in np.ndindex(5, 20):
        single = demand("all_reduce", size[place], ranks[place], stride[place], concurrent=True)
        assert pricer.price(single).seconds == price.seconds[place]


@given(
    st.sampled_from(COLLECTIVES),
    st.integers(1, 256),
    st.sampled_from([1, 2, 8]),
    st.tuples(st.floats(0, 35), st.floats(0, 3)),
    st.sampled_from(["auto", "best"]),
)
def test_more_bytes_never_take_less_time(
    collective: Collective, ranks: int, stride: int, powers: tuple[float, float], menu: str
) -> None:
    pricer = ClosedForm(cluster(2048, pod=512, taper=3), LIBRARY, menu)
    sizes = 2.0 ** np.cumsum(powers)
    found = pricer.price(demand(collective, sizes, ranks, stride)).seconds
    assert found[0] <= found[1]


@given(st.sampled_from(COLLECTIVES), st.integers(2, 128), st.sampled_from(["auto", "best"]))
def test_no_chip_sends_faster_than_its_links(collective: Collective, ranks: int, menu: str) -> None:
    system = cluster(128)
    quote = ClosedForm(system, LIBRARY, menu).quote(demand(collective, LARGE, ranks))
    rate = NVLINK.bandwidth if quote.nodes[0] == 1 else CARD.bandwidth
    assert quote.wire[0] <= rate
    assert quote.low[0] <= quote.seconds[0] <= quote.high[0]


@given(st.integers(1, 300), st.floats(3, 36))
def test_two_levels_take_no_more_than_a_flat_ring_and_what_they_add_inside(
    ranks: int, size: float
) -> None:
    """Fewer steps, and as many bytes between nodes; those inside come before or after."""
    system = cluster(304, cards=4)
    ranks = ranks // 8 * 8  # as many chips in every node
    if ranks > 8:
        for collective in ("all_reduce", "all_gather", "reduce_scatter"):
            asked = demand(collective, 2.0**size, ranks)
            two = ClosedForm(system, LIBRARY, "hierarchical").price(asked).seconds
            flat = ClosedForm(system, LIBRARY, "ring").price(asked).seconds
            n, rounds = min(ranks, 8), 2 if collective == "all_reduce" else 1
            slowest = min(line.fraction for line in LIBRARY.platforms["default"].ring)
            inside = rounds * (n - 1) / n * 2.0**size / (NVLINK_RATE * slowest)
            assert two <= (flat + inside) * (1 + 1e-9)


@given(st.integers(1, 100_000))
def test_any_number_of_ranks_has_a_finite_price(ranks: int) -> None:
    pricer = ClosedForm(cluster(100_000), LIBRARY)
    for collective in COLLECTIVES:
        found = seconds(pricer, collective, 2.0**20, ranks)
        assert np.isfinite(found)
        assert (found > 0) == (ranks > 1)


def test_strided_groups_of_a_torus_use_the_dimensions_they_fill() -> None:
    # 4x4x8, every fourth chip: a group fills the second and third dimension, two links along each.
    # Half of the data goes along the third first: 7 blocks and then, of what the second gathered,
    # 7·4; along the second 3 and 3·8. Of 64 halves of blocks the longer side carries 35.
    pricer = ClosedForm(torus((4, 4, 8), 100e9), replace(LIBRARY, name="ici"))
    found = seconds(pricer, "all_gather", LARGE, 32, 4, concurrent=True)
    assert found == pytest.approx(35 / 64 * LARGE / 200e9, rel=1e-4)
    even = ClosedForm(torus((4, 4, 4), 100e9), replace(LIBRARY, name="ici"))
    found = seconds(even, "all_gather", LARGE, 16, 4, concurrent=True)
    assert found == pytest.approx(15 / 16 * LARGE / 400e9, rel=1e-4)


@pytest.mark.parametrize("name", ["halving_doubling", "HalvingDoubling", "halving-doubling"])
def test_algorithms_go_by_several_spellings(name: str) -> None:
    quote = ClosedForm(cluster(8), LIBRARY, name).quote(demand("all_reduce", 1e6, 8))
    assert quote.algorithm == ("HalvingDoubling",)
