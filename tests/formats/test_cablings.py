"""Cablings from foreign files: what is read, what is refused, and written files read back."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.catalog import system
from artery.cluster.cables import cabling_of
from artery.cluster.cabling import Network
from artery.core.cabling import Cabling
from artery.errors import InputError
from artery.formats.cabling import cable_plan
from artery.formats.cabling.cablings import read_cabling
from artery.formats.cabling.written import as_dot, as_plan, as_slurm
from artery.formats.infiniband import ibnetdiscover
from artery.formats.recognise import read
from artery.formats.slurm import topology as slurm_topology
from artery.formats.slurm.hostlist import compress, expand
from artery.formats.text import Text
from tests.cluster.fabrics import GBPS, as_ibnetdiscover, broken, leaf_spine
from tests.cluster.fabrics import as_plan as made_plan

IB = """\
#
# Topology file: generated on Mon Nov 30 10:00:00 2026
#
vendid=0x2c9
devid=0xd2f0
sysimgguid=0xa1
switchguid=0xa1(a1)
Switch\t65 "S-00000000000000a1"\t\t# "leaf1" enhanced port 0 lid 4 lmc 0
[1]\t"H-00000000000000c1"[1](c1) \t\t# "node001 mlx5_0" lid 9 4xNDR s=4 w=2 v=4 e=4
[2]\t"H-c2"[1](c2) \t\t# "MT4129 ConnectX7   Mellanox Technologies" lid 10 4xHDR
[3]\t"S-00000000000000b1"[7]\t\t# "spine1" lid 2 4xNDR
[65]\t"H-00000000000000d1"[1](d1) \t\t# "Mellanox Technologies Aggregation Node" lid 5 4xNDR

