"""``nvidia-smi topo``: matrices as printed, cut, coloured; systems made of them."""

from __future__ import annotations

import pytest

from artery.catalog.systems import described
from artery.errors import InputError
from artery.formats.gpus.nvidia_smi_topo import FORMAT
from artery.formats.text import Text, clean
from artery.node.cube_mesh import LINKS
from tests.formats.readings import fields, reading, warned


def test_lost_links_stand_out() -> None:
    """GPU5 has NV16 to its 7 peers; the other 21 of 28 pairs have NV18."""
    found = reading("nvidia-smi-topo/lost-links.txt")
    assert found.kind == "system"
    assert found.fields["links"] == {"NV18": 21, "NV16": 7}
    assert found.fields["nvlinks_per_pair"] == [16, 18]
    assert warned(found, "NV16 beside NV18")
    assert found.fields["nics"][1] == {"name": "NIC1", "device": "mlx5_bond_0"}
    assert found.fields["gpus_with_own_nic"] == ["GPU0", "GPU4"]
    assert found.fields["nearest_nics"]["GPU1"] == ["NIC0", "NIC1"]
    assert found.fields["numa"]["GPU7"] == 1
    assert found.fields["cpu_affinity"]["GPU0"] == "0-31"
    assert not found.ignored


def test_the_chip_is_asked_for_where_it_is_not_said() -> None:
    found = reading("nvidia-smi-topo/lost-links.txt")
    assert found.system is None
    assert found.fields["missing_facts"][0].startswith("chip")
    assert found.table is not None
    with pytest.raises(InputError, match="which chips these are"):
        found.table(None)


def test_a_flat_tree_of_a_virtual_machine() -> None:
    found = reading("nvidia-smi-topo/flat-vm.txt")
    assert found.fields["links"] == {"PIX": 6}
    assert warned(found, "flattened PCIe tree")


def test_all_pairs_across_sockets_and_colour_codes() -> None:
    found = reading("nvidia-smi-topo/all-sys.txt")
    assert found.fields["gpus"] == 8
    assert warned(found, "NVLinks are down")


def test_lost_escapes_are_taken_off() -> None:
    pasted = clean("[4m\tGPU0\tGPU1\tCPU Affinity[0m\nGPU0\t X \tNV2\t0-3\nGPU1\tNV2\t X \t0-3\n")
    assert FORMAT.read(Text("-", pasted)).fields["links"] == {"NV2": 1}


def test_rows_that_were_cut_are_filled_by_symmetry() -> None:
    """GPU2's row ends after two cells, GPU3's is missing: only their own pair is unknown."""
    found = reading("nvidia-smi-topo/cut.txt")
    assert found.fields["links"] == {"NV12": 5, "unknown": 1}
    assert found.fields["cut_rows"] == ["GPU2"]
    assert warned(found, "filled by symmetry")


def test_named_gpus_make_a_system() -> None:
    """Four A100 joined by NV4: 4 x 25 GB/s to each of 3 peers."""
    system = reading("nvidia-smi-topo/named.txt").system
    assert system is not None
    assert (system.chip.name, system.chips) == ("a100-80g", 4)
    assert system.tiers[0].pair == pytest.approx(100e9)
    assert system.tiers[0].bandwidth == pytest.approx(300e9)


def test_switched_gpus_make_a_switch() -> None:
    """NV18 to every peer is more than one chip has for seven: 18 x 25 GB/s into a switch."""
    text = (
        "\t" + "\t".join(f"GPU{i}" for i in range(8)) + "\n"
        + "".join(f"GPU{a}\t" + "\t".join("X" if a == b else "NV18" for b in range(8)) + "\n"
                  for a in range(8))
    )  # fmt: skip
    found = FORMAT.read(Text("topo.txt", text))
    assert found.table is not None
    system = described(found.table("h100-sxm"), "topo.txt")
    assert (system.tiers[0].kind, system.tiers[0].reduction) == ("switch", "nvls")
    assert system.tiers[0].bandwidth == pytest.approx(450e9)


def test_uneven_links_are_drawn() -> None:
    """A square of four V100 with NV2 on its sides and nothing across it."""
    cells = {(0, 1): "NV2", (1, 2): "NV2", (2, 3): "NV2", (0, 3): "NV2"}
    rows = [
        "\t".join(
            [f"GPU{a}"]
            + ["X" if a == b else cells.get((min(a, b), max(a, b)), "PHB") for b in range(4)]
        )
        for a in range(4)
    ]
    found = FORMAT.read(Text("t", "\n".join(["\tGPU0\tGPU1\tGPU2\tGPU3", *rows])))
    assert found.table is not None
    table = found.table("v100")
    assert table["node"]["kind"] == "graph"
    assert sum(cable["link"] == "nvlink2" for cable in table["node"]["cables"]) == 4
    assert described(table, "t").chips == 4


def test_a_hybrid_cube_mesh_is_known() -> None:
    """The wiring of DGX-1V, its chips numbered backwards: six rings of 25 GB/s over all eight."""
    wired = {(7 - b, 7 - a): count for (a, b), count in LINKS.items()}
    rows = [
        "\t".join(
            [f"GPU{a}"]
            + [
                "X" if a == b else f"NV{wired[pair]}" if pair in wired else "SYS"
                for b in range(8)
                for pair in [(min(a, b), max(a, b))]
            ]
        )
        for a in range(8)
    ]
    header = "\t" + "\t".join(f"GPU{a}" for a in range(8))
    found = FORMAT.read(Text("t", "\n".join([header, *rows])))
    assert found.table is not None
    system = described(found.table("v100"), "t")
    assert system.tiers[0].kind == "cube-mesh"
    assert system.tiers[0].ring[8] == pytest.approx(150e9)


def test_a_matrix_of_pcie_alone_says_nothing_of_nvlink() -> None:
    rows = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPHB\t0-3\nGPU1\tPHB\t X \t0-3\n"
    found = FORMAT.read(Text("t", f"$ nvidia-smi topo -mp\n{rows}"))
    assert found.fields["links"] == {"PHB": 1}
    assert warned(found, "PCIe only")
    assert found.table is not None
    with pytest.raises(InputError, match="leaves NVLinks out"):
        found.table("h100-sxm")


def test_one_gpu_says_nothing_of_links() -> None:
    found = FORMAT.read(Text("t", "\tGPU0\tCPU Affinity\nGPU0\t X \t0-19\n"))
    assert found.fields["links"] == {}
    assert warned(found, "one GPU")


def test_statuses_of_peer_to_peer() -> None:
    found = fields("nvidia-smi-p2p/three.txt")
    assert found["pairs"] == {"OK": 1, "NS": 1, "CNS": 1}
    assert found["all_ok"] is False


def test_a_second_matrix_says_what_the_driver_allows() -> None:
    first = "\tGPU0\tGPU1\nGPU0\t X \tPHB\nGPU1\tPHB\t X \n\n"
    second = " \tGPU0\tGPU1\n GPU0\tX\tGNS\n GPU1\tGNS\tX\n"
    found = FORMAT.read(Text("t", first + second))
    assert found.fields["p2p"] == {"pairs": {"GNS": 1}, "all_ok": False}
    assert found.table is not None
    assert found.table("rtx5090")["node"]["host"]["peer_to_peer"] is False
