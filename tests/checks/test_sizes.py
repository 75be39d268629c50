"""The size check sees what is too long, and nothing else."""

from __future__ import annotations

from pathlib import Path

from checks.sizes import HARD_FILE, HARD_FUNCTION, SOFT_FILE, too_long


def written(folder: Path, lines: int) -> Path:
    path = folder / "room.py"
    path.write_text("x = 1\n" * lines)
    return path


def test_a_file_within_the_limit_passes(tmp_path: Path) -> None:
    assert list(too_long(written(tmp_path, SOFT_FILE))) == []


def test_a_file_over_the_soft_limit_is_pointed_out(tmp_path: Path) -> None:
    ((text, fails),) = too_long(written(tmp_path, SOFT_FILE + 1))
    assert str(SOFT_FILE + 1) in text
    assert not fails


def test_a_file_over_the_hard_limit_fails(tmp_path: Path) -> None:
    ((_, fails),) = too_long(written(tmp_path, HARD_FILE + 1))
    assert fails


def test_a_long_function_fails_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "room.py"
    path.write_text("x = 1\n\ndef walk():\n" + "    x\n" * HARD_FUNCTION)
    ((text, fails),) = too_long(path)
    assert f"{path}:3: walk: {HARD_FUNCTION + 1} lines" in text
    assert fails
