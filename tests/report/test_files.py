"""Files appear whole or not at all."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest
from rich.text import Text

from artery.cli import main
from artery.errors import InputError
from artery.report.drawing.terminal import deliver
from artery.report.writing.files import check_writable, write_whole


def test_a_file_is_written_with_its_last_newline(tmp_path: Path) -> None:
    path = tmp_path / "计划.json"
    write_whole(str(path), "{}")
    assert path.read_text(encoding="utf-8") == "{}\n"


def test_a_dash_is_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    write_whole("-", "{}\n")
    assert capsys.readouterr().out == "{}\n"


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(str(path), "{}")
        assert os.read(reader, 10) == b"{}\n"
    finally:
        os.close(reader)
    assert path.is_fifo()


def test_stdout_gets_utf_8_whatever_it_is_set_to(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    write_whole("-", '"步"')
    assert raw.getvalue() == '"步"\n'.encode()


def test_a_full_stdout_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(InputError, match="<stdout>  No space left"):
        write_whole("-", "{}")


def test_a_failed_write_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plan.json"
    write_whole(str(path), "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left"):
        write_whole(str(path), "new")
    assert path.read_text() == "old\n"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_are_kept_and_links_followed(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text("old")
    path.chmod(0o640)
    link = tmp_path / "latest.json"
    link.symlink_to(path)
    write_whole(str(link), "new")
    assert path.read_text() == "new\n"
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("name", ["missing/plan.json", ".", ""])
def test_an_impossible_place_is_an_input_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        write_whole(str(tmp_path / name), "text")
    assert caught.value.problems[0].file is not None


@pytest.mark.parametrize("columns", ["0", "1"])
def test_a_terminal_that_does_not_know_its_width_gets_a_readable_one(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    deliver(Text("step 6.12 s"), "-")
    assert capsys.readouterr().out == "step 6.12 s\n"


@pytest.mark.parametrize("name", ["missing/out.json", "long" * 100, "", "/proc/artery.json"])
def test_a_place_that_cannot_be_written_is_found_before_the_work(tmp_path: Path, name: str) -> None:
    place = name if name.startswith("/") else str(tmp_path / name)
    with pytest.raises(InputError, match="must be writable"):
        check_writable(place)
    assert list(tmp_path.iterdir()) == []


def test_looking_whether_a_file_can_be_written_leaves_it_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text("old")
    check_writable(str(path))
    check_writable("-")
    check_writable("/dev/null")
    assert [one.read_text() for one in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize(
    "words",
    [
        ["plan", "nobody", "--on", "nowhere"],
        ["plan", "nobody", "--on", "nowhere", "--trace"],
        ["schedule", "/none", "--on", "nowhere", "--timeline"],
        ["simulate", "all_reduce", "--on", "nowhere", "--map"],
        ["simulate", "all_reduce", "--on", "nowhere", "--trace"],
        ["train", "nobody"],
        ["read", "/none"],
        ["lint", "/none"],
        ["diagnose", "/none"],
        ["expect", "all_reduce", "--on", "nowhere"],
        ["scale", "nobody", "--on", "nowhere", "--chips", "1"],
        ["goodput", "nobody", "--on", "nowhere"],
    ],
    ids=" ".join,
)
def test_every_command_looks_at_its_outputs_first(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flag = [] if words[-1].startswith("--") else ["-o"]
    place = str(tmp_path / "missing" / "out.json")
    assert main([*words, *flag, place, "--lang", "en"]) == 3
    told = capsys.readouterr().err
    assert place in told
    assert "nowhere" not in told
    assert "/none" not in told


def test_read_does_not_write_over_what_it_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "topo.txt"
    path.write_text("as it was")
    assert main(["read", str(path), "-o", str(path)]) == 2
    assert "would write over" in capsys.readouterr().err
    assert path.read_text() == "as it was"


@pytest.mark.parametrize(
    "words",
    [
        ["simulate", "all_reduce", "--on", "dgx-h100:16", "-o"],
        ["simulate", "all_reduce", "--on", "dgx-h100:16", "--map"],
        ["simulate", "all_reduce", "--on", "dgx-h100:16", "--trace"],
        ["fabric", "export", "dgx-h100:16", "--to", "slurm", "-o"],
        ["expect", "all_reduce", "--on", "dgx-h100:16", "-o"],
        ["explain", "llama3-8b", "--on", "dgx-h100:8", "-o"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_link_to_itself_is_no_place_to_write_to(
    words: list[str], language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loop = _loop(tmp_path)
    assert main([*words, loop, "--lang", language]) == 3
    told = capsys.readouterr().err
    assert ("must be writable" if language == "en" else "须能写出") in told
    assert ("Too many levels of symbolic links" if language == "en" else "符号链接") in told
    with pytest.raises(InputError, match="must be writable"):
        write_whole(loop, "{}")


@pytest.mark.parametrize(
    "words",
    [
        ["read"],
        ["fabric", "check"],
        ["diagnose"],
        ["simulate", "all_reduce", "--on"],
        ["simulate", "--on", "dgx-h100:16", "--work"],
    ],
    ids=" ".join,
)
def test_a_link_to_itself_is_called_so_as_an_input(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, _loop(tmp_path), "--lang", "en"]) == 3
    assert "Too many levels of symbolic links" in capsys.readouterr().err


def _loop(folder: Path) -> str:
    loop = folder / "loop.toml"
    loop.symlink_to(loop.name)
    return str(loop)
