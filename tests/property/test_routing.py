"""Properties of the paths of every network that can be built."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artery.catalog import link, system
from artery.cluster.dragonfly import Dragonfly
from artery.cluster.fabric import Fabric
from artery.cluster.fat_tree import FatTree, Level
from artery.cluster.routing import network, paths
from artery.cluster.stages import stages
from artery.cluster.wiring import Assembly
from artery.core.system import Router, System
from artery.errors import InputError
from artery.node.nvswitch import nvswitch
from tests.cluster.walks import check_walks, distances

CARD = link("ib-ndr")
POLICIES = ("hash", "static", "adaptive", "spray")


@st.composite
def trees(draw: st.DrawFn) -> FatTree:
    """A tree of up to three tiers with few ports, so that there are windows."""
    leaf = draw(st.integers(1, 4))
    pod = leaf * draw(st.integers(1, 4))
    tapers = [draw(st.sampled_from((1.0, 1.5, 3.0))) for _ in range(2)]
    radix = draw(st.sampled_from((4, 8, 16)))
    levels = (
        Level("leaf", leaf, radix=max(radix, 2 * leaf * 2)),
        Level("pod", pod, tapers[0], radix),
        Level("top", None, tapers[1], radix),
    )
    rails = draw(st.booleans())
    return FatTree(
        CARD,
        cards=draw(st.sampled_from((1, 2, 4, 8))),
        levels=levels,
        latency=1e-6,
        hop=0.5e-6,
        rails=rails,
        rail_only=rails and draw(st.booleans()),
        planes=draw(st.integers(1, 2)),
        tors=draw(st.integers(1, 2)),
    )


@st.composite
def dragonflies(draw: st.DrawFn) -> Dragonfly:
    """A dragonfly or dragonfly+ of any proportions."""
    return Dragonfly(
        CARD,
        cards=draw(st.sampled_from((1, 2, 4))),
        nodes=draw(st.integers(1, 6)),
        routers=draw(st.integers(1, 5)),
        latency=1e-6,
        hop=1e-7,
        long=3e-7,
        spines=draw(st.integers(0, 4)),
        local=draw(st.integers(1, 2)),
        between=draw(st.integers(1, 3)),
    )


def joined(fabric: Fabric, chips: int, per_domain: int, nodes: int) -> System:
    """``chips`` chips in NVSwitch domains over ``nodes`` nodes each under ``fabric``."""
    domain = nvswitch(per_domain, link("nvlink4"), 1e-6, switches=2, nodes=nodes)
    whole = Assembly(chips, domain, fabric)
    if isinstance(fabric, FatTree):
        whole = replace(whole, fabric=fabric.clipped(whole.nodes))
    return replace(
        system("dgx-h100"),
        chips=chips,
        groups=whole.groups,
        links=whole.links,
        wiring=whole.edges,
        router=Router((chips,), ("hash",), whole),
    )


@given(
    st.one_of(trees(), dragonflies()),
    st.integers(5, 200),
    st.sampled_from(((4, 1), (8, 2), (2, 1), (4, 4))),
    st.sampled_from(POLICIES),
    st.integers(0, 10),
)
@settings(max_examples=60, deadline=None)
def test_every_path_is_a_walk(
    fabric: Fabric, chips: int, domain: tuple[int, int], policy: str, seed: int
) -> None:
    found = joined(fabric, chips, *domain)
    net = network(found)
    edges = net.edges()
    assert len(edges.source) == len(net.rate)
    assert edges.target.max() < sum(group.count for group in net.groups)
    draw = np.random.default_rng(seed)
    source, target = draw.integers(0, chips, (2, 40))
    check_walks(net, paths(found, net, source, target, policy=policy, seed=seed), source, target)
    cut = net.fail(0.1, seed)
    apart = np.flatnonzero(distances(cut, 0, past=True)[:chips] < 0)
    if len(apart):
        with pytest.raises(InputError, match="no way from chip"):
            paths(found, cut, apart, np.zeros_like(apart))
        return
    check_walks(cut, paths(found, cut, source, target, policy=policy), source, target)


@given(trees(), st.integers(2, 60))
@settings(max_examples=60, deadline=None)
def test_windows_are_whole_and_every_port_has_a_place(tree: FatTree, nodes: int) -> None:
    found = stages(tree.clipped(nodes), nodes)
    for lower, upper in pairwise(found):
        assert upper.group % upper.windows == 0
        assert lower.group % upper.windows == 0 or upper.windows == 1
        # Every switch reaches all of its window.
        assert 1 <= upper.window <= lower.up
        assert upper.count % upper.group == 0
    assert found[-1].up == 0
    assert ceil(found[0].count / found[0].group) >= 1
