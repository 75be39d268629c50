"""The last lines of the demo, in both languages, whatever training showed."""

from __future__ import annotations

from typing import Any

import pytest

from artery.report.demo.trained import trained_lines, trained_title
from artery.report.words import Language

FOUND: dict[str, Any] = {
    "model": "transformer", "ranks": 2, "steps": 24, "fault": "kill:rank=1,step=15", "restarts": 1,
    "lost_steps": 2, "recovery_s": 1.5, "digest": "ab", "digest_after_kill": "ab",
    "same_weights": True, "predicted_step_s": 0.09, "measured_step_s": 0.1, "load": 0.5,
}  # fmt: skip


def test_what_was_found_is_said() -> None:
    killed, weights, step = trained_lines(FOUND, "en")
    assert "2 processes trained a transformer for 24 steps" in killed
    assert "2 steps lost and done again, back in 1.50 s" in killed
    assert weights == "the weights are those of an undisturbed run, bit for bit"
    assert step == "a step: predicted 90.0 ms, measured 100 ms (-10.0 %, load average 0.5)"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_went_wrong_is_said(language: Language) -> None:
    other = {**FOUND, "same_weights": False, "recovery_s": None}
    assert list(trained_lines(other, language))[1] != list(trained_lines(FOUND, language))[1]
    (line,) = trained_lines({"error": "no loopback"}, language)
    assert "no loopback" in line
    assert trained_title(language)
