"""Checkpoints: whole or not at all, checksummed, the last ones kept."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from artery.runner.checkpoint.folder import Folder, Torn
from artery.runner.checkpoint.memory import copied_step, read_copy, write_copy
from artery.runner.faults import damage


def names(folder: Folder) -> list[str]:
    return sorted(each.name for each in folder.path.iterdir())


def test_what_is_written_is_read_and_the_last_ones_are_kept(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "c", keep=2)
    for step in (10, 20, 30):
        assert folder.write(step, b"state %d" % step, {"samples": step * 32})
    assert folder.steps() == [20, 30]
    assert list(folder.newest()) == [30, 20]
    assert list(folder.newest(most=25)) == [20]
    state, manifest = folder.read(30)
    assert state == b"state 30"
    assert manifest["samples"] == 960
    file = folder.path / "step-00000030" / "state.bin"
    told = subprocess.run(["sha256sum", file], capture_output=True, text=True, check=True)
    assert manifest["sha256"] == told.stdout.split()[0]


def test_the_same_state_is_not_written_twice_and_another_replaces_it(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    assert folder.write(1, b"a", {})
    assert not folder.write(1, b"a", {})
    assert folder.write(1, b"b", {})
    assert folder.read(1)[0] == b"b"
    assert names(folder) == ["step-00000001"]


@pytest.mark.parametrize("how", ["truncate", "flip"])
def test_a_damaged_state_is_found_and_put_aside(how: str, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write(1, bytes(range(256)) * 8, {})
    folder.write(2, bytes(range(256)) * 9, {})
    damage(tmp_path / "step-00000002" / "state.bin", how)
    with pytest.raises(Torn, match="bytes instead of" if how == "truncate" else "checksum"):
        folder.read(2)
    folder.put_aside(2)
    assert folder.steps() == [1]
    assert names(folder) == ["step-00000001", "torn-00000002"]


@pytest.mark.parametrize("manifest", ["", "[]", "{}", '{"schema": "artery.checkpoint/1"}'])
def test_a_manifest_that_says_nothing_is_torn(manifest: str, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write(1, b"a", {})
    (tmp_path / "step-00000001" / "manifest.json").write_text(manifest)
    with pytest.raises(Torn):
        folder.read(1)


def test_without_a_manifest_it_does_not_count(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write(1, b"a", {})
    (tmp_path / "step-00000001" / "manifest.json").unlink()
    assert folder.steps() == []


def test_at_no_moment_of_a_save_is_there_half_a_checkpoint(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write(1, b"old" * 100, {})
    seen: list[list[int]] = []

    def halfway() -> None:
        seen.append(folder.steps())
        raise KeyboardInterrupt  # what a kill leaves: nobody cleans up

    with pytest.raises(KeyboardInterrupt):
        folder.write(2, b"new" * 100, {}, halfway=halfway)
    assert seen == [[1]]
    assert folder.steps() == [1]
    assert len(names(folder)) == 2
    folder.sweep()  # its writer still lives: left alone
    assert len(names(folder)) == 2
    part = next(each for each in tmp_path.iterdir() if each.name.startswith(".part"))
    child = subprocess.Popen(["true"])
    child.wait()
    part.rename(tmp_path / f".part-{child.pid}-0")
    folder.sweep()
    assert names(folder) == ["step-00000001"]


def test_a_device_that_is_full_leaves_the_old_ones_intact(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write(1, b"old", {})
    with pytest.raises(OSError, match="No space left") as full:
        folder.write(2, b"new", {}, target="/dev/full")
    assert full.value.errno == errno.ENOSPC
    assert names(folder) == ["step-00000001"]
    assert folder.read(1)[0] == b"old"


@pytest.mark.real
def test_a_file_system_that_is_full_leaves_the_old_ones_intact(tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "artery-test", str(place)]
    subprocess.run(mount, check=True)
    try:
        folder = Folder(place / "c")
        folder.write(1, os.urandom(100_000), {})
        with pytest.raises(OSError, match="No space left"):
            folder.write(2, os.urandom(300_000), {})
        assert names(folder) == ["step-00000001"]
        assert len(folder.read(1)[0]) == 100_000
        assert folder.write(2, os.urandom(50_000), {})
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_copy_in_memory_is_replaced_as_a_whole(tmp_path: Path) -> None:
    place = tmp_path / "copy"
    assert copied_step(place) == -1
    write_copy(place, 7, b"seven")
    write_copy(place, 8, b"eight")
    assert copied_step(place) == 8
    assert read_copy(place) == (8, b"eight")
    assert [each.name for each in tmp_path.iterdir()] == ["copy"]
    place.write_bytes(place.read_bytes()[:-1])
    with pytest.raises(Torn):
        read_copy(place)
    place.write_bytes(b"short")
    assert copied_step(place) == -1
    with pytest.raises(Torn):
        read_copy(place)