vendid=0x2c9
caguid=0xc1
Ca\t1 "H-00000000000000c1"\t\t# "node001 mlx5_0"
[1](c1) \t"S-a1"[1]\t\t# lid 9 lmc 0 "leaf1" lid 4 4xNDR
a line of something else
"""


def text(content: str, path: str = "made-up") -> Text:
    return Text(path, content)


def test_an_ibnetdiscover_by_hand() -> None:
    found = ibnetdiscover.read_cabling(text(IB))
    kinds = {device.name: (device.kind, device.named) for device in found.devices}
    assert kinds == {
        "leaf1": ("switch", True),
        "node001": ("host", True),
        "MT4129 ConnectX7   Mellanox Technologies": ("host", False),
        "spine1": ("switch", True),
    }
    ends = [(cable.one.port, cable.other.port, cable.rate) for cable in found.cables]
    assert ends == [("1", "1", 400 * GBPS), ("2", "1", 200 * GBPS), ("3", "7", 400 * GBPS)]
    assert found.cables[0].other.card == "mlx5_0"
    assert [cable.sides for cable in found.cables] == [2, 2, 2], "only leaf1 and node001 report"
    assert found.warnings == ("1 lines were not understood",)


def test_a_cable_that_one_end_lacks_is_one_sided() -> None:
    gone = IB.replace('[1](c1) \t"S-a1"[1]\t\t# lid 9 lmc 0 "leaf1" lid 4 4xNDR\n', "")
    assert [one.sides for one in ibnetdiscover.read_cabling(text(gone)).cables] == [1, 2, 2]


def shape(cabling: Cabling) -> set[frozenset[str]]:
    """The cables as pairs of ends, by name."""
    network = Network(cabling)
    return {
        frozenset(f"{network.name(e.device)} {e.card} {e.port}" for e in (one.one, one.other))
        for one in cabling.cables
    }


def test_the_same_network_reads_the_same_from_both_formats() -> None:
    wires = leaf_spine(leaves=8, spines=2, hosts=4, cards=4)
    plan = cable_plan.read_cabling(text(made_plan(wires)))
    discovered = ibnetdiscover.read_cabling(text(as_ibnetdiscover(wires)))
    assert shape(plan) == shape(discovered)
    assert len(plan.cables) == len(wires)


def test_532_of_558_links_from_either_file(tmp_path: Path) -> None:
    for name, content in (("net.txt", as_ibnetdiscover(broken())), ("c.csv", made_plan(broken()))):
        file = tmp_path / name
        file.write_text(content, encoding="utf-8")
        network = Network(read_cabling(str(file)))
        assert [len(network.switches(tier)) for tier in (1, 2)] == [31, 9]
        assert sum(network.above(leaf).total() for leaf in network.switches(1)) == 532


def test_a_plan_without_kinds_says_that_it_guesses() -> None:
    found = cable_plan.read_cabling(text("a_device,a_port,b_device,b_port\nn1,1,leaf1,2\n"))
    assert [(one.name, one.kind) for one in found.devices] == [("n1", "host"), ("leaf1", "switch")]
    assert "names" in found.warnings[0]


def test_a_plan_with_everything() -> None:
    found = cable_plan.read_cabling(
        text(
            "# our hall\nA_Kind,A_Device,A_Port,B_Kind,B_Device,B_Port,Rate,Length,Part\n"
            'host,n1,1,switch,x9,2,"400 Gb/s",3 m,dac400\n'
        )
    )
    (cable,) = found.cables
    assert (cable.rate, cable.length, cable.part) == (400 * GBPS, 3.0, "dac400")
    assert (cable.line, found.warnings) == (3, ())


@pytest.mark.parametrize(
    ("content", "line", "word"),
    [
        ("a_device,a_port,b_device\nn1,1,leaf1\n", 1, "b_port"),
        ("a_device,a_port,b_device,b_port,rate\nn1,1,leaf1,2,400\n", 2, "400 Gb/s"),
        ("a_device,a_port,b_device,b_port,length\n\nn1,1,leaf1,2,-3 m\n", 3, "negative"),
        ("a_kind,a_device,a_port,b_device,b_port\nrouter,n1,1,leaf1,2\n", 2, "switch or host"),
    ],
)
def test_a_plan_with_a_fault_is_refused_at_its_line(content: str, line: int, word: str) -> None:
    with pytest.raises(InputError, match=word) as caught:
        cable_plan.read_cabling(text(content))
    assert caught.value.problems[0].line == line


def test_a_topology_conf() -> None:
    found = slurm_topology.read_cabling(
        text(
            "# two leaves\nSwitchName=top Switches=leaf[1-2] LinkSpeed=100\n"
            "switchname=leaf1 NODES=n[01-03]\nSwitchName=leaf2 Nodes=n[04,06]\n"
        )
    )
    network = Network(found)
    assert network.switches(2) == ["top"]
    assert [len(network.links[leaf]) for leaf in network.switches(1)] == [4, 3]


def test_a_topology_yaml() -> None:
    found = slurm_topology.read_cabling(
        text(
            "- topology: ours\n  cluster_default: true\n  tree:\n    switches:\n"
            "      - switch: top\n        children: leaf[1-2]\n"
            "      - switch: leaf1\n        nodes: n[01-03]\n"
            "      - switch: leaf2\n        nodes: n[04-06]\n"
        )
    )
    assert len([one for one in found.devices if one.kind == "host"]) == 6
    assert len(found.cables) == 8


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("SwitchName=top Switches=leaf[1-2]\nSwitchName=leaf1 Nodes=n1\n", "leaf2"),
        ("SwitchName=leaf1 Nodes=n[3-1]\n", "upwards"),
        ("SwitchName=leaf1 Nodes=n[1-\n", "close"),
        ("BlockName=b1 Nodes=n[1-4]\n", "no switch"),
        ("- topology: a\n  tree: [\n", "YAML"),
    ],
)
def test_a_topology_with_a_fault_is_refused(content: str, word: str) -> None:
    with pytest.raises(InputError, match=word):
        slurm_topology.read_cabling(text(content))


@pytest.mark.parametrize("content", ["", "nothing\n", "GPU0 GPU1\n", "Switch\n"])
def test_what_is_no_cabling_is_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="a_device,a_port,b_device,b_port"):
        read_cabling(str(file))


@pytest.mark.parametrize(
    ("listed", "names"),
    [
        ("tux[0-3,12,18-20],login1", 9),
        ("n[008-010]", 3),
        ("rack[1-2]n[1-3]", 6),
        ("a", 1),
        ("", 0),
    ],
)
def test_a_host_list_stands_for_so_many_names(listed: str, names: int) -> None:
    assert len(expand(listed)) == names


def test_zeros_are_kept() -> None:
    assert expand("n[008-010]") == ["n008", "n009", "n010"]
    assert expand("r[1-2]n[01]") == ["r1n01", "r2n01"]


@pytest.mark.parametrize("listed", ["n[1-99999999999]", "n[1-1000]m[1-1000]o[1-1000]", "n[a-b]"])
def test_a_host_list_that_is_too_much_is_refused(listed: str) -> None:
    with pytest.raises(InputError):
        expand(listed)


NAMES = st.lists(
    st.from_regex(r"[a-z]{1,3}(-[a-z])?[0-9]{0,4}", fullmatch=True), min_size=1, unique=True
)


@given(NAMES)
def test_a_compressed_list_expands_to_the_same_names(names: list[str]) -> None:
    assert sorted(expand(compress(names))) == sorted(names)


def test_a_system_as_a_plan_reads_back_the_same() -> None:
    was = cabling_of(system("dgx-h100:512"))
    now = cable_plan.read_cabling(text(as_plan(was)))
    assert shape(now) == shape(was)
    assert [cable.rate for cable in now.cables] == [cable.rate for cable in was.cables]
    assert now.warnings == ()


def test_slurms_tree_of_a_system_has_every_node_once() -> None:
    """dgx-h100:4096: 16 rail groups of 32 nodes, 2 pods under 8 of them, one core."""
    network = Network(cabling_of(system("dgx-h100:4096")))
    parts = [network.joined(tier) for tier in (1, 2, 3)]
    written = as_slurm(parts, network.is_host)
    again = Network(slurm_topology.read_cabling(text(written)))
    assert len(again.switches(1)) == 16
    assert len(again.switches(3)) == 1
    hosts = [one.identity for one in again.cabling.devices if one.kind == "host"]
    assert len(hosts) == 512
    assert all(again.links[host].total() == 1 for host in hosts)


def test_graphviz_has_an_edge_per_pair() -> None:
    written = as_dot(cabling_of(system("dgx-h100:512")))
    assert written.count(" -- ") == 512 + 16 * 8
    assert '"leaf001" -- "spine001" [label="4 x 400 Gb/s"];' in written
    assert written.endswith("}\n")


FILES = [IB, made_plan(broken()[:60]), "SwitchName=top Switches=l[1-2]\nSwitchName=l1 Nodes=n1\n"]


@given(st.sampled_from(FILES), st.integers(0, 2**31))
def test_mutilated_files_are_read_or_refused(content: str, seed: int) -> None:
    chance = random.Random(seed)
    letters = list(content)
    for _ in range(chance.randrange(1, 30)):
        where = chance.randrange(len(letters))
        match chance.randrange(4):
            case 0:
                del letters[where : where + chance.randrange(40)]
            case 1:
                letters[where:where] = letters[max(0, where - 50) : where]
            case 2:
                letters[where] = chr(chance.randrange(1, 0x2FF))
            case _:
                letters.insert(where, str(10 ** chance.randrange(30)))
        if not letters:
            break
    for room in (ibnetdiscover, cable_plan, slurm_topology):
        try:
            found = room.read_cabling(text("".join(letters)))
        except InputError:
            continue
        Network(found).tiers  # noqa: B018 - it must be computable


def test_parts_of_equal_size_stand_in_the_order_of_the_file(tmp_path: Path) -> None:
    names = ["pine", "oak", "ash", "elm", "yew", "fir", "lime", "box", "may", "bay"]
    lines = [
        f"SwitchName={name} Switches={name}-a,{name}-b\n"
        f"SwitchName={name}-a Nodes={name}-h[1-2]\nSwitchName={name}-b Nodes={name}-h[3-4]\n"
        for name in names
    ]
    file = tmp_path / "topology.conf"
    file.write_text("".join(lines))
    assert [one["name"] for one in read(str(file)).fields["spines"]] == names
