"""The check of duplicates sees what stands twice, and leaves out what pyproject.toml says."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.duplicates import main

LINES = [f"x{number} = {number} * y" for number in range(9)]
"""One more than pyproject.toml lets stand twice."""


def said(folder: Path, capsys: pytest.CaptureFixture[str], *texts: list[str]) -> tuple[int, str]:
    for number, lines in enumerate(texts):
        (folder / f"room{number}.py").write_text("\n".join([*lines, f"z{number} = 1", ""]))
    found = main([str(folder)])
    return found, capsys.readouterr().out


def test_nine_lines_in_two_files_fail_with_both_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, out = said(tmp_path, capsys, LINES, ["a = 1", *LINES])
    assert found == 1
    assert f"{tmp_path / 'room0.py'}:[0:9]" in out
    assert f"{tmp_path / 'room1.py'}:[1:10]" in out


def test_eight_lines_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, out = said(tmp_path, capsys, LINES[:8], LINES[:8])
    assert found == 0
    assert "duplicates=0" in out


@pytest.mark.parametrize(
    "between",
    [["# why"], ['"""What', 'it is for."""'], ["from os import path"]],
    ids=["comment", "docstring", "import"],
)
def test_what_is_no_code_of_its_own_does_not_hide_a_duplicate(
    between: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(tmp_path, capsys, LINES, [*LINES[:4], *between, *LINES[4:]])[0] == 1


@pytest.mark.parametrize(
    "lines",
    [
        [f"import room{number}" for number in range(9)],
        ["def walk(", *(f"    way{number}: int," for number in range(9)), ") -> None:", "    x()"],
        ['"""Doc', *(f"line {number}" for number in range(9)), '"""'],
        [f"# line {number}" for number in range(9)],
    ],
    ids=["imports", "signature", "docstring", "comments"],
)
def test_what_may_stand_twice_passes(
    lines: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(tmp_path, capsys, lines, lines)[0] == 0
