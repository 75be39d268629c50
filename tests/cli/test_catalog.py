"""``artery catalog`` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from artery.cli import main
from artery.cli.commands import COMMANDS


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["catalog", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_alone_it_counts(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys)
    assert code == 0
    assert "chips" in out
    assert "artery catalog list chips" in out


@pytest.mark.parametrize("kind", ["chips", "links", "systems", "models", "profiles"])
def test_it_lists(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    code, out, _ = run(capsys, "list", kind, "--json")
    document = json.loads(out)
    assert (code, document["schema"], document["kind"]) == (0, "artery.catalog/1", kind)
    assert document["items"]


def test_it_shows_a_value_with_unit_source_date_and_confidence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, _ = run(capsys, "show", "h100", "--json")
    (entry,) = json.loads(out)["entries"]
    (peak,) = [value for value in entry["values"] if value["path"] == "peaks.bf16"]
    assert (peak["value"], peak["unit"], peak["confidence"]) == (989.4e12, "FLOP/s", "datasheet")
    assert peak["source"]
    assert peak["as_of"]


def test_it_prints_the_schema_of_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "schema", "system")
    assert json.loads(out)["$schema"].endswith("2020-12/schema")


@pytest.mark.parametrize("name", COMMANDS)
def test_it_prints_the_schema_of_what_a_command_answers(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    code, out, _ = run(capsys, "schema", name)
    assert code == 0
    assert json.loads(out)["properties"]["schema"]["const"] == f"artery.{name}/1"


def test_it_checks_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("base: h100\npower: 500 A\n", encoding="utf-8")
    code, out, err = run(capsys, "show", str(file))
    assert (code, out) == (3, "")
    assert f"{file}:2:1  power" in err


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["show", "h100-sxn"], 3, "h100-sxm"),
        (["list", "chpis"], 3, "chips"),
        (["schema", "model"], 3, "chip"),
        (["list"], 2, "KIND"),
        (["show"], 2, "NAME"),
        (["schema"], 2, "for example system"),
        (["shov", "h100"], 2, "show"),
        (["show", "h100", "more"], 2, "more"),
    ],
)
def test_mistakes(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, word: str
) -> None:
    ended, out, err = run(capsys, *arguments)
    assert (ended, out) == (code, "")
    assert word in err
