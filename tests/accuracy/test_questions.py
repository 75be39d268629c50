"""The scoring of questions: on cases of our own, and on the transcribed ones where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from accuracy.questions import (
    FOLDER,
    LEAST_CHECKS,
    LEAST_RIGHT,
    OF_CHECKS,
    OF_RIGHT,
    key,
    main,
    score,
    scored,
    summary,
    table,
)
from artery.diagnoser.rules import causes

OUTCOMES = {"healthy", "degraded", "faulty", "refused", "unknown"} | {"wrong_results"}


def test_the_key_names_outcomes_that_there_are() -> None:
    known = OUTCOMES | {cause.key for cause in causes()}
    for entry in key().values():
        assert entry["right"]
        for name in entry["right"]:
            assert name in known or name.partition(":")[0] in {"note", "missing"}


def test_the_key_has_as_many_accepted_explanations_and_numbers_as_are_asked_for() -> None:
    entries = key().values()
    accepted = [one for one in entries if one["explained"] in {"maintainer", "asker"}]
    assert len(accepted) == OF_RIGHT
    assert sum("checks" in one for one in entries) == OF_CHECKS


def put(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")


def test_a_question_is_held_by_one_of_the_first_two_causes_and_by_its_numbers(
    tmp_path: Path,
) -> None:
    text = "hardware: {chip: h100-sxm}\nmeasured: [{flops_per_gpu: 495 TFLOP/s, mfu: 25%}]\n"
    put(tmp_path, "mine", text)
    entry = {
        "explained": "us",
        "right": ["sparse_peak"],
        "checks": [
            {"what": "share", "from": "fact:mfu_dense", "low": "0.49", "high": "0.51"},
            {"what": "other", "from": "fact:mfu_dense", "low": "0.9", "high": "1"},
            {"what": "none", "from": "fact:nothing", "low": "0", "high": "1"},
        ],
    }
    found = scored("mine", entry, str(tmp_path / "mine.yaml"))
    assert found.held
    assert [held for _, _, held in found.numbers] == [True, False, False]
    other = scored("mine", {**entry, "right": ["sockets"]}, str(tmp_path / "mine.yaml"))
    assert not other.held


def test_what_cannot_be_read_came_to_nothing(tmp_path: Path) -> None:
    put(tmp_path, "mine", "hardware: {chip: [}\n")
    entry = {"explained": "us", "right": ["sockets"]}
    found = scored("mine", entry, str(tmp_path / "mine.yaml"))
    assert found.came == ()
    assert not found.held


def test_the_table_counts(tmp_path: Path) -> None:
    put(tmp_path, "Q45", "measured: [{wrong: 9}]\nworkload: {collective: all_reduce}\n")
    put(tmp_path, "Q52", "workload: {words: ten steps of MNIST}\nhardware: {nodes: 1}\n")
    rows = score(tmp_path)
    assert summary(rows) == (1, 2, 0, 0)
    assert "1 of 2 with a maintainer's" in table(rows)


if FOLDER.is_dir():

    def test_enough_of_the_questions_are_right() -> None:
        right, count, met, checked = summary(score())
        assert (count, checked) == (OF_RIGHT, OF_CHECKS)
        assert right >= LEAST_RIGHT, table(score())
        assert met >= LEAST_CHECKS, table(score())


@pytest.mark.parametrize("cause", causes(), ids=lambda cause: cause.key)
def test_no_rule_names_a_question(cause: object) -> None:
    said = repr(cause)
    for name, entry in key().items():
        assert f"{name} " not in said
        for source in entry["source"].replace(";", ",").split(","):
            repository, _, number = source.strip().partition("#")
            if number[:1].isdigit() and "/" in repository:
                told = f"{repository.strip()} issue {number.split(' ')[0]}"
                assert f"{told};" not in f"{said};"
                assert f"{told}:" not in said


def test_a_folder_without_facts_files_is_no_table_that_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["questions", str(tmp_path)])
    assert main() == 3
    told = capsys.readouterr()
    assert not told.out
    assert str(tmp_path) in told.err
