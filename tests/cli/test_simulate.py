"""``artery simulate`` on the command line."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

import pytest

from artery.answers.simulate import watched
from artery.cli import main

RING = "--algorithm ring --engine messages"
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


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--map", "{0}/x.txt"), "--map writes .csv or .json"),
        (("--trace", "{0}/x.csv"), "--trace writes .json"),
    ],
)
def test_a_name_that_promises_another_format_is_refused(
    flags: tuple[str, ...], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*ASKED, *(flag.format(tmp_path) for flag in flags)]) == 2
    assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("flag", ["--map", "--trace", "--out"])
def test_a_folder_that_is_not_there_is_found_before_anything_is_written(
    flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = {"--map": tmp_path / "map.csv", "--trace": tmp_path / "trace.json"}
    good.pop(flag, None)
    given = [word for pair in good.items() for word in map(str, pair)]
    assert main([*ASKED, *given, flag, str(tmp_path / "nowhere" / "x.json")]) == 3
    assert "nowhere" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_timeline_that_cannot_be_made_leaves_no_map(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ring = [
        "simulate",
        "all_reduce",
        "--on",
        "dgx-h100:64",
        "--engine",
        "coupled",
        "--algorithm",
        "ring",
    ]
    files = ("--map", str(tmp_path / "m.csv"), "--trace", str(tmp_path / "t.json"))
    assert main([*ring, *files]) == 3
    assert "timeline" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("asked", "told", "works"),
    [
        ("--algorithm ring --engine coupled", "--engine messages, or", RING),
        ("--algorithm tree", "smaller --size", "--algorithm tree --size 64K --engine messages"),
    ],
)
def test_what_is_named_instead_gives_the_timeline(
    asked: str, told: str, works: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "t.json"
    command = ["simulate", "all_reduce", "--on", "dgx-h100:64", "--trace", str(trace)]
    assert main([*command, *asked.split(), "--size", "4G"]) == 3
    assert told in (said := capsys.readouterr().err)
    assert ("--engine messages" in said) == ("ring" in asked)
    assert main([*command, *works.split()]) == 0


def test_ranks_may_come_through_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "order"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_text, args=("1\n0\n",))
    writer.start()
    assert main([*ASKED, "--placement", str(pipe)]) == 0
    writer.join()
    assert "2 rank(s)" in capsys.readouterr().out


def test_a_long_run_without_compiled_loops_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ARTERY_NATIVE", "0")
    monkeypatch.setattr("artery.cli.watching.PATIENCE", 0.0)
    assert main(["simulate", "alltoall", "--on", "dgx-h100:16", "--size", "64K"]) == 0
    told = capsys.readouterr().err
    assert "Python twins, as ARTERY_NATIVE=0 asks" in told
    assert "artery doctor" in told


def test_whoever_listens_is_told_what_is_done() -> None:
    told: list[str] = []
    watched(told.append, "all_reduce", "hgx-h100-roce:128", size="1M", algorithm="ring",
            placement="random", seeds=3, links=0)  # fmt: skip
    assert told[0] == "laying the network out"
    assert "3 of 3 seeds played" in told


@pytest.mark.parametrize("command", ["plan", "explain", "scale"])
def test_a_long_step_played_without_compiled_loops_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.setenv("ARTERY_NATIVE", "0")
    monkeypatch.setattr("artery.cli.watching.PATIENCE", 0.0)
    asked = [command, "resnet50", "--on", "dgx-h100:8", "--global-batch", "64", "--dp", "8"]
    chips = ["--chips", "8"] if command == "scale" else []
    assert main([*asked, *chips]) == 0
    assert "still" not in capsys.readouterr().err
    assert main([*asked, *chips, "--network", "simulate"]) == 0
    assert "Python twins, as ARTERY_NATIVE=0 asks" in capsys.readouterr().err
