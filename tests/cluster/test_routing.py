from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from artery.catalog import system
from artery.cluster.routing import Network, network, paths
from artery.core.system import System
from artery.errors import InputError, UnknownNameError
from tests.cluster.walks import Ints, check_walks, distances, ends_of_ways, seen, summed

SYSTEMS = (
    "dgx-1v",
    "dgx-1v:16",
    "dgx-a100:24",
    "dgx-h100:12",
    "dgx-h100:1",
    "dgx-h100:4096",
    "hgx-h100-roce:64",
    "hgx-h100-roce:6144",
    "gb200-nvl72:100",
    "gb200-nvl72:300",
    "aliyun-hpn7:32",
    "aliyun-hpn7:20000",
    "aws-p4d:333",
    "aws-p5:200",
    "mi300x-8:16",
    "pcie-a100:16",
    "rtx3090x2",
    "ethernet-10g:300",
    "tpu-v4-pod:2x4x4",
    "tpu-v4-pod:4x4x8",
    "tpu-v5e-pod:4x16",
    "jean-zay-a100:50",
    "rail-clos-h100:16384",
    "frontier:8",
    "frontier:3000",
    "rail-only-h100:4096",
    "h100-sxm",
)


@cache
def built(spec: str) -> tuple[System, Network]:
    found = system(spec)
    return found, network(found)


def pairs(chips: int, many: int = 400, seed: int = 1) -> tuple[Ints, Ints]:
    draw = np.random.default_rng(seed)
    return draw.integers(0, chips, many), draw.integers(0, chips, many)


@pytest.mark.parametrize("policy", ["hash", "static", "adaptive", "spray"])
@pytest.mark.parametrize("spec", SYSTEMS)
def test_paths_are_walks(spec: str, policy: str) -> None:
    found, net = built(spec)
    source, target = pairs(found.chips)
    check_walks(net, paths(found, net, source, target, policy=policy), source, target)


SMALL = [name for name in SYSTEMS if system(name).chips <= 1000]


@pytest.mark.parametrize("spec", SMALL)
def test_the_network_is_the_wiring(spec: str) -> None:
    found, net = built(spec)
    assert summed(net) == seen(net, found)


@pytest.mark.parametrize("policy", ["hash", "static", "adaptive", "spray"])
@pytest.mark.parametrize("spec", ["dgx-h100:4096", "hgx-h100-roce:64", "aliyun-hpn7:20000"])
def test_paths_avoid_links_that_are_down(spec: str, policy: str) -> None:
    found, net = built(spec)
    cut = net.fail(0.2, seed=3)
    assert 0 < (~cut.up).sum() < len(cut.up)
    source, target = pairs(found.chips)
    check_walks(cut, paths(found, cut, source, target, policy=policy), source, target)


# The nodes of a rack of aws-p5 have 256 cards, more than a leaf takes: they meet at the spine.
@pytest.mark.parametrize(
    "spec", [name for name in SYSTEMS if not name.startswith(("tpu", "aws-p5"))]
)
def test_a_path_takes_as_long_as_its_tier_says(spec: str) -> None:
    found, net = built(spec)
    inner = 1
    for tier in found.tiers:
        if tier.chips <= inner or tier.kind == "cube-mesh" or tier.name == "dragonfly":
            inner = tier.chips
            continue
        # The first chip and one just outside of its domain of the tier below.
        way = paths(found, net, np.array([0]), np.array([inner])).link
        assert net.latency[way].sum() == pytest.approx(tier.latency * 1e12, abs=len(way))
        inner = tier.chips


