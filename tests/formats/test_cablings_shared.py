"""Cablings from real files of the shared folder."""

from __future__ import annotations

from pathlib import Path

from artery.cluster.cabling import Network
from artery.cluster.cabling.faults import faults
from artery.formats.cabling.cablings import read_cabling


def network(shared: Path, name: str) -> Network:
    return Network(read_cabling(str(shared / "cases" / name)))


def test_a_simulated_fabric(shared: Path) -> None:
    """4 leaves x 4 hosts, 2 spines, 2 links between each: 4 down to 4 up."""
    found = network(shared, "ib/04-sim-ibnetdiscover.txt")
    assert [len(found.switches(tier)) for tier in (1, 2)] == [4, 2]
    assert {found.above(leaf).total() for leaf in found.switches(1)} == {4}
    assert [one.cause for one in faults(found, {})] == ["single_homed"]


def test_a_director_switch(shared: Path) -> None:
    """A chassis of one spine and two line cards, racks of two hosts; its SHARP node is no host."""
    found = network(shared, "ib/02-ibnetdiscover-hdr-s-w-v-e.txt")
    assert [len(found.switches(tier)) for tier in (1, 2, 3)] == [5, 2, 1]
    assert all(cable.rate == 25e9 for cable in found.cabling.cables)
    assert not any("Aggregation" in one.name for one in found.cabling.devices)


def test_two_halls_and_a_leaf_without_a_root(shared: Path) -> None:
    """40 nodes, 3 disconnected parts (A 16, B 16, leafC 8)."""
    found = network(shared, "slurm/02-topology-forest-no-root.conf")
    (islands,) = [one for one in faults(found, {}) if one.cause == "islands"]
    assert [line.split(":")[0] for line in islands.evidence] == ["16 hosts", "16 hosts", "8 hosts"]


def test_two_trees(shared: Path) -> None:
    found = network(shared, "slurm/03-topology-two-roots.conf")
    assert [len(found.switches(tier)) for tier in (1, 2)] == [20, 2]
    assert sorted(len(part) for part in found.islands) == [211, 211]
