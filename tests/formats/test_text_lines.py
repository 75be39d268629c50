"""Finding the lines that hold a word, and that nothing which counts lacks its word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.formats.text import Text
from artery.formats.training.run_spans import program_spans


@given(st.text("ab\n", max_size=60), st.lists(st.text("ab", min_size=1, max_size=3), max_size=3))
def test_lines_with_words_are_those_that_hold_one(content: str, words: list[str]) -> None:
    expected = [
        number
        for number, line in enumerate(content.split("\n"), 1)
        if any(word in line for word in words)
    ]
    assert Text("log", content).lines_with(*words) == expected


@pytest.mark.parametrize(
    ("line", "activity"),
    [
        ("[default] Rendezvous'ing worker group", "start"),
        ("worker process failed (exitcode: -9)", "start"),
        ("[default] Worker group FAILED. 3/3 attempts left; will restart worker group", "start"),
        ("Stopping worker group", "start"),
        ("Sending process 7 closing signal SIGTERM", "start"),
        (" loading checkpoint from /ckpt at iteration 5", "start"),
        ("Loading the checkpoint from /ckpt", "start"),
        ("saving checkpoint at iteration 5 to /ckpt", "start"),
        ("Saving the checkpoint (or staging if async is enabled)", "start"),
    ],
)  # fmt: skip
def test_every_line_that_ends_the_start_is_found(line: str, activity: str) -> None:
    lines = ["2026-03-03 09:00:00 begins", f"2026-03-03 09:00:07 {line}", "2026-03-03 09:00:09 on"]
    spans = program_spans(lines, ())
    assert [(span.end - span.start, span.activity) for span in spans] == [(7.0, activity)]


def test_a_fraction_belongs_to_its_own_line() -> None:
    lines = [f"2026-03-03 09:00:00.{fraction} saving checkpoint at iteration 1"
             for fraction in ("250", "500", "750")]  # fmt: skip
    assert [s.end - s.start for s in program_spans(lines, ())] == [0.25, 0.25]
