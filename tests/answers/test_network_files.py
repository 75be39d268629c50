"""Systems from the cables of a network: what a file tells, what has to be said, faults."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from artery.answers.expect import expect
from artery.answers.plan import plan
from artery.answers.simulate import simulate
from artery.answers.systems import is_foreign, system_of
from artery.catalog import names, system
from artery.catalog.loader import DATA
from artery.cli import main
from artery.cluster.cables import cabling_of
from artery.errors import InputError
from artery.formats.cabling.written import as_plan
from tests.cluster.fabrics import GBPS, Wire, as_ibnetdiscover, changed, leaf_spine
from tests.cluster.fabrics import as_plan as made_plan

FIXTURES = Path("tests/fixtures")
ON = ("node=dgx-h100",)


def written(folder: Path, text: str, name: str = "cables.csv") -> str:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("spec", ["dgx-h100:320", "hgx-h100-roce:128", "pcie-a100:192"])
def test_a_system_that_is_written_as_cables_and_read_back_is_the_same(
    spec: str, tmp_path: Path
) -> None:
    name = spec.partition(":")[0]
    file = written(tmp_path, as_plan(cabling_of(system(spec))))
    meant, found = system(spec), system_of(file, (f"node={name}",))
    assert (found.chips, found.nodes) == (meant.chips, meant.nodes)
    for one, other in zip(meant.tiers, found.tiers, strict=True):
        assert (one.chips, one.pair, one.latency) == (other.chips, other.pair, other.latency)
        assert one.bandwidth == pytest.approx(other.bandwidth), one.name
    for collective in ("all_reduce", "alltoall"):
        size = {"size": "64M", "routing": "spray", "links": 0}
        as_meant = simulate(collective, spec, **size)
        as_cabled = simulate(collective, file, overrides=(f"node={name}",), **size)
        assert as_cabled.network == pytest.approx(as_meant.network, rel=0.03), collective


def one_card(*, leaves: int, spines: int, hosts: int, per_pair: int = 1) -> list[Wire]:
    return leaf_spine(leaves=leaves, spines=spines, per_pair=per_pair, hosts=hosts)


def seconds(folder: Path, wires: list[Wire], **options: object) -> float:
    """Seconds of an all-to-all of nodes with one chip each, on cables of a fortieth of the rate."""
    slower = [replace(one, rate=one.rate / 40) for one in wires]
    file = written(folder, made_plan(slower))
    options = {"size": "256M", "routing": "spray", "links": 0, **options}
    return simulate("alltoall", file, overrides=("node=ethernet-10g",), **options).network


def test_lost_uplinks_cost_what_is_left_of_them(tmp_path: Path) -> None:
    """4 hosts and 4 up-links a leaf; with 1 left, traffic between leaves takes 4 times as long.

    Before, a host's card bounds: 7 of 8 parts leave each host. After, 4 hosts send 4 of 8 parts
    over one link: 16 parts on it, 7 on a card.
    """
    whole = one_card(leaves=2, spines=4, hosts=4)
    gone = {("leaf001", f"spine00{n}") for n in (2, 3, 4)}
    lost = [wire for wire in whole if (wire.one, wire.other) not in gone]
    assert len(whole) - len(lost) == 3
    assert seconds(tmp_path, lost) / seconds(tmp_path, whole) == pytest.approx(16 / 7, rel=0.03)


def test_a_slow_cable_is_played_at_its_rate(tmp_path: Path) -> None:
    whole = one_card(leaves=1, spines=1, hosts=4)
    slow = changed(whole, lambda wire: wire.one == "node002", rate=100 * GBPS)
    assert seconds(tmp_path, slow) / seconds(tmp_path, whole) == pytest.approx(4, rel=0.03)
    told = system_of(written(tmp_path, made_plan(slow)), ("node=pcie-a100",)).warnings
    assert any("100 instead of 400 Gb/s" in line for line in told)


def test_a_slow_cable_bounds_the_closed_form_as_well(tmp_path: Path) -> None:
    whole = one_card(leaves=1, spines=1, hosts=4)
    slow = changed(whole, lambda wire: wire.one == "node002", rate=100 * GBPS)
    fast = system_of(written(tmp_path, made_plan(whole)), ("node=pcie-a100",))
    held = system_of(written(tmp_path, made_plan(slow), "slow.csv"), ("node=pcie-a100",))
    assert held.tiers[-1].bandwidth == fast.tiers[-1].bandwidth / 4 == 100 * GBPS / 8


def test_fewer_uplinks_taper_the_tier_above(tmp_path: Path) -> None:
    found = system_of(
        written(tmp_path, made_plan(one_card(leaves=3, spines=2, hosts=8))), ("node=pcie-a100",)
    )
    leaf, spine = found.tiers[-2:]
    assert (leaf.name, leaf.chips, spine.name, spine.chips) == ("leaf", 64, "spine", 192)
    assert leaf.bandwidth == 400 * GBPS / 8
    assert spine.bandwidth == pytest.approx(leaf.bandwidth * 2 / 8)


def test_what_a_host_is_must_be_said(tmp_path: Path) -> None:
    file = str(FIXTURES / "ibnetdiscover/two-tier.txt")
    with pytest.raises(InputError, match="--node dgx-h100"):
        system_of(file)
    with pytest.raises(InputError, match="leave out --node"):
        system_of("dgx-h100:16", ON)
    with pytest.raises(InputError, match="no system of that name"):
        system_of(file, ("node=dgx-h1000",))
    with pytest.raises(InputError, match="a torus of chips"):
        system_of(file, ("node=tpu-v4-pod",))
    with pytest.raises(InputError, match="4 hosts with 8 chips each hold 32"):
        system_of(f"{file}:33", ON)
    with pytest.raises(InputError, match=r"fabric\.taper"):
        system_of(file, (*ON, "fabric.taper=none"))
    alone = written(tmp_path, 'Switch 8 "s1"\n[1] "s2"[1]\nSwitch 8 "s2"\n[1] "s1"[1]\n', "net")
    with pytest.raises(InputError, match="no host on any switch"):
        system_of(alone, ON)


def test_service_hosts_and_other_islands_are_no_nodes(tmp_path: Path) -> None:
    wires = leaf_spine(leaves=8, spines=1, per_pair=4, hosts=4, cards=8)
    storage = [Wire(f"node9{n:02d}", 1, "leaf001", 50 + n, "mlx5_0") for n in range(20)]
    island = [Wire(f"node8{n:02d}", 1, "leaf900", n, "mlx5_0") for n in range(3)]
    found = system_of(written(tmp_path, made_plan([*wires, *storage, *island])), ON)
    assert (found.chips, found.nodes) == (32, 4)
    told = "\n".join(found.warnings)
    assert "20 hosts have fewer than half of 8 network cards" in told
    assert "no cable joins 3 hosts (node800, node801, node802)" in told


def test_a_missing_card_leaves_its_node_with_the_others(tmp_path: Path) -> None:
    wires = leaf_spine(leaves=8, spines=1, per_pair=4, hosts=4, cards=8)
    lost = [one for one in wires if (one.one, one.card) != ("node003", "mlx5_5")]
    file = written(tmp_path, made_plan(lost))
    found = system_of(file, ON)
    gone = "1 network cards of 1 nodes are not in the file (node003)"
    assert any(gone in line for line in found.warnings)
    assert found.tiers[-1].bandwidth == pytest.approx(7 / 8 * 400 * GBPS)
    whole = simulate("all_reduce", written(tmp_path, made_plan(wires), "w.csv"), overrides=ON)
    assert simulate("all_reduce", file, overrides=ON).network > 1.2 * whole.network


def test_hosts_under_the_same_switches_are_neighbours(tmp_path: Path) -> None:
    """Not those next by name: node001 and node003 hang on one leaf, node002 and node004 on one."""
    wires = [Wire(f"node{n:03d}", 1, f"leaf00{2 - n % 2}", n, "mlx5_0") for n in (1, 2, 3, 4)]
    wires += [Wire(f"leaf00{n}", 10, "spine001", n) for n in (1, 2)]
    found = system_of(f"{written(tmp_path, made_plan(wires))}:16", ("node=pcie-a100",))
    taken = "the first 2 of 4 hosts are taken: node001 to node003"
    assert any(taken in line for line in found.warnings)
    assert [tier.name for tier in found.tiers][-1] == "leaf"


def test_switches_keep_their_names_and_can_be_failed_by_them(tmp_path: Path) -> None:
    file = written(tmp_path, as_ibnetdiscover(one_card(leaves=2, spines=2, hosts=2)), "fabric")
    answer = simulate("alltoall", file, overrides=("node=pcie-a100",), links=50)
    names_ = {end for link in answer.links for end in link.name.split(" -> ")}
    assert {"leaf001", "leaf002"} <= names_
    failed = simulate(
        "alltoall", file, overrides=("node=pcie-a100",), links=50,
        fail_links="leaf001 -> spine001",
    )  # fmt: skip
    assert not {"leaf001 -> spine001", "spine001 -> leaf001"} & {one.name for one in failed.links}


@pytest.mark.parametrize(
    ("file", "chips"),
    [
        ("iblinkinfo/blocks.txt", 16),  # two cards on one switch
        ("ibnetdiscover/made-up.net", None),
        ("cable-plan/plan.csv", None),
        ("lldp/lldpctl.json", 8),  # one host
        ("lldp/sonic.txt", 16),  # maple01 and maple02
        ("slurm-topology/blocks.conf", 288),  # 2 blocks of 18 nodes
        ("slurm-topology/topology.yaml", 64),  # 2 blocks of 4
        ("slurm-topology/tree.conf", 72),  # 5 and 4 nodes
        ("slurm-topology/no-root.conf", 24),  # the larger of two halls: 3 nodes
        ("k8s-topology/topograph.yaml", 48),  # 4 and 2 nodes
    ],
)
def test_every_format_of_networks_makes_a_system(file: str, chips: int | None) -> None:
    path = str(FIXTURES / file)
    assert is_foreign(path)
    found = simulate("all_reduce", path, overrides=ON, size="1M", links=0)
    assert found.network > 0
    assert chips in (None, found.system.chips)
    assert expect("all_reduce", path, overrides=ON, sizes="1M:1M:x2").rows[0].speed.seconds > 0


def test_lines_of_a_scheduler_stand_for_all_cards_and_a_taper_that_is_said() -> None:
    path = str(FIXTURES / "slurm-topology/tree.conf")
    flat, steep = system_of(path, ON), system_of(path, (*ON, "fabric.taper=4"))
    assert any("8 cables a node and 1:1" in line for line in flat.warnings)
    assert any("8 cables a node and 4:1" in line for line in steep.warnings)
    assert steep.tiers[-1].bandwidth == pytest.approx(flat.tiers[-1].bandwidth / 4)


def test_a_plan_on_a_network_file() -> None:
    path = str(FIXTURES / "slurm-topology/tree.conf")
    answer = plan("llama3-8b", f"{path}:64", overrides=ON, tp=8, global_batch=64)
    assert answer.plans[0].fits == "yes"


def test_files_of_ours_are_not_taken_for_those_of_other_tools() -> None:
    for name in names("systems"):
        assert not is_foreign(str(DATA / "systems" / f"{name}.toml"))
    for file in Path("tests/fixtures/systems").iterdir():
        assert not is_foreign(str(file)), file


@pytest.mark.parametrize("given", [["--node", "dgx-h100"], ["--set", "node=dgx-h100"]])
def test_on_the_command_line(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    file = str(FIXTURES / "ibnetdiscover/two-tier.txt")
    for command in ("simulate", "expect"):
        assert main([command, "all_reduce", "--on", file, *given, "--size", "1M"]) == 0
        out = " ".join(capsys.readouterr().out.split())
        assert "1 of 8 links between tiers are missing" in out
        assert f"--on {file} --node dgx-h100" in out
    assert main(["simulate", "all_reduce", "--on", file]) == 3
    assert "--node dgx-h100" in capsys.readouterr().err
    assert main(["fabric", "check", file]) == 0


def test_two_switches_with_a_host_each_and_many_cables_between(tmp_path: Path) -> None:
    """Few hosts for so many cables, as on a spine, but there is nothing below them."""
    wires = [Wire(f"node00{n}", 1, f"leaf00{n}", 1, "mlx5_0") for n in (1, 2)]
    wires += [Wire("leaf001", 10 + n, "leaf002", 10 + n) for n in range(20)]
    found = system_of(written(tmp_path, made_plan(wires)), ("node=pcie-a100",))
    assert found.nodes == 2
    assert (
        simulate("all_reduce", f"{tmp_path}/cables.csv", overrides=("node=pcie-a100",)).network > 0
    )