@pytest.mark.parametrize(
    "spec",
    [name for name in SMALL if not name.startswith(("tpu", "frontier", "rtx", "dgx-1v"))],
)
def test_paths_are_shortest_from_card_to_card(spec: str) -> None:
    found, net = built(spec)
    source, target = pairs(found.chips, 200)
    target = target % 3 * (found.chips // 3)
    way = paths(found, net, source, target)
    edges = net.edges()
    stops = ends_of_ways(net)[edges.target[way.link]]
    known: dict[int, Ints] = {}
    for first, last in pairwise(way.start.tolist()):
        # From each chip or card on the way to the next one.
        begin = first
        for end in first + np.flatnonzero(stops[first:last]) + 1:
            goal = int(edges.target[way.link[end - 1]])
            if goal not in known:
                known[goal] = distances(net, goal)
            assert end - begin == known[goal][edges.source[way.link[begin]]]
            begin = end


def test_paths_on_a_torus_are_shortest() -> None:
    for spec, dims, wrapped in (
        ("tpu-v4-pod:4x4x8", (4, 4, 8), True),
        ("tpu-v4-pod:2x3x5", (2, 3, 5), False),
    ):
        found, net = built(spec)
        source, target = pairs(found.chips)
        for policy in ("hash", "static"):
            lengths = np.diff(paths(found, net, source, target, policy=policy).start)
            far, stride = np.zeros(len(source), dtype=int), 1
            for size in dims:
                gap = np.abs(source // stride % size - target // stride % size)
                far += np.minimum(gap, size - gap) if wrapped else gap
                stride *= size
            assert (lengths == far).all()


def test_a_dragonfly_path_changes_group_once_and_takes_at_most_three_hops() -> None:
    found, net = built("frontier:3000")
    source, target = pairs(found.chips, 2000)
    away = source // 512 != target // 512
    way = paths(found, net, source, target)
    kind = net.kind[way.link] - net.kind.max()
    path = np.repeat(np.arange(len(source)), np.diff(way.start))
    across = np.bincount(path[kind == 0], minlength=len(source))
    local = np.bincount(path[kind == -1], minlength=len(source))
    assert (across == away).all()
    assert (local <= np.where(away, 2, 1)).all()


def test_the_same_question_has_the_same_answer() -> None:
    found, net = built("dgx-h100:4096")
    source, target = pairs(found.chips)
    one, again = paths(found, net, source, target), paths(found, net, source, target)
    assert (one.link == again.link).all()
    # Pair by pair or all together.
    for row in range(0, 400, 37):
        alone = paths(found, net, source[row : row + 1], target[row : row + 1])
        assert (alone.link == one.link[one.start[row] : one.start[row + 1]]).all()
    other = paths(found, net, source, target, seed=1)
    assert (one.start == other.start).all()
    assert (one.link != other.link).any()


def test_queue_pairs_of_one_pair_take_different_paths() -> None:
    found, net = built("rail-clos-h100:16384")
    source, target = np.zeros(64, dtype=np.int64), np.full(64, 16000)
    together = paths(found, net, source, target)
    assert len(np.unique(together.link)) == np.diff(together.start)[0]
    spread = paths(found, net, source, target, np.arange(64))
    assert len(np.unique(spread.link)) > 64


def test_a_pair_keeps_its_path_until_a_link_of_it_fails() -> None:
    found, net = built("rail-clos-h100:16384")
    source, target = pairs(found.chips)
    before = paths(found, net, source, target)
    cut = net.fail(0.05)
    after = paths(found, cut, source, target)
    for row in range(len(source)):
        old = before.link[before.start[row] : before.start[row + 1]]
        new = after.link[after.start[row] : after.start[row + 1]]
        assert cut.up[old].all() == (len(old) == len(new) and bool((old == new).all()))


@pytest.mark.parametrize("near", [1, 40, 390])
@pytest.mark.parametrize("policy", ["hash", "static"])
@pytest.mark.parametrize("spec", ["rail-clos-h100:16384", "gb200-nvl72:300", "hgx-h100-roce:6144"])
def test_a_pair_takes_the_same_path_whoever_is_asked_beside_it(
    spec: str, policy: str, near: int
) -> None:
    # Of 400 pairs few, a tenth or nearly all stay in their node.
    found, whole = built(spec)
    net = whole.fail(0.02)
    source, target = pairs(found.chips)
    target[:near] = source[:near] // 4 * 4 + target[:near] % 4
    together = paths(found, net, source, target, policy=policy)
    for row in range(0, len(source), 7):
        alone = paths(found, net, source[row : row + 1], target[row : row + 1], policy=policy)
        ours = together.link[together.start[row] : together.start[row + 1]]
        assert ours.tolist() == alone.link.tolist()


def test_static_routes_spread_a_shift_without_collisions() -> None:
    # Zahavi et al., 2010: under d-mod-k a shift permutation loads every link of a full fat tree
    # at most once. 64 leaves of 32 nodes, one rail.
    found, net = built("dgx-h100:2048")
    node = np.arange(0, 2048, 8)
    for shift in (1, 32, 100):
        way = paths(found, net, node, np.roll(node, -shift), policy="static")
        assert np.bincount(way.link).max() == 1
    hashed = paths(found, net, node, np.roll(node, -100))
    assert np.bincount(hashed.link).max() > 1


def test_adaptive_routes_of_very_many_pairs_stay_even() -> None:
    """All pairs of a batch see the same loads: those of one source in a row took the same link."""
    found = system("hgx-h100-roce:256")
    net = network(found)
    source, target = np.divmod(np.arange(256 * 256), 256)
    apart = source // 16 != target // 16
    worst = {}
    for policy in ("hash", "adaptive"):
        routed = paths(found, net, source[apart], target[apart], policy=policy)
        cables = np.concatenate([net.between, net.between + net.cables])
        load = np.bincount(routed.link, minlength=len(net.rate))[cables]
        worst[policy] = load.max() / load[load > 0].mean()
    assert worst["adaptive"] < 1 + (worst["hash"] - 1) * 0.6


def test_adaptive_routes_collide_less_than_hashed_ones() -> None:
    found, net = built("dgx-h100:2048")
    source = np.arange(2048)
    target = np.random.default_rng(5).permutation(2048)
    worst = {
        policy: np.bincount(paths(found, net, source, target, policy=policy).link).max()
        for policy in ("hash", "adaptive")
    }
    assert worst["adaptive"] < worst["hash"]


def test_spraying_uses_every_path_alike() -> None:
    found, net = built("rail-clos-h100:1024")
    # Two groups of 64 nodes: 64 up-links of a leaf lead to 8 spines, over 8 parallel cables each.
    way = paths(found, net, np.array([0]), np.array([1000]), policy="spray", ways=512)
    assert way.weight.sum() == pytest.approx(1.0)
    share = np.bincount(way.link, weights=np.repeat(way.weight, np.diff(way.start)))
    up = net.kind[way.link] == net.kind.max()
    assert len(np.unique(way.link[up])) == 2 * 64
    assert share[np.unique(way.link[up])] == pytest.approx(1 / 64)
    inside = paths(found, net, np.array([0]), np.array([1]), policy="spray")
    assert inside.weight.tolist() == [1.0]


def test_a_failed_switch_is_gone_round() -> None:
    found, net = built("dgx-h100:1000")
    edges = net.edges()
    first = sum(group.count for group in net.groups[:-2])
    leaf, spine = first + 5, first + net.groups[-2].count + 3
    for vertex in (leaf, spine):
        cut = net.fail_vertices([vertex])
        assert (~cut.up == ((edges.source == vertex) | (edges.target == vertex))).all()
        source, target = pairs(found.chips)
        way = paths(found, cut, source, target)
        check_walks(cut, way, source, target)


def test_a_card_that_is_down_is_left_out_by_way_of_another_chip() -> None:
    found, net = built("dgx-h100:1000")
    own = paths(found, net, np.array([3]), np.array([803])).link
    port = own[net.kind[own] == len(net.links) - 2][0]
    cut = net.fail([int(port)])
    source, target = np.array([3, 2]), np.array([803, 802])
    way = paths(found, cut, source, target)
    check_walks(cut, way, source, target)
    assert np.diff(way.start)[0] > np.diff(way.start)[1]


def test_a_cut_is_named() -> None:
    found, net = built("ethernet-10g:300")
    own = paths(found, net, np.array([5]), np.array([200])).link
    port = own[net.kind[own] == len(net.links) - 2][0]
    cut = net.fail([int(port)])
    with pytest.raises(InputError, match="chip 5 to chip 200: down are eth10 5 to switch 0"):
        paths(found, cut, np.array([5]), np.array([200]))


@pytest.mark.parametrize(
    ("what", "words"), [(1.5, "between 0 and 1"), ([10**9], "directed links"), ([-1], "link -1")]
)
def test_what_cannot_fail_is_refused(what: float | list[int], words: str) -> None:
    _, net = built("dgx-h100:12")
    with pytest.raises(InputError, match=words):
        net.fail(what)


def test_chips_and_policies_that_are_not_there() -> None:
    found, net = built("dgx-h100:12")
    with pytest.raises(InputError, match="chip 12"):
        paths(found, net, np.array([0]), np.array([12]))
    with pytest.raises(UnknownNameError, match="hash"):
        paths(found, net, np.array([0]), np.array([1]), policy="hsh")


def test_no_pairs_have_no_paths() -> None:
    found, net = built("dgx-h100:12")
    empty = np.zeros(0, dtype=np.int64)
    for policy in ("hash", "adaptive", "spray"):
        way = paths(found, net, empty, empty, policy=policy)
        assert way.start.tolist() == [0]
        assert not len(way.link)


def test_staged_transfers_go_through_host_memory() -> None:
    found, net = built("rtx3090x2")
    way = paths(found, net, np.array([0, 1]), np.array([1, 0]))
    edges, kinds = net.edges(), [net.links[kind].kind for kind in net.kind[way.link]]
    assert kinds == 2 * ["pcie", "memory", "memory", "pcie"]
    assert edges.target[way.link].tolist()[:4] == [2, 3, 2, 1]
    # Both directions of a ring write the memory and read it: each gets a quarter of its bandwidth.
    load = np.bincount(way.link, minlength=len(net.rate))
    rate = (net.rate[load > 0] / load[load > 0]).min()
    tier = found.tiers[0]
    assert rate == pytest.approx(tier.ring[2] * tier.link.efficiency, rel=1e-6)


@pytest.mark.parametrize("spec", ["tpu-v4-pod:4x4x8", "tpu-v5e-pod:4x16"])
def test_a_torus_is_crossed_round_links_that_are_down(spec: str) -> None:
    found, net = built(spec)
    cut = net.fail(0.1, seed=2)
    source, target = pairs(found.chips, 200)
    way = paths(found, cut, source, target)
    check_walks(cut, way, source, target)
    before = paths(found, net, source, target)
    assert (np.diff(way.start) >= np.diff(before.start)).all()


@pytest.mark.parametrize(
    ("name", "shift"), [("dgx-a100:160", 8), ("dgx-a100:512", 160), ("dgx-a100:1024", 256),
                        ("dgx-a100:1024", 128), ("dgx-h100:16384", 1024),
                        ("dgx-h100:16384", 2048), ("dgx-b200:2048", 512)]
)  # fmt: skip
def test_a_shift_never_meets_itself_on_static_routes(name: str, shift: int) -> None:
    """Stages of a pipeline: what all chips send one stage on, also past three tiers of rails.

    No two meet on a tree that does not taper (Zahavi et al., 2010).
    """
    built = system(name)
    net = network(built)
    source = np.arange(built.chips - shift)
    found = paths(built, net, source, source + shift, policy="static")
    assert np.bincount(found.link).max() == 1
