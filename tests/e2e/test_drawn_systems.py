"""Networks drawn by hand in a user's file: a DGX-1, and uneven halves of four and six chips."""

from __future__ import annotations

import json
from math import prod
from pathlib import Path

import pytest

from artery.catalog import link, system
from artery.cli import main
from tests.flows import bisection, max_flow

FILES = Path(__file__).parent.parent / "fixtures" / "systems"
DGX_1, UNEVEN = FILES / "dgx-1v.toml", FILES / "four-and-six.toml"


Output = pytest.CaptureFixture[str]


def busbw(file: Path, capsys: Output) -> float:
    assert main(["expect", "all_reduce", "--on", str(file), "--size", "16G", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    return float(row["busbw_bytes_per_s"])


@pytest.mark.parametrize("file", [DGX_1, UNEVEN])
def test_the_files_are_short(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 40


def test_all_reduce_on_a_drawn_dgx_1(capsys: Output) -> None:
    # Measured on DGX-1V with nccl-tests: 122 to 130 GB/s (NVIDIA GTC NCCL talks).
    assert 120e9 <= busbw(DGX_1, capsys) <= 132e9


SAID = "the file does not say how many chips; one node is taken, {file}:{more} takes {more}"


@pytest.mark.parametrize(("name", "chips"), [("two-leaves", 1), ("four-leaves", 8)])
@pytest.mark.parametrize("command", ["expect", "simulate", "plan"])
def test_a_file_of_a_network_says_how_much_of_it_is_taken(
    command: str, name: str, chips: int, capsys: Output
) -> None:
    # Its tiers are a shape that any number of nodes fills; a graph is drawn whole.
    file = FILES / f"{name}.toml"
    what, said = ("gpt2" if command == "plan" else "all_reduce"), f"{name}: " + SAID
    for on, warned in ((str(file), True), (f"{file}:{2 * chips}", False)):
        assert main([command, what, "--on", on, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (said.format(file=file, more=8 * chips) in found["warnings"]) == warned


@pytest.mark.parametrize("command", ["expect", "simulate", "plan"])
def test_all_chips_of_a_drawn_graph_are_taken(command: str, capsys: Output) -> None:
    what = "gpt2" if command == "plan" else "all_reduce"
    assert main([command, what, "--on", str(UNEVEN), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    if command == "plan":
        degrees = found["plans"][0]["parallelism"]
        assert prod(degrees[name] for name in ("tp", "pp", "cp", "dp")) == 10
    else:
        assert found["ranks"] == 10
    assert not [one for one in found["warnings"] if "how many chips" in one]


@pytest.mark.parametrize("command", ["expect", "simulate"])
def test_one_rank_is_offered_eight(command: str, capsys: Output) -> None:
    for on in ("ethernet-10g", str(FILES / "two-leaves.toml")):
        assert main([command, "all_reduce", "--on", on, "--size", "1M"]) == 0
        assert f"artery {command} all_reduce --on {on}:8" in capsys.readouterr().out


def test_the_drawn_dgx_1_is_the_one_of_the_catalog() -> None:
    drawn, known = system(str(DGX_1)), system("dgx-1v")
    assert drawn.tiers[0].ring[2:] == pytest.approx(known.tiers[0].ring[2:])
    assert bisection(drawn) == pytest.approx(bisection(known))


def test_all_reduce_over_uneven_halves_is_bounded_by_the_cut(capsys: Output) -> None:
    # Two cables of 50 GB/s join the halves; a ring crosses them once each way.
    found = system(str(UNEVEN))
    cut = max_flow(found, range(4), range(4, 10))
    assert cut == pytest.approx(100e9)
    assert 0.9 * cut <= busbw(UNEVEN, capsys) <= cut
    # Within one half nothing crosses.
    (tier,) = found.tiers
    nvlink = link("nvlink4")
    assert tier.ring[4] * tier.link.efficiency == pytest.approx(450e9 * nvlink.efficiency)


@pytest.mark.parametrize("file", [DGX_1, UNEVEN])
def test_a_plan_on_a_drawn_system(file: Path, capsys: Output) -> None:
    assert main(["plan", "resnet50", "--on", str(file), "--json"]) == 0
    best = json.loads(capsys.readouterr().out)["plans"][0]
    assert best["memory"]["fits"] == "yes"
    assert best["step_time_s"] > 0


def seconds(collective: str, on: str, size: str, capsys: Output) -> float:
    assert main(["expect", collective, "--on", on, "--size", size, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    return float(row["time_s"])


def drawn(folder: Path, chips: int, cables: list[tuple[str, str, int]]) -> str:
    """Write a network of NDR cables of so many GB/s, and return its file."""
    per = "GB/s per direction"
    lines = [
        f'  {{ends = ["{one}", "{other}"], link = "ib-ndr", bandwidth = "{rate} {per}"}},'
        for one, other, rate in cables
    ]
    head = ['name = "drawn"', 'title = "Drawn"', 'chip = "h100-sxm"', 'library = "nccl"']
    node = ["[node]", 'kind = "graph"', f"chips = {chips}", "cables = [", *lines, "]", ""]
    file = folder / "drawn.toml"
    file.write_text("\n".join([*head, *node]), encoding="utf-8")
    return str(file)


def test_all_to_all_over_uneven_halves_is_bounded_by_the_cut(capsys: Output) -> None:
    # 4 · 6 pairs send a tenth of 1 GiB each way over 100 GB/s; alone the links could do 2 ms.
    least = 24 * 2**30 / 10 / 100e9
    assert least <= seconds("alltoall", str(UNEVEN), "1G", capsys) <= 1.3 * least


@pytest.mark.parametrize(
    ("collective", "crossing"),
    [("all_reduce", 7 / 4), ("sendrecv", 1.0), ("broadcast", 1.0), ("alltoall", 16 / 8)],
)
def test_rings_cross_a_thin_cable_once_and_all_to_all_by_every_pair(
    collective: str, crossing: float, tmp_path: Path, capsys: Output
) -> None:
    # Eight chips, four to a switch; ``crossing`` of the size passes the 10 GB/s (96 %) each way.
    cables = [(f"chip{chip}", f"switch{chip // 4}", 100) for chip in range(8)]
    file = drawn(tmp_path, 8, [*cables, ("switch0", "switch1", 10)])
    least = crossing * 2**30 / 9.6e9
    assert seconds(collective, file, "1G", capsys) == pytest.approx(least, rel=0.01)


@pytest.mark.parametrize(("collective", "crossing"), [("all_reduce", 6 / 4), ("alltoall", 4 / 4)])
def test_a_line_of_chips(collective: str, crossing: float, tmp_path: Path, capsys: Output) -> None:
    # The ring goes along the line and back; all-to-all sends 2 · 2 parts over the middle.
    file = drawn(tmp_path, 4, [(f"chip{chip}", f"chip{chip + 1}", 10) for chip in range(3)])
    least = crossing * 2**30 / 9.6e9
    assert seconds(collective, file, "1G", capsys) == pytest.approx(least, rel=0.01)


@pytest.mark.parametrize("on", [str(DGX_1), "dgx-1v:8"])
def test_all_to_all_on_a_dgx_1_shares_the_socket_link(on: str) -> None:
    # 4 · 4 pairs from half to half, of which four have NVLink; seven parts sent by each chip.
    socket = 9.6e9 * link("pcie3x16").efficiency
    tier = system(on).tiers[0]
    assert tier.exchange[8] * tier.link.efficiency == pytest.approx(7 * socket / 12)


@pytest.mark.parametrize(("collective", "size"), [("sendrecv", "128M"), ("alltoall", "256M")])
def test_two_cards_through_host_memory_have_one_rate(
    collective: str, size: str, capsys: Output
) -> None:
    # Both write and read 128 MiB in a memory of 51.2 GB/s at once: a quarter for each crossing, of
    # which the link reaches 76 % and a library 63 % of that (measured without peer-to-peer).
    told = seconds(collective, "rtx3090x2", size, capsys)
    assert 2**27 / told == pytest.approx(51.2e9 / 4 * 0.76 * 0.63, rel=0.02)
    assert main(["simulate", collective, "--on", "rtx3090x2", "--size", size, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["time_s"] == pytest.approx(told, rel=0.01)
