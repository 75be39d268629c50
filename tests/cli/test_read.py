"""``artery read`` on the command line."""

from __future__ import annotations

import json
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import jsonschema
import pytest

from artery.cli import main
from artery.formats.recognise import formats
from tests.report.test_schemas import schema

FIXTURES = Path(__file__).parents[1] / "fixtures"
TOPOLOGY = str(FIXTURES / "nvidia-smi-topo/lost-links.txt")
LOG = str(FIXTURES / "nccl-tests/second-generation-wrong.log")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["read", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_it_says_what_files_are(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, TOPOLOGY, LOG)
    assert code == 0
    out = " ".join(out.split())  # lines are folded
    assert "nvidia-smi-topo (system)" in out
    assert "NV16 beside NV18" in out
    assert "data are wrong" in out
    assert "missing chip" in out


def test_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, TOPOLOGY, "--lang", "zh")
    assert "(系统)" in out
    assert "警告" in out


@pytest.mark.parametrize("extra", [[], ["--anonymise"]])
def test_its_document(capsys: pytest.CaptureFixture[str], extra: list[str]) -> None:
    files = sorted(str(p) for p in FIXTURES.glob("n*/*") if p.is_file())
    code, out, _ = run(capsys, *files, "--json", *extra)
    document = json.loads(out)
    jsonschema.validate(document, schema("read"))
    assert code == 0
    assert len(document["files"]) == len(files)


def test_it_writes_a_system_that_others_take(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = str(tmp_path / "node.toml")
    assert run(capsys, TOPOLOGY, "--set", "chip=h100-sxm", "-o", out)[0] == 0
    assert "# slots are taken as pcie5x16" in Path(out).read_text("utf-8")
    assert main(["expect", "all_reduce", "--on", out, "--size", "1G"]) == 0
    assert "8 rank(s) on 1 node(s)" in capsys.readouterr().out


def test_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(Path(TOPOLOGY).read_bytes())))
    code, out, _ = run(capsys, "-", "--json")
    assert code == 0
    assert json.loads(out)["files"][0]["format"] == "nvidia-smi-topo"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "FILE"),
        ((TOPOLOGY, LOG, "-o", "x"), 2, "one FILE"),
        ((TOPOLOGY, "--set", "chip=h100-sxm"), 2, "-o"),
        ((TOPOLOGY, "-o", "x", "--anonymise"), 2, "--anonymise"),
        ((TOPOLOGY, "-o", "-"), 3, "which chips these are"),
        ((LOG, "-o", "-"), 3, "must describe chips"),
        (("missing.txt",), 3, "no such file"),
        ((TOPOLOGY, "--format", "nvidia-smi-top"), 3, "did you mean"),
    ],
)
def test_what_is_wrong_is_said(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, words: str
) -> None:
    found, out, err = run(capsys, *arguments)
    assert (found, out) == (code, "")
    assert words in err


@pytest.mark.parametrize("command", ["read", "lint"])
def test_an_empty_file_is_called_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    path = tmp_path / "empty.txt"
    path.write_text("\n", "utf-8")
    assert main([command, str(path)]) == 3
    told = capsys.readouterr().err
    assert "an empty file, " in " ".join(told.split())
    assert '"nothing"' not in told


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_formats_are_listed(language: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", "--formats", "--lang", language]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["nccl-tests", "measurement" if language == "en" else "测量"] in rows
    assert rows == sorted(rows)
    assert len(rows) == len(formats())


@pytest.mark.parametrize(
    "beside", [["--json"], ["-o", "-"], [TOPOLOGY], ["--set", "a=1"], ["--format", "imb"]]
)
@pytest.mark.parametrize(("language", "words"), [("en", "only --lang"), ("zh", "只能加 --lang")])
def test_nothing_beside_the_list_of_formats_is_passed_over(
    beside: list[str], language: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "--formats", *beside, "--lang", language)
    assert (code, out) == (2, "")
    assert words in err


def test_an_unknown_file_is_told_where_the_formats_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.txt"
    file.write_text("a poem", encoding="utf-8")
    for language in ("en", "zh"):
        assert main(["read", str(file), "--lang", language]) == 3
        told = capsys.readouterr().err
        assert "artery read --formats" in told
        assert "megatron" not in told
