from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from artery.answers.plan.collectives import Chosen
from artery.answers.plan.result import PlanAnswer
from artery.report.drawing.terminal import draw
from artery.report.plan import plan_drawing
from artery.report.words import Language
from tests import factories, snapshot

ASKED = "toy-70b --on toy-pod:64"


def text(answer: PlanAnswer, language: Language = "en", width: int = 80) -> str:
    out = io.StringIO()
    draw(plan_drawing(answer, language, ASKED), file=out, width=width)
    return out.getvalue()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [80, 120])
def test_snapshot(language: Language, width: int) -> None:
    snapshot.check(f"plan.{language}.{width}.txt", text(factories.answer(), language, width))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_snapshot_of_what_does_not_fit(language: Language) -> None:
    snapshot.check(f"plan-too-big.{language}.txt", text(factories.infeasible(), language))


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_line_is_wider_than_the_terminal(language: Language, width: int) -> None:
    for line in text(factories.answer(), language, width).splitlines():
        assert cell_len(line) <= width


def test_without_a_terminal_there_is_no_colour_and_no_trailing_space() -> None:
    drawn = text(factories.answer())
    assert "\x1b" not in drawn
    assert not re.search(r" +\n", drawn)


def test_the_shares_are_of_the_step() -> None:
    shares = [float(found) for found in re.findall(r"█.*?([\d.]+) %", text(factories.answer()))]
    assert shares[0] == pytest.approx(100 * 4.0 / 7.0, abs=0.05)
    assert shares == sorted(shares, reverse=True)


def test_parts_that_take_no_time_are_not_drawn() -> None:
    assert "expert all-to-all" not in text(factories.answer())


def test_alternatives_show_only_what_differs() -> None:
    block = text(factories.answer()).split("alternatives")[1]
    assert "tp 8 · dp 2" in block
    assert "global batch" not in block


def test_a_single_plan_has_no_alternatives() -> None:
    assert "alternatives" not in text(factories.answer(factories.result()))


def test_unknown_price_and_energy_are_said() -> None:
    result = replace(factories.result(), energy_per_step=None, cost_per_hour=None, run=None)
    drawn = text(factories.answer(result))
    assert "price unknown" in drawn
    assert "energy unknown" in drawn
    assert "$" not in drawn


def test_a_workload_without_tokens_counts_samples() -> None:
    drawn = text(factories.answer(replace(factories.result(), tokens_per_s=None)))
    assert "18.3 samples/s" in drawn  # 128 samples in 7 s
    assert "tokens/s" not in drawn


def test_the_next_commands_open_the_largest_part_that_is_not_compute() -> None:
    assert f"artery explain {ASKED} step.tp" in text(factories.answer())


def test_scale_is_not_offered_for_a_saved_plan_which_it_does_not_take() -> None:
    out = io.StringIO()
    draw(plan_drawing(factories.answer(), "en", "--from plan.json"), file=out, width=80)
    assert "artery plan --from plan.json --json" in out.getvalue()
    assert "artery scale" not in out.getvalue()
    assert f"artery scale {ASKED}" in text(factories.answer())


@pytest.mark.parametrize(
    ("language", "line"),
    [
        (
            "en",
            "collectives tensor parallel NVLS (summed in the node's switches) · data parallel Ring",
        ),
        ("zh", "集合通信 张量并行 NVLS (由节点内交换机求和) · 数据并行 Ring"),
    ],
)
def test_algorithms_stand_in_one_line_where_there_is_a_choice(
    language: Language, line: str
) -> None:
    found = factories.answer()
    chosen = (
        Chosen("tp", "all_reduce", 8, 1, 1e6, "NVLS", "Simple", 1e-4),
        Chosen("pp", "sendrecv", 4, 8, 1e6, "SendRecv", "Simple", 1e-4),
        Chosen("dp", "reduce_scatter", 2, 8, 1e6, "Ring", "Simple", 1e-4),
        Chosen("dp", "all_gather", 2, 8, 1e6, "Ring", "Simple", 1e-4),
    )
    told = replace(found, plans=(replace(found.plans[0], collectives=chosen),))
    assert line in " ".join(text(told, language, 120).split())


def test_an_algorithm_of_which_one_collective_is_summed_stands_once() -> None:
    found = factories.answer()
    chosen = (
        Chosen("dp", "all_reduce", 8, 8, 1e6, "CollNet", "Simple", 1e-4),
        Chosen("dp", "all_gather", 8, 8, 1e6, "CollNet", "Simple", 1e-4),
    )
    told = replace(found, plans=(replace(found.plans[0], collectives=chosen),))
    line = "data parallel CollNet (summed in network switches) "
    assert line in " ".join(text(told, "en", 120).split())


def test_on_a_terminal_the_groups_have_their_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLORTERM", "truecolor")
    drawn = text(factories.answer())
    assert "38;2;0;114;178m█" in drawn  # compute, #0072B2
    assert "38;2;230;159;0m█" in drawn  # communication, #E69F00


def test_no_color_is_kept_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLORTERM", "truecolor")
    assert "38;2;" not in text(factories.answer())
