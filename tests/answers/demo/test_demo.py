"""The bundled cluster: written by hand, found and proved by artery."""

from __future__ import annotations

import ast
import sys
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import pytest

from artery.answers.demo import FILES, DemoAnswer, demo, write_files
from artery.report.writing.files import write_whole
from docs_build import demo_files


@pytest.fixture(scope="module")
def story() -> DemoAnswer:
    return demo(train=False)


def test_the_bundled_files_are_what_their_physics_says() -> None:
    folder = files("artery.answers.demo").joinpath("files")
    written = dict(demo_files.every())
    assert tuple(written) == FILES
    for name, text in written.items():
        assert folder.joinpath(name).read_text("utf-8") == text


def test_the_files_are_made_without_artery() -> None:
    tree = ast.parse(Path(demo_files.__file__).read_text(encoding="utf-8"))
    imported = [
        name
        for node in ast.walk(tree)
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [one.name for one in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    ]
    assert imported
    assert not [name for name in imported if name.startswith("artery")]


def test_the_physics_of_the_files_by_hand() -> None:
    # Per rank 120 of 128 pieces leave by the card, and 32 ranks send 96 pieces each over the
    # leaf's uplinks: whole, 96 pieces a cable, so that the card rules; halved, 192 a cable.
    size, piece = 2**33, 2**33 / 128
    start = demo_files.START + 127 * demo_files.PER_PEER
    whole, halved = demo_files.seconds(size, 32), demo_files.seconds(size, 16)
    assert whole == pytest.approx(start + 120 * piece / demo_files.CARD)
    assert halved == pytest.approx(start + 192 * piece / demo_files.CARD / 0.97)


def test_the_cause_is_found_and_proved_by_playing_it(story: DemoAnswer) -> None:
    found = story.diagnosis
    best = found.diagnosis.findings[0]
    assert found.diagnosis.verdict == "degraded"
    assert best.cause.key == "lost_uplinks"
    assert best.explanation.world == {"above_leaf": 0.5}
    assert found.proof is not None
    assert found.proof.lands
    assert found.proof.mapped
    assert found.proof.what == "leaf03 without 16 of its 32 uplinks"
    for point in found.proof.points:
        assert point.faulty == pytest.approx(point.measured, rel=0.15)
        # Without the fault nothing near what was measured would come out.
        assert point.whole > 1.4 * point.measured


def test_the_job_is_faster_and_cheaper_after_the_repair(story: DemoAnswer) -> None:
    job = story.diagnosis.job
    assert job is not None
    assert job.repaired < 0.8 * job.now
    assert job.cost_per_hour == pytest.approx(128 * 2.5)
    assert job.lost_per_day == pytest.approx(24 * 320 * (1 - job.repaired / job.now))


def test_the_files_are_written_for_one_s_own_try(story: DemoAnswer, tmp_path: Path) -> None:
    paths = write_files(story, str(tmp_path), write_whole)
    assert [Path(path).name for path in paths] == list(FILES)
    assert all(Path(path).read_text(encoding="utf-8") for path in paths)


def test_training_follows_where_there_is_something_to_train_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from artery.answers import demo as module

    trainer = ModuleType("artery.answers.demo.train")
    trainer.demo_train = lambda _: {"steps": 3}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "artery.answers.demo.train", trainer)
    monkeypatch.setattr(module, "find_spec", lambda _: object())
    assert module._trained() == {"steps": 3}
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    assert module._trained() is None


def test_the_page_comes_before_the_training(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from artery.answers import demo as module
    from artery.cli import main

    seen: list[str] = []

    def trained(note: object) -> dict[str, str]:
        seen.append(capsys.readouterr().out)
        return {"error": "no processes here"}

    monkeypatch.setattr(module, "_trained", trained)
    assert main(["demo", "--lang", "en"]) == 0
    assert "proved" in seen[0]
    assert "no processes here" in capsys.readouterr().out


def test_a_folder_that_is_none_is_refused_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from artery.cli import main

    def never(**_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("artery.answers.demo.demo", never)
    file = tmp_path / "file"
    file.write_text("")
    for folder in (tmp_path / "none", file, Path("/proc")):
        assert main(["demo", "--files", str(folder)]) == 3
        assert str(folder) in capsys.readouterr().err
