"""The commands that the stops of ``artery tour`` name."""

from __future__ import annotations

import shlex

import pytest

from artery.answers.tour import tour
from artery.answers.tour.article import stop_texts
from artery.cli import main

PRINTED = {
    "one-chip": ("cores",),
    "amdahl": ("on_8", "on_1024"),
    "ten-thousand": ("step_1", "step_8", "step_1024", "step_10000"),
    "gpt3": ("days_1024",),
}
"""Figures of a stop that its command prints in the same words."""

COMMANDS = {text.name: text.command for text in stop_texts() if "{" not in text.command}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_of_a_stop_runs(name: str) -> None:
    program, *words = shlex.split(COMMANDS[name])
    assert program == "artery"
    assert main(words) == 0


@pytest.mark.parametrize("name", PRINTED)
def test_the_command_of_a_stop_prints_its_figures(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (stop,) = tour(name).stops
    shown = {figure.name: figure.shown for figure in stop.figures}
    main(shlex.split(stop.command)[1:])
    out = capsys.readouterr().out
    assert [shown[figure] for figure in PRINTED[name] if shown[figure] not in out] == []
