"""What ``simulate`` prints, and its files."""

from __future__ import annotations

import csv
import json
import shlex
from io import StringIO
from pathlib import Path

import pytest

from artery.answers.simulate import simulate
from artery.answers.simulate.result import SimulateAnswer
from artery.cli import main
from artery.errors import InputError
from artery.report.drawing.terminal import draw
from artery.report.simulate import simulate_drawing
from artery.report.simulate.files import COLUMNS, link_map, message_trace
from artery.report.simulate.next import next_commands
from artery.report.simulate.words import simulate_words
from artery.report.words import Language


@pytest.fixture(scope="module")
def answer() -> SimulateAnswer:
    return simulate("alltoall", "dgx-h100:16", size="1M", links=3)


def drawn(answer: SimulateAnswer, language: Language) -> str:
    text = StringIO()
    draw(simulate_drawing(answer, language), file=text, width=120)
    return text.getvalue()


def test_both_languages_have_the_same_words() -> None:
    assert simulate_words("en").keys() == simulate_words("zh").keys()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_drawing_says_time_engine_links_and_closed_form(
    answer: SimulateAnswer, language: Language
) -> None:
    word, text = simulate_words(language), drawn(answer, language)
    for key in ("time", "engine", "links", "closed", "next"):
        assert word[key] in text
    assert answer.links[0].name in text
    assert "artery expect alltoall --on dgx-h100:16" in text


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"seeds": 3}, "All seeds draw the same here"),
        ({"algorithm": "best"}, "algorithms tried"),
        ({"background": ["all_reduce:1M:0-7"]}, "at the same time"),
        ({"algorithm": "pairwise"}, "closed form"),
    ],
)
def test_what_was_asked_for_is_shown(options: dict[str, object], word: str) -> None:
    assert word in drawn(simulate("alltoall", "dgx-h100:16", size="1M", **options), "en")


def typed(answer: SimulateAnswer) -> list[list[str]]:
    return [shlex.split(line)[1:] for line in next_commands(answer)]


def test_what_comes_next_is_the_same_network_with_one_thing_changed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    on = str(Path(__file__).parents[1] / "fixtures" / "systems" / "four-leaves.toml") + ":64"
    asked = {"transport": "tcp", "fail_links": "leaf 1 -> spine 0", "slow": ["3=2x", "4=5ms"],
             "background": ["30%"], "placement": "interleaved", "seed": 4,
             "overrides": ["fabric.hop=2 us"]}  # fmt: skip
    found = simulate("all_reduce", on, size="1M", algorithm="ring", **asked)
    lines = typed(found)
    assert [line[0] for line in lines] == ["simulate", "simulate", "expect"]
    for line in lines[:2]:
        assert main([*line, "--json"]) == 0
        again = json.loads(capsys.readouterr().out)
        for name, value in asked.items():
            assert again["request"][name] == value, name
    assert lines[1][lines[1].index("--routing") + 1] == "spray"
    assert main(lines[2]) == 0


def test_spraying_is_not_proposed_where_there_is_one_path() -> None:
    found = simulate("all_reduce", "dgx-h100:16", size="1M")
    assert not any("spray" in line for line in typed(found))


def test_links_that_are_down_are_named_and_counted() -> None:
    found = simulate("all_reduce", "rail-clos-h100:1024", size="1M", fail_links="1%", links=0)
    text = drawn(found, "en")
    assert "10 of 1,024 links between switches: leaf" in text
    assert "and 7 more" in text


def test_a_matrix_stands_beside_what_an_even_one_would_take(tmp_path: Path) -> None:
    matrix = tmp_path / "m.csv"
    matrix.write_text("0,64M\n0,0\n")
    found = simulate("alltoall", "dgx-h100:2", matrix=str(matrix))
    assert "if every rank sent 64.0 MiB, as the busiest does" in drawn(found, "en")
    assert all("--size" not in line for line in typed(found) if line[0] == "simulate")


def test_the_start_of_very_many_steps_says_how_many() -> None:
    found = simulate("all_reduce", "dgx-h100:1024", size="1M", algorithm="ring", links=0)
    assert found.steps == 2 * 1023
    assert "to start and in 2,046 steps" in " ".join(drawn(found, "en").split())


def test_the_map_holds_every_link_that_carried_bytes(answer: SimulateAnswer) -> None:
    rows = list(csv.DictReader(StringIO(link_map(answer, as_json=False))))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == (answer.simulation.carried > 0).sum()
    assert sum(int(row["carried_bytes"]) for row in rows) == answer.simulation.carried.sum()
    loaded = json.loads(link_map(answer, as_json=True))
    assert [row["link"] for row in loaded] == [int(row["link"]) for row in rows]


def test_the_timeline_holds_every_message(answer: SimulateAnswer) -> None:
    document = json.loads(message_trace(answer))
    sends = [event for event in document["traceEvents"] if event["ph"] == "X"]
    assert len(sends) == 16 * 15
    assert all(event["dur"] >= 0 for event in sends)
    last = max(event["args"]["delivered_us"] for event in sends)
    assert last == pytest.approx(answer.network * 1e6)


@pytest.mark.parametrize(("language", "said"), [("en", "all after"), ("zh", "后已全部发完")])
def test_a_timeline_that_ends_before_the_answer_is_told(language: Language, said: str) -> None:
    found = simulate("all_reduce", "dgx-h100:32", size="64M", algorithm="ring", links=0)
    document = json.loads(message_trace(found))
    sends = [event for event in document["traceEvents"] if event["ph"] == "X"]
    last = max(event["args"]["delivered_us"] for event in sends)
    assert document["otherData"]["links_us"] == pytest.approx(last)
    assert document["otherData"]["network_us"] == pytest.approx(found.network * 1e6)
    assert last < 0.95 * found.network * 1e6
    text = "".join(drawn(found, language).split())
    assert said.replace(" ", "") in text
    assert f"{last:.0f}µs" in text


def test_a_coupled_run_has_no_timeline() -> None:
    coupled = simulate("all_reduce", "dgx-h100:16", size="1G", algorithm="ring", engine="coupled")
    with pytest.raises(InputError, match="--engine messages"):
        message_trace(coupled)


def test_the_command_writes_its_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, line = tmp_path / "map.json", tmp_path / "trace.json"
    arguments = ["simulate", "alltoall", "--on", "dgx-h100:8", "--size", "1M", "--lang", "en"]
    assert main([*arguments, "--map", str(table), "--trace", str(line)]) == 0
    assert json.loads(table.read_text())[0]["load"] > 0.5
    assert json.loads(line.read_text())["traceEvents"]
    assert "alltoall of 1.00 MiB on dgx-h100: 8 rank(s)" in capsys.readouterr().out
