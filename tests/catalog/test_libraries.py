"""Communication libraries of the catalog: sources, sane constants, and which ones apply."""

from __future__ import annotations

import pytest

from artery.catalog.libraries import library
from artery.catalog.links import link
from artery.catalog.loader import entry, names
from artery.catalog.sourced import dotted, leaves
from artery.collective.library import Line, Network, Platform
from artery.errors import UnknownNameError

LIBRARIES = names("libraries")
PLAIN = {"name", "title", "version", "protocol"}


def test_the_libraries_that_systems_run() -> None:
    assert set(LIBRARIES) == {"nccl", "rccl", "ici", "gloo"}
    with pytest.raises(UnknownNameError, match="nccl"):
        library("ncl")


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_constant_has_a_source(name: str) -> None:
    sourced = entry("libraries", name)
    bare = [
        dotted(path)
        for path, _ in leaves(sourced.values)
        if path not in sourced.sources and path[-1] not in PLAIN
    ]
    assert bare == []


@pytest.mark.parametrize("name", LIBRARIES)
def test_constants_are_sane(name: str) -> None:
    found = library(name)
    assert {"default"} <= found.platforms.keys()
    for platform in found.platforms.values():
        check_platform(platform)
    for network in found.networks.values():
        check_network(network)
        spoken = {line.protocol for platform in found.platforms.values() for line in platform.ring}
        assert spoken <= network.hop.keys()
        assert spoken <= network.fraction.keys()


def check_platform(platform: Platform) -> None:
    for lines in (platform.ring, platform.exchange, platform.in_switch):
        for line in lines:
            assert 0 < line.fraction <= 1
            assert 0 < line.base < 1e-3
            assert 0 <= line.step < 1e-4
        assert_pays_off(lines)
    assert platform.spread.start > 1
    assert platform.spread.rate > 1
    assert 0 < platform.across <= 1


def assert_pays_off(lines: tuple[Line, ...]) -> None:
    """A slower start must buy bandwidth, or eight chips (14 steps) would never take the line."""
    ordered = sorted(lines, key=lambda line: line.base + 14 * line.step)
    fractions = [line.fraction for line in ordered]
    assert fractions == sorted(fractions)


def check_network(network: Network) -> None:
    assert all(0 < share <= 1 for share in network.fraction.values())
    assert all(0 < hop < 1e-3 for hop in network.hop.values())
    assert 0 < network.in_network <= 1
    assert 0 < network.shared <= 1


@pytest.mark.parametrize(
    ("name", "platform"),
    [
        ("nvlink3", "nvlink3"),
        ("nvlink2", "nvlink"),
        ("pcie4x16", "pcie"),
        ("pcie5x16", "pcie5x16"),
        ("eth10", "default"),
    ],
)
def test_platforms_go_by_name_then_by_kind(name: str, platform: str) -> None:
    assert library("nccl").platform(link(name)).name == platform


@pytest.mark.parametrize(
    ("name", "network"),
    [
        ("ib-ndr", "infiniband"),
        ("roce-400g", "roce"),
        ("efa-100g", "efa"),
        ("eth10", "ethernet"),
        ("slingshot11", "default"),
    ],
)
def test_networks_go_by_kind(name: str, network: str) -> None:
    assert library("nccl").network(link(name)).name == network
