"""The shared options and parameter types: values with units, overrides, languages."""

from __future__ import annotations

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
