"""Which loops run: the compiled ones where they are there and current, else the twins."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from artery import native
from artery.native import FOLDER, _digest, _loaded, core


def build(folder: Path, stamp: str) -> None:
    for source in [*FOLDER.glob("*.c"), *FOLDER.glob("*.h")]:
        shutil.copy(source, folder)
    if shutil.which("cc") is None:
        pytest.skip("no C compiler here")
    out = folder / "_core.so"
    command = ["cc", f"-DARTERY_DIGEST={stamp}", "-shared", "-fPIC", str(folder / "core.c")]
    subprocess.run([*command, "-o", str(out)], check=True)


def test_the_twins_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARTERY_NATIVE", "0")
    assert core().library is None
    assert native.library() is None


def test_nothing_compiled_is_no_error(tmp_path: Path) -> None:
    assert _loaded(tmp_path).library is None
    assert "not compiled" in _loaded(tmp_path).detail


def test_a_library_that_does_not_load_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "_core.so").write_text("no library")
    assert _loaded(tmp_path).library is None
    assert "_core.so does not load" in _loaded(tmp_path).detail


def test_a_library_of_other_sources_is_not_used(tmp_path: Path) -> None:
    build(tmp_path, "old")
    assert _loaded(tmp_path).library is None
    assert "older than its sources" in _loaded(tmp_path).detail


def test_a_library_of_these_sources_is_used(tmp_path: Path) -> None:
    stamp = _digest(FOLDER)
    assert stamp is not None
    build(tmp_path, stamp)
    found = _loaded(tmp_path)
    assert found.library is not None
    assert found.detail == str(tmp_path / "_core.so")
