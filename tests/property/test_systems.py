"""Properties of every network that can be built."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import ceil, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artery.catalog import link, system
from artery.cluster.fat_tree import FatTree, Level, fat_tree_tiers
from artery.cluster.stages import stages
from artery.cluster.torus import squarest, torus, torus_tier
from artery.cluster.wiring import Assembly
from artery.core.system import System
from artery.node.nvswitch import nvswitch
from tests.flows import bisection

SCALABLE = ("dgx-h100", "hgx-h100-roce", "gb200-nvl72", "aliyun-hpn7", "aws-p4d", "ethernet-10g")

counts = st.integers(1, 100_000)


@given(st.sampled_from(SCALABLE), counts)
def test_any_number_of_chips_builds(name: str, chips: int) -> None:
    found = system(f"{name}:{chips}")
    assert found.chips == chips
    assert found.nodes == ceil(chips / found.chips_per_node)
    assert found.tiers[-1].chips == chips
    assert prod(found.router.radix) >= chips
    assert found.groups[0].count == chips


@pytest.mark.parametrize("name", SCALABLE)
@pytest.mark.parametrize("chips", [1, 7, 9, 12345, 100_000])
def test_awkward_numbers_of_chips(name: str, chips: int) -> None:
    found = system(f"{name}:{chips}")
    inner = [tier.chips for tier in found.tiers]
    assert all(one < other for one, other in pairwise(inner))
    left = chips % found.chips_per_node
    assert bool(left) == any(f"holds {left} of" in warning for warning in found.warnings)


@st.composite
def trees(draw: st.DrawFn) -> FatTree:
    """A tree of up to three tiers over nodes of four chips."""
    leaf = draw(st.integers(1, 4))
    pod = leaf * draw(st.integers(2, 3))
    tapers = [draw(st.floats(1, 2)) for _ in range(2)]
    levels = (Level("leaf", leaf), Level("pod", pod, tapers[0]), Level("top", None, tapers[1]))
    return FatTree(
        replace(link("ib-ndr"), bandwidth=draw(st.sampled_from((12.5e9, 50e9)))),
        cards=draw(st.integers(1, 4)),
        levels=levels,
        latency=1e-6,
        hop=0.5e-6,
        rails=draw(st.booleans()),
        planes=draw(st.integers(1, 2)),
    )


def assembled(tree: FatTree, chips: int) -> System:
    """A system of NVSwitch nodes of four chips under ``tree``."""
    clipped = tree.clipped(ceil(chips / 4))
    whole = Assembly(chips, nvswitch(4, link("nvlink4"), 1e-6, switches=2), clipped)
    return replace(
        system("dgx-h100"),
        chips=chips,
        groups=whole.groups,
        links=whole.links,
        wiring=whole.edges,
        tiers=fat_tree_tiers(clipped, 4, chips),
    )


def rounding(tree: FatTree, nodes: int) -> float:
    """How much whole ports may carry above the taper: a switch has at least one up-link."""
    more, arriving = 1.0, 1.0
    tapers = [level.taper for level in tree.levels[1:]]
    for stage, taper in zip(stages(tree, nodes), tapers, strict=False):
        down = stage.below * arriving / stage.group
        more *= max(1.0, stage.up * taper / down)
        arriving = stage.up
    return more


@given(trees())
@settings(max_examples=40, deadline=None)
def test_the_wiring_never_carries_more_than_the_tiers_say(tree: FatTree) -> None:
    # Two whole pods, so that the halves meet only at the top.
    nodes = 2 * (tree.levels[1].nodes or 1)
    found = assembled(tree, 4 * nodes)
    told = found.chips / 2 * found.tiers[-1].bandwidth
    assert bisection(found) <= told * rounding(tree.clipped(nodes), nodes) * (1 + 1e-6)


@given(trees(), counts, st.floats(1, 4))
def test_more_taper_is_never_faster(tree: FatTree, chips: int, more: float) -> None:
    thinner = replace(
        tree, levels=tuple(replace(level, taper=level.taper * more) for level in tree.levels)
    )
    wide, thin = fat_tree_tiers(tree, 4, chips), fat_tree_tiers(thinner, 4, chips)
    assert all(b.bandwidth <= a.bandwidth for a, b in zip(wide, thin, strict=True))


@given(trees(), counts)
def test_tiers_thin_out_and_lengthen_outwards(tree: FatTree, chips: int) -> None:
    tiers = fat_tree_tiers(tree, 4, chips)
    for inner, outer in pairwise(tiers):
        assert outer.bandwidth <= inner.bandwidth
        assert outer.latency >= inner.latency


@given(st.integers(1, 4096), st.integers(1, 3))
def test_the_squarest_shape_holds_all_chips(chips: int, dimensions: int) -> None:
    shape = squarest(chips, dimensions)
    assert len(shape) == dimensions
    assert prod(shape) == chips
    assert list(shape) == sorted(shape)


@given(st.lists(st.integers(1, 8), min_size=2, max_size=3).map(tuple))
def test_rings_on_a_torus_stay_within_its_links(dims: tuple[int, ...]) -> None:
    tier = torus_tier(torus(dims, link("ici-v4"), 4))
    assert max(tier.ring) <= tier.bandwidth
