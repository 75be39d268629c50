from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from artery.catalog import system
from artery.cluster.routing import Network, network, paths
from artery.core.system import System
from tests.cluster.walks import Ints, check_walks, seen, summed

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
    "gb200-nvl72:1000",
    "aliyun-hpn7:32",
    "aliyun-hpn7:20000",
    "aws-p4d:333",
    "aws-p5:1000",
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


@pytest.mark.parametrize("spec", [name for name in SYSTEMS if "6144" not in name])
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
