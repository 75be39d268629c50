"""How a simulated network is told."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from string import Formatter

import pytest

from artery.answers.plan import plan
from artery.answers.plan.contention import Exchange, Fought, Network, Spread
from artery.report.contention import contention_lines
from artery.report.contention.words import CONTENTION_WORDS
from artery.report.drawing.terminal import draw
from artery.report.plan import plan_drawing
from artery.report.words import Language

SLOW = Exchange(
    kind="dp", collective="reduce_scatter", algorithm="Ring", groups=128, ranks=16, stride=8,
    size=2.0**30, seconds=0.3, alone=0.2, median=0.1, startup=1e-4, closed=0.1, group=5,
    slowest=tuple(range(5, 133, 8)), link=Fought("leaf 3 -> spine 5", "ib", 0.97,
                                                 (("dp", 4), ("pp", 1))),
)  # fmt: skip
WHOLE = Network(2.0, 1.6, (SLOW,), ("pp",), "ecmp", 4)


def told(network: Network, language: Language = "en") -> str:
    text = StringIO()
    draw(contention_lines(network, language), file=text, width=300)
    return " ".join(text.getvalue().split())


def test_the_words_of_both_languages_have_the_same_keys_and_fields() -> None:
    english, chinese = CONTENTION_WORDS["en"], CONTENTION_WORDS["zh"]
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        fields = {field for _, field, _, _ in Formatter().parse(text) if field}
        assert fields == {field for _, field, _, _ in Formatter().parse(chinese[key]) if field}


def test_it_says_how_far_off_who_is_slow_and_on_which_link() -> None:
    said = told(WHOLE)
    assert "hashing, 4 for each pair: step 2.00 s, closed form 1.60 s (+25.0 %)" in said
    assert "data parallel, reduce_scatter of 1.00 GiB in 128 groups of 16: 300 ms" in said
    assert "closed form 100 ms (+200.0 %)" in said
    assert "200 ms without the traffic beside it" in said
    assert "slowest is group 5, ranks 5, 13, 21, 29 ... (16 in all)" in said
    assert "leaf 3 -> spine 5" in said
    assert "4 groups of data parallel, 1 group of pipeline send/recv" in said
    assert "within" not in said


def test_several_seeds_are_told_as_a_range() -> None:
    spread = Spread(20, (1.5, 1.8, 2.5), (0.1, 0.4, 1.1))
    said = told(replace(WHOLE, spread=spread))
    assert "20 seeds: step 1.50 s to 2.50 s" in said
    assert "not hidden 100 ms to 1.10 s" in said
    assert "seeds" not in told(WHOLE)


def test_seeds_that_draw_the_same_are_told_as_one() -> None:
    said = told(replace(WHOLE, spread=Spread(1, (1.5, 1.5, 1.5), (0.4, 0.4, 0.4), whole=True)))
    assert "all seeds draw the same here" in said
    assert "played once" in said
    assert "to 1.50 s" not in said


def test_one_group_is_one_group() -> None:
    assert "in one group of 16: 300 ms" in told(
        replace(WHOLE, exchanges=(replace(SLOW, groups=1),))
    )


def test_where_the_closed_form_is_right_one_line_says_so() -> None:
    close = replace(SLOW, seconds=0.101, alone=0.101, median=0.101)
    said = told(replace(WHOLE, exchanges=(close,), beside=()))
    assert "every collective is within 1.0 %" in said
    assert "slowest" not in said


def test_what_is_not_played_is_said() -> None:
    missing = replace(SLOW, seconds=0.1, alone=0.1, median=0.1, link=None, refused="a torus")
    said = told(replace(WHOLE, exchanges=(missing,)))
    assert "reduce_scatter: not played, the closed form stands: a torus" in said
    assert "within" not in said


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_plan_shows_it_only_when_it_was_asked_for(language: Language) -> None:
    label = CONTENTION_WORDS[language]["label"]
    lines = []
    for network in ("closed", "simulate"):
        text = StringIO()
        answer = plan("gpt2", "dgx-h100:16", network=network, explained=False)
        draw(plan_drawing(answer, language, "gpt2 --on dgx-h100:16"), file=text, width=100)
        lines.append(any(line.split()[:1] == [label] for line in text.getvalue().splitlines()))
    assert lines == [False, True]
