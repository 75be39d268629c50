"""The shared options and parameter types: values with units, overrides, languages."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from artery.cli import main, options


@click.command()
@options.model_argument
@options.system_option
@options.set_option
@options.shared_options
@click.option("--rate", type=options.quantity("B/s", directed=True))
@click.option("--size", type=options.SIZE)
@click.option("--tokens", type=options.COUNT)
def probe(**values: object) -> None:
    """Print what the options were read as."""
    for name, value in sorted(values.items()):
        click.echo(f"{name}={value!r}")


def run(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(probe, ["gpt", "--on", "dgx", *arguments], env=environment)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--rate", "400 Gb/s"), "rate=50000000000.0"),
        (("--size", "1M"), "size=1048576"),
        (("--tokens", "15T"), "tokens=15000000000000"),
        (("--json",), "as_json=True"),
        (("--lang", "zh"), "lang='zh'"),
        ((), "out='-'"),
        (("-o", "x.json"), "out='x.json'"),
        (("--set", "a.b=1", "--set", "c = 2 GB"), "overrides=('a.b=1', 'c = 2 GB')"),
        ((), "model='gpt'"),
        ((), "on='dgx'"),
    ],
)
def test_values_are_read(arguments: tuple[str, ...], line: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert line in result.output.splitlines()


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("--rate", "400 GB/s"), "both ways"),
        (("--rate", "400"), "needs a unit"),
        (("--size", "1Mb"), '"16G"'),
        (("--tokens", "-3"), "whole number"),
        (("--set", "bandwidth"), "PATH=VALUE"),
        (("--set", "=3"), "PATH=VALUE"),
    ],
)
def test_wrong_values_are_usage_errors_that_say_what_to_write(
    arguments: tuple[str, ...], hint: str
) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert hint in result.output
    assert arguments[0] in result.output


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "en_GB.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "C", "LC_MESSAGES": "zh_TW.UTF-8"}, "zh"),
        ({}, "en"),
    ],
)
def test_the_language_follows_the_locale(environment: dict[str, str], language: str) -> None:
    assert f"lang='{language}'" in run(**environment).output


def test_one_size_and_a_range_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["expect", "all_reduce", "--on", "dgx-h100", "--size", "8", "--sizes", "8:16:x2"]
    assert main(words) == 2
    assert "--size and --sizes" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ("expect", "all_reduce", "--on", "{toml}:16"),
        ("plan", "gpt2", "--on", "{toml}"),
        ("scale", "gpt2", "--on", "{toml}", "--chips", "8"),
        ("simulate", "all_reduce", "--on", "{toml}"),
        ("simulate", "--work", "{toml}", "--on", "dgx-h100:8"),
        ("simulate", "all_reduce", "--on", "dgx-h100:8", "--placement", "{toml}"),
        ("simulate", "alltoall", "--on", "dgx-h100:8", "--matrix", "{toml}"),
        ("expect", "all_reduce", "--on", "dgx-h100", "--set", "chip={toml}"),
        ("expect", "all_reduce", "--on", "ib.txt", "--node", "{toml}"),
        ("fabric", "check", "{toml}"),
        ("fabric", "diff", "other.txt", "{toml}"),
        ("fabric", "export", "{toml}:16", "--to", "csv"),
        ("schedule", "{toml}", "--on", "dgx-h100:64"),
        ("diagnose", "{toml}"),
        ("lint", "{toml}"),
        ("read", "{toml}"),
        ("calibrate", "{toml}", "--on", "dgx-h100"),
        ("explain", "--from", "{toml}"),
        ("goodput", "gpt2", "--on", "{toml}"),
    ],
    ids=" ".join,
)
def test_no_command_writes_over_what_it_reads(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("as it was", encoding="utf-8")
    for language, said in (("en", "would write over"), ("zh", "会覆盖所读的")):
        out = str(tmp_path / "x" / ".." / "mine.toml")  # the same file by another name
        (tmp_path / "x").mkdir(exist_ok=True)
        line = [word.format(toml=file) for word in words]
        assert main([*line, "-o", out, "--lang", language]) == 2
        assert said in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == "as it was"


@pytest.mark.parametrize(
    "words",
    [
        ("simulate", "all_reduce", "--on", "dgx-h100:8", "--map", "{json}", "--trace", "{json}"),
        ("simulate", "all_reduce", "--on", "dgx-h100:8", "--map", "{json}", "-o", "{json}"),
        ("simulate", "all_reduce", "--on", "dgx-h100:8", "--trace", "-"),
        ("plan", "gpt2", "--on", "dgx-h100:8", "--trace", "{json}", "-o", "{json}"),
        ("plan", "gpt2", "--on", "dgx-h100:8", "--trace", "-"),
    ],
    ids=" ".join,
)
def test_two_outputs_are_not_written_into_one_place(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for language, said in (("en", "both write"), ("zh", "都写")):
        line = [word.format(json=tmp_path / "x.json") for word in words]
        assert main([*line, "--lang", language]) == 2
        assert said in capsys.readouterr().err


def test_an_output_replaces_what_stands_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # A bare word is the collective's name, whatever file of that name is there.
    for _ in range(2):
        asked = ["expect", "all_reduce", "--on", "dgx-h100:8", "--size", "1M", "--json"]
        assert main([*asked, "-o", "all_reduce"]) == 0
    assert '"schema": "artery.expect/1"' in (tmp_path / "all_reduce").read_text("utf-8")
    assert capsys.readouterr().err == ""
