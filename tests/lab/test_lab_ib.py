"""A fabric under the real ibsim and OpenSM: its routes against artery's, its files read afresh."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from artery.answers.lab import ib as lab_ib
from artery.catalog import system
from artery.cli import main
from artery.cluster.cables import cabling_of
from artery.errors import InputError
from artery.formats.cabling.cablings import read_cabling
from tests.lab.labs import ROOT, artery

pytestmark = pytest.mark.real


def test_opensms_paths_in_a_fat_tree_are_arterys_and_its_up_links_are_loaded_alike() -> None:
    found = artery("ib", "lab-fat-tree", "--json")
    assert found["engine"] == "ftree"
    assert (found["adapters"], found["switches"], found["paths"]) == (16, 20, 240)
    assert found["legal"] == 240
    loads = {one["tier"]: (one["opensm_paths"], one["artery_paths"]) for one in found["loads"]}
    # 16 hosts send to 14 others by the leaf's two up-links, of them 12 by the tier above: 16 * 14
    # paths over 16 links, 16 * 12 over 16.
    assert loads["leaf"] == ({"low": 14, "high": 14},) * 2
    assert loads["aggregation"] == ({"low": 12, "high": 12},) * 2


def test_a_rail_optimised_cluster_of_512_is_routed_as_by_artery() -> None:
    found = artery("ib", "dgx-h100:512", "--json")
    assert (found["adapters"], found["paths"], found["legal"]) == (512, 32_256, 32_256)
    # 32 adapters of a leaf send to the 32 of the other group, over 8 up-links to each of 8 spines
    # taken together: 1,024 paths over 8 neighbours.
    assert [one["opensm_paths"] for one in found["loads"]] == [{"low": 128, "high": 128}]
    assert [one["artery_paths"] for one in found["loads"]] == [{"low": 128, "high": 128}]


def test_an_engine_that_does_not_balance_is_seen_and_its_paths_are_still_legal() -> None:
    found = artery("ib", "lab-fat-tree", "--engine", "minhop", "--json")
    assert found["legal"] == found["paths"] == 240
    upper = found["loads"][1]
    assert upper["artery_paths"] == {"low": 12, "high": 12}
    assert upper["opensm_paths"]["high"] > 12


def test_what_the_tools_wrote_is_read_right(tmp_path: Path) -> None:
    folder = tmp_path / "fabric"
    artery("ib", "lab-fat-tree", "--save", str(folder), "--json")
    wanted = cabling_of(system("lab-fat-tree"))
    pairs = {frozenset((cable.one.device, cable.other.device)) for cable in wanted.cables}
    for name in ("ibnetdiscover.out", "iblinkinfo.out"):
        found = read_cabling(str(folder / name))
        names = {device.identity: device.name for device in found.devices}
        cables = [
            frozenset((names[cable.one.device], names[cable.other.device]))
            for cable in found.cables
        ]
        assert len(cables) == len(wanted.cables) == 48, name
        assert set(cables) == pairs, name
    read = _read(folder / "ibnetdiscover.out", folder / "iblinkinfo.out", folder / "perfquery.out")
    assert [one["format"] for one in read] == ["ibnetdiscover", "iblinkinfo", "ib-counters"]
    assert not any(one["ignored"] for one in read)
    assert "16 hosts on 20 switches" in read[0]["summary"][0]
    assert "1 ports with counters, 0 of them with errors" in read[2]["summary"][0]
    assert _check(folder / "ibnetdiscover.out") == []


@pytest.mark.parametrize("place", ["file", "file/in", "dangling", "", "n" * 300])
def test_a_place_that_is_no_folder_is_refused(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    code = main(["lab", "ib", "lab-switch", "--save", place])
    assert code == (3 if place else 2)
    assert "Traceback" not in capsys.readouterr().err
    assert sorted(one.name for one in tmp_path.iterdir()) == ["dangling", "file"]


def test_a_folder_is_made_with_those_above_it(tmp_path: Path) -> None:
    artery("ib", "lab-switch", "--save", str(tmp_path / "new" / "deep"), "--json")
    assert (tmp_path / "new" / "deep" / "ibnetdiscover.out").is_file()


def test_a_system_of_millions_is_refused_before_its_cables_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lab_ib, "cabling_of", None)
    with pytest.raises(InputError, match="125,000 channel adapters or more"):
        lab_ib.lab_ib("dgx-h100:1000000")


def test_a_fabric_ends_when_who_asked_for_it_is_killed() -> None:
    # Looked at by the fixture: no ibsim, no opensm, no namespace and no file remain.
    for moment in (1.0, 1.5, 2.0):
        asked = subprocess.Popen(
            [sys.executable, "-m", "artery", "lab", "ib", "dgx-h100:512"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
        )
        time.sleep(moment)
        asked.kill()
        asked.wait(30)


def _read(*paths: Path) -> list[dict[str, Any]]:
    done = _artery("read", *map(str, paths))
    found: list[dict[str, Any]] = done["files"]
    return found


def _check(path: Path) -> list[str]:
    """Return the faults that ``fabric check`` finds, but for the rate that ibsim gives."""
    found = _artery("fabric", "check", str(path))["findings"]
    return [one["kind"] for one in found if one["severity"] == "error"]


def _artery(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "artery", *arguments, "--json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=ROOT,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found
