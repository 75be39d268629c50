"""What an exchange sent and saved, and how a run scales, in both languages."""

from __future__ import annotations

import pytest

from artery.answers.train.compare import Scaling, TrainComparison
from artery.core.term import Estimate, Measurement, Term
from artery.report.train.exchange import exchange_lines, heading, scaling_lines
from artery.report.words import Language
from artery.runner.probing.measured import Run

STEP = Term("step", "s", 0.1, 0.09, 0.11)
EVERY = {"steps": 10, "bytes_sent": 40 * 2**20, "waited_s": 0.5}
LOCAL = {
    "steps": 12, "averages": 3, "bytes_sent": 3 * 2**20, "waited_s": 0.3, "largest_drift": 0.02,
    "bytes_saved": 9 * 2**20, "seconds_saved": 0.9, "final_drift": 0.0,
}  # fmt: skip


def comparison() -> TrainComparison:
    points = tuple(Scaling(n, 0.1 * n, 160.0, 1 / n) for n in (1, 2, 4))
    return TrainComparison(
        Run("resnet18"), 2, 2, Estimate(STEP, "closed"), Measurement(STEP, "here"), (), points,
        Scaling(2, 0.16, 200.0, 0.625), 0.0, (0.0, 0.0), (),
    )  # fmt: skip


def test_what_was_sent_and_saved() -> None:
    (line,) = exchange_lines(EVERY, "en")
    assert line == "4.00 MiB a step and rank, 50.0 ms a step waiting for it"
    saved, drifted = exchange_lines(LOCAL, "en")
    assert saved == "weights averaged 3 times in 12 steps; 9.00 MiB not sent and 900 ms not spent"
    assert drifted == "replicas at most 2.0 % apart before an average, 0.0 % at the end"


def test_nothing_sent_is_nothing_said() -> None:
    assert list(exchange_lines({}, "en")) == []
    assert list(exchange_lines({**EVERY, "bytes_sent": 0}, "en")) == []


def test_scaling_has_what_was_measured_beside_it() -> None:
    one, two, four = scaling_lines(comparison(), "en")
    assert "1 ranks" in one
    assert two == "2 ranks: 160 samples/s, efficiency 50.0 % predicted, 62.5 % measured"
    assert four.endswith("efficiency 25.0 %, predicted")


@pytest.mark.parametrize("name", ["exchange", "scaling"])
def test_both_languages_say_as_much(name: str) -> None:
    languages: tuple[Language, Language] = ("en", "zh")
    assert len({heading(name, language) for language in languages}) == 2
    for figures in (EVERY, LOCAL):
        assert len({len(list(exchange_lines(figures, language))) for language in languages}) == 1
