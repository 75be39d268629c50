"""Wrong inputs end with the right code, the place and the fix; never with a traceback."""

from __future__ import annotations

import io
import sys
from collections import Counter
from pathlib import Path

import pytest

from artery.cli import main
from tests.errors.corpus import CASES, CHIP, CONFIG, ON, Case

AT_LEAST = 60


def run(case: Case, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    file = folder / (case.file or "unused")
    if case.content is not None:
        file.write_bytes(case.content)
    empty = folder / "empty"
    empty.mkdir()
    words = [word.format(file=file, folder=empty) for word in case.words]
    code = main(words)
    captured = capsys.readouterr()
    return code, captured.err if code != 4 else captured.err + captured.out


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_wrong_input_gets_the_place_and_the_fix(
    case: Case,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(case.stdin.encode())))
    code, message = run(case, tmp_path, capsys)
    assert code == case.code, message
    assert "Traceback" not in message
    assert case.place.format(folder=tmp_path / "empty") in message
    assert case.fix in message


def test_the_corpus_is_large_and_no_case_comes_twice() -> None:
    assert len(CASES) >= AT_LEAST
    assert max(Counter(case.name for case in CASES).values()) == 1


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("chip.toml", CHIP, ("catalog", "show", "{file}")),
        ("config.json", CONFIG, ("plan", "{file}", *ON)),
    ],
)
def test_what_the_corpus_breaks_is_right_before(
    file: str, content: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / file).write_text(content, encoding="utf-8")
    assert main([word.format(file=tmp_path / file) for word in words]) == 0
