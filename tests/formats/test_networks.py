"""Networks told by several devices, by schedulers and by labels: who hangs where."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from artery.core.cabling import Cabling
from artery.formats.cabling.cablings import read_cabling
from artery.formats.recognise import read

SONIC = """\
admin@{name}:~$ show lldp table
Capability codes: (R) Router, (B) Bridge, (O) Other
LocalPort    RemoteDevice    RemotePortID    Capability    RemotePortDescr
-----------  --------------  --------------  ------------  -----------------
{rows}
--------------------------------------------------
Total entries displayed:  {count}
"""


def table(name: str, *rows: str) -> str:
    return SONIC.format(name=name, rows="\n".join(rows), count=len(rows))


def cabling(folder: Path, text: str) -> Cabling:
    file = folder / "network"
    file.write_text(text, "utf-8")
    return read_cabling(str(file))


def pairs(found: Cabling) -> Counter[tuple[str, ...]]:
    """Cables by the names of both ends."""
    names = {one.identity: one.name for one in found.devices}
    return Counter(
        tuple(sorted((names[one.one.device], names[one.other.device]))) for one in found.cables
    )


def kinds(found: Cabling) -> dict[str, str]:
    return {one.name: one.kind for one in found.devices}


def test_two_sonic_switches_tell_their_common_cables_once(tmp_path: Path) -> None:
    """Two cables between them, which the second calls by other names of its ports."""
    text = table(
        "tor-1",
        "Ethernet0    gpu1            ens1f0np0       S             ens1f0np0",
        "Ethernet120  agg-1           Ethernet8       BR            etp3",
        "Ethernet124  agg-1           Ethernet12      BR            etp4",
    )
    text += table(
        "agg-1",
        "Ethernet8    tor-1           etp31           BR            to tor",
        "Ethernet12   tor-1           etp32           BR            to tor",
        "Ethernet64   tor-2           etp31           BR            to tor",
    )
    found = cabling(tmp_path, text)
    assert kinds(found) == {
        "tor-1": "switch", "agg-1": "switch", "tor-2": "switch", "gpu1": "host",
    }  # fmt: skip
    assert pairs(found) == {("gpu1", "tor-1"): 1, ("agg-1", "tor-1"): 2, ("agg-1", "tor-2"): 1}
    assert not any("one device only" in line for line in found.warnings)


def test_the_neighbours_of_several_hosts_under_their_names(tmp_path: Path) -> None:
    def host(port: str) -> dict[str, object]:
        switch = {"tor-1": {"capability": [{"type": "Bridge", "enabled": True}]}}
        cable = {"chassis": switch, "port": {"id": {"type": "local", "value": port}}}
        return {"lldp": {"interface": [{"eth2": cable}]}}

    found = cabling(tmp_path, json.dumps({"gpu1": host("Ethernet0"), "gpu2": host("Ethernet4")}))
    assert kinds(found) == {"gpu1": "host", "gpu2": "host", "tor-1": "switch"}
    assert pairs(found) == {("gpu1", "tor-1"): 1, ("gpu2", "tor-1"): 1}


def test_what_scontrol_prints_of_a_tree_hangs_nodes_on_leaves(tmp_path: Path) -> None:
    """It lists under the spine every node below it."""
    found = cabling(
        tmp_path,
        "SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=n[1-2]\n"
        "SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=n[3-4]\n"
        "SwitchName=spine Level=1 LinkSpeed=1 Nodes=n[1-4] Switches=leaf[1-2]\n",
    )
    assert pairs(found) == {
        ("leaf1", "n1"): 1, ("leaf1", "n2"): 1, ("leaf2", "n3"): 1, ("leaf2", "n4"): 1,
        ("leaf1", "spine"): 1, ("leaf2", "spine"): 1,
    }  # fmt: skip


HYPERNODE = """\
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {{name: {name}}}
spec:
  tier: {tier}
  members:
{members}
"""


def member(kind: str, name: str) -> str:
    return f"  - {{type: {kind}, selector: {{exactMatch: {{name: {name}}}}}}}"


def test_hypernodes_that_name_their_members_are_a_tree(tmp_path: Path) -> None:
    nodes = "\n".join(member("Node", name) for name in ("a1", "a2"))
    below = "\n".join(member("HyperNode", name) for name in ("s0", "s1"))
    documents = [
        HYPERNODE.format(name="s0", tier=1, members=nodes),
        HYPERNODE.format(name="s1", tier=1, members=member("Node", "b1")),
        HYPERNODE.format(name="top", tier=2, members=below),
    ]
    found = cabling(tmp_path, "---\n".join(documents))
    assert pairs(found) == {
        ("a1", "s0"): 1, ("a2", "s0"): 1, ("b1", "s1"): 1, ("s0", "top"): 1, ("s1", "top"): 1,
    }  # fmt: skip


def node(name: str, **labels: str) -> dict[str, object]:
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
                                              **labels}},
        "status": {"capacity": {"nvidia.com/gpu": "8"}, "allocatable": {"nvidia.com/gpu": "8"}},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("leaf", "spine"),
    [
        ("fabric.topograph.run/tier-0", "fabric.topograph.run/tier-1"),
        ("network.topology.nvidia.com/leaf", "network.topology.nvidia.com/spine"),
    ],
)
def test_labels_of_nodes_are_a_tree(leaf: str, spine: str, tmp_path: Path) -> None:
    items = [node(f"g{n}", **{leaf: f"l{n % 2}", spine: "s"}) for n in range(4)]
    found = cabling(tmp_path, json.dumps({"kind": "List", "apiVersion": "v1", "items": items}))
    assert pairs(found) == {
        ("g0", "l0"): 1, ("g2", "l0"): 1, ("g1", "l1"): 1, ("g3", "l1"): 1,
        ("l0", "s"): 1, ("l1", "s"): 1,
    }  # fmt: skip


def test_nvlink_domains_alone_are_blocks(tmp_path: Path) -> None:
    key = "nvidia.com/gpu.clique"
    items = [node(f"g{n}", **{key: f"c.{n // 2}"}) for n in range(4)]
    file = tmp_path / "nodes.json"
    file.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}), "utf-8")
    found = read(str(file))
    assert found.cabling is not None
    joined = pairs(found.cabling)
    assert joined["c.0", "g0"] == joined["c.1", "g3"] == 1
    assert joined["between blocks", "c.0"] == joined["between blocks", "c.1"] == 1


def test_cards_of_iblinkinfo_lines_without_kinds(tmp_path: Path) -> None:
    """A device of many ports is a switch; what a card is cabled to is one as well."""
    line = '0x{guid:016x} "{name}" {lid} {port}[  ] ==( 4X 106.25 Gbps Active/ LinkUp)==> {rest}\n'
    far = '0x{guid:016x} {lid} {port}[  ] "{name}" ( )'
    tor = {"guid": 0xA1, "lid": 2, "name": "tor-1"}
    cards = [{"guid": 0xC0 + n, "lid": 10 + n, "name": f"gpu{n} mlx5_0"} for n in range(3)]
    text = ""
    for n, card in enumerate(cards):
        text += line.format(**card, port=1, rest=far.format(**tor, port=n + 1))
        text += line.format(**tor, port=n + 1, rest=far.format(**card, port=1))
    found = cabling(tmp_path, text)
    assert kinds(found) == {"tor-1": "switch", "gpu0": "host", "gpu1": "host", "gpu2": "host"}
    assert pairs(found) == {(f"gpu{n}", "tor-1"): 1 for n in range(3)}
    assert {one.sides for one in found.cables} == {2}
    assert {one.rate for one in found.cables} == {50e9}
