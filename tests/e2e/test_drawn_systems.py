"""Networks drawn by hand in a user's file: a DGX-1, and uneven halves of four and six chips."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from artery.catalog import system
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
    assert found.tiers[0].ring[4] == pytest.approx(450e9)


@pytest.mark.parametrize("file", [DGX_1, UNEVEN])
def test_a_plan_on_a_drawn_system(file: Path, capsys: Output) -> None:
    assert main(["plan", "resnet50", "--on", str(file), "--json"]) == 0
    best = json.loads(capsys.readouterr().out)["plans"][0]
    assert best["memory"]["fits"] == "yes"
    assert best["step_time_s"] > 0
