"""``artery simulate --export``: the schedule as played, read back."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from artery.answers.simulate import simulate
from artery.answers.simulate.request import Request
from artery.answers.simulate.work import simulate_work
from artery.cli import main
from artery.core.graph import TaskGraph
from artery.formats.goal import task_graph
from artery.formats.text import read_text
from artery.report.simulate import files
from artery.simulator.explicit import run

MIB = 2**20
ASKED = ("simulate", "all_reduce", "--on", "dgx-h100:16", "--size", "8M")
SENT = 2 * 15 * 8 * MIB
"""Bytes of an all-reduce of 8 MiB over 16 ranks: each sends 2 · 15/16 of it."""


def exported(tmp_path: Path, name: str, *flags: str) -> Path:
    place = tmp_path / name
    assert main([*ASKED, *flags, "--export", str(place), "-o", str(tmp_path / "out.txt")]) == 0
    return place


def graph(place: Path) -> TaskGraph:
    return task_graph(read_text(str(place)))


@pytest.mark.parametrize("algorithm", ["ring", "halving_doubling"])
def test_goal_read_back_moves_the_same_bytes_in_the_same_time(
    algorithm: str, tmp_path: Path
) -> None:
    """But for the share of links that a protocol leaves (Simple: nearly all), and its start."""
    place = exported(tmp_path, "x.goal", "--algorithm", algorithm, "--size", "256M")
    found = graph(place)
    assert int(found.size[found.sends].sum()) == 32 * SENT
    again = simulate_work(str(place), Request(collective="", on="dgx-h100:16"))
    first = simulate(
        "all_reduce", "dgx-h100:16", size="256M", algorithm=algorithm, engine="messages", links=0
    )
    assert first.protocol == "Simple"
    assert again.messages == first.flows
    assert again.seconds == pytest.approx(first.network, rel=0.05)


def test_channels_and_other_jobs_run_side_by_side_on_their_chips(tmp_path: Path) -> None:
    flags = "--algorithm", "ring", "--placement", "interleaved", "--background", "sendrecv:1M:2-3"
    found = graph(exported(tmp_path, "x.goal", *flags))
    sends = np.flatnonzero(found.sends)
    assert int(found.size[sends].sum()) == SENT + 2 * MIB
    # The first step of every channel waits for nothing: eight rings, and one pair of the other job.
    first = sends[found.start[sends + 1] == found.start[sends]]
    assert np.bincount(found.rank[first]).tolist() == [8, 8, 9, 9, *[8] * 12]


def test_traffic_for_htsim_adds_up(tmp_path: Path) -> None:
    lines = exported(tmp_path, "x.cm", "--algorithm", "ring").read_text().splitlines()
    sizes = [int(one[1]) for line in lines if (one := re.search(r"->.* size (\d+)", line))]
    assert lines[1:3] == ["Nodes 16", f"Connections {8 * 16 * 30}"]
    assert (len(sizes), sum(sizes)) == (8 * 16 * 30, SENT)


@pytest.mark.parametrize(
    ("algorithm", "name", "told"),
    [
        ("nvls_tree", "x.cm", "switches add nothing"),
        ("tree", "x.txt", "--export writes .goal or .cm"),
        ("ring", "none/x.goal", "none"),
    ],
)
def test_what_cannot_be_exported_leaves_no_file(
    algorithm: str, name: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ("--export", str(tmp_path / name), "--map", str(tmp_path / "map.csv"))
    assert main([*ASKED, "--algorithm", algorithm, *given]) in (2, 3)
    assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_samples_and_too_many_messages_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(tmp_path / "x.goal")
    asked = ["simulate", "alltoall", "--on", "dgx-h100:16", "--size", "1M", "--export", place]
    assert main([*asked, "--engine", "sampled"]) == 3
    assert "240 messages, of which a sample was played" in capsys.readouterr().err
    monkeypatch.setattr(files, "MOST_TIMES", 239)
    assert main(asked) == 3
    assert "at most 239 messages" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--export", "x.goal"), "261,632 messages, a schedule of at most"),
        (("--export", "x.cm", "--engine", "messages"), "261,632 messages"),
        (("--trace", "x.json"), "a timeline has at most 200,000"),
        (("--trace", "x.json", "--engine", "sampled"), "sampled engine, a timeline"),
        (("--trace", "x.json", "--engine", "messages"), "messages engine, a timeline"),
    ],
)
def test_what_cannot_be_written_is_refused_before_it_is_played(
    flags: tuple[str, ...],
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def played(*_: object, **__: object) -> None:
        raise AssertionError("it was played")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run, "_play", played)
    monkeypatch.setattr("artery.simulator.simulate.run_sampled", played)
    asked = ["simulate", "alltoall", "--on", "dgx-h100:512", "--size", "1M"]
    assert main([*asked, *flags]) == 3
    assert told in capsys.readouterr().err


def test_a_coupled_run_is_not_played_for_a_timeline(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def played(*_: object, **__: object) -> None:
        raise AssertionError("it was played")

    monkeypatch.setattr("artery.simulator.simulate.run_coupled", played)
    for more in (["--engine", "coupled"], ["--on", "dgx-h100:2048"]):
        assert main([*ASKED, "--trace", "x.json", *more]) == 3
        assert "coupled engine, a timeline" in capsys.readouterr().err


def test_switches_of_an_exported_file_are_told_and_not_played_as_chips(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = exported(tmp_path, "x.goal", "--algorithm", "nvls_tree")
    assert "switches that add are ranks of the file" in capsys.readouterr().err
    assert main(["simulate", "--work", str(place), "--on", "dgx-h100:18"]) == 3
    said = capsys.readouterr().err
    assert "ranks 16 to 17 are switches that add" in said
    assert "--offload none" in said
    place = exported(tmp_path, "y.goal", "--offload", "none")
    assert "switches" not in capsys.readouterr().err
    assert main(["simulate", "--work", str(place), "--on", "dgx-h100:16"]) == 0


def test_a_work_is_not_exported(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["simulate", "--work", "x.goal", "--on", "dgx-h100:8", "--export", "y.goal"]
    assert main(asked) == 2
    assert "--export are of a collective" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--size", "64M", "--export", "x.cm"), "htsim's switches add nothing"),
        (("--size", "1G", "--trace", "x.json"), "a timeline has at most"),
    ],
)
def test_what_best_may_not_be_is_refused_before_anything_is_played(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from artery.answers.simulate import played

    def never(*_: object) -> None:
        raise AssertionError("played")

    monkeypatch.chdir(tmp_path)
    line = ["simulate", "all_reduce", "--on", "dgx-h100:16", "--algorithm", "best", *words]
    with monkeypatch.context() as patched:
        patched.setattr(played, "simulate", never)
        assert main(line) == 3
        told = capsys.readouterr().err
        assert "best, which may be collnet" in told
        assert said in told
        assert "ring or torus" in told
        assert main([*line, "--lang", "zh"]) == 3
        assert "best 可能为 collnet" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_best_of_what_fits_is_written(tmp_path: Path) -> None:
    file = tmp_path / "x.cm"
    line = ["simulate", "all_reduce", "--on", "dgx-h100:16", "--size", "64K", "--export", str(file)]
    assert main([*line, "--algorithm", "best", "--offload", "none"]) == 0
    assert file.read_text("utf-8").startswith("# all_reduce")
