"""``artery simulate`` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.cli import main

ASKED = ("simulate", "sendrecv", "--on", "dgx-h100:2", "--size", "1K", "--engine", "messages")


@pytest.mark.parametrize(
    "flags",
    [
        ("--map", "{0}", "--trace", "{0}"),
        ("--map", "{0}", "-o", "{0}"),
        ("--trace", "{0}", "--out", "{0}"),
        ("--map", "-"),
    ],
)
def test_two_outputs_in_one_place_are_refused(
    flags: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "out.json"
    assert main([*ASKED, *(flag.format(place) for flag in flags)]) == 2
    assert "name a file for each" in capsys.readouterr().err
    assert not place.exists()


def test_each_output_has_its_file(tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("map.csv", "trace.json", "out.txt")]
    flags = ("--map", "--trace", "--out")
    given = [word for pair in zip(flags, map(str, places), strict=True) for word in pair]
    assert main([*ASKED, *given]) == 0
    assert all(place.stat().st_size for place in places)
