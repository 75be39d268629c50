"""The command line as a whole: exit codes, did-you-mean, quiet endings, light start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

from artery.cli import commands, main
from artery.errors import (
    ArteryError,
    InfeasibleError,
    InputError,
    Problem,
    ThresholdError,
    UsageError,
)
from checks import flags

HEAVY = ("numpy", "pydantic", "rich", "ruamel", "torch", "artery.answers", "artery.core")

PROBLEM = Problem(file="a.toml", line=3, column=1, found="x", rule="must be y", fix="write y")


def raising(error: BaseException) -> click.Command:
    @click.command()
    def command() -> None:
        raise error

    return command


def install(monkeypatch: pytest.MonkeyPatch, command: click.Command) -> None:
    """Let ``artery doctor`` be ``command``."""
    module = SimpleNamespace(command=command)
    monkeypatch.setattr(commands, "import_module", lambda _: module)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RuntimeError("boom"), 1),
        (ArteryError("base"), 1),
        (UsageError("no sense"), 2),
        (click.UsageError("no sense"), 2),
        (InputError(PROBLEM), 3),
        (InfeasibleError("does not fit"), 4),
        (ThresholdError("below 80 %"), 5),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (click.FileError("a.toml", "is gone"), 1),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else str(value),
)
def test_every_ending_has_its_exit_code(
    error: BaseException,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    install(monkeypatch, raising(error))
    assert main(["doctor"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err
    assert "Traceback" not in err


def test_an_input_error_prints_every_problem_with_its_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, raising(InputError([PROBLEM, PROBLEM])))
    main(["doctor"])
    assert capsys.readouterr().err.splitlines() == [
        "error  a.toml:3:1  x, must be y, write y",
        "error  a.toml:3:1  x, must be y, write y",
        "2 problems",
    ]


def test_a_bug_asks_for_a_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, raising(KeyError("tiers")))
    assert main(["doctor"]) == 1
    err = capsys.readouterr().err
    assert "KeyError: 'tiers'" in err
    assert "report" in err
    assert "--debug" in err


def test_debug_prints_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, raising(KeyError("tiers")))
    assert main(["--debug", "doctor"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_alone_it_prints_three_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    examples = [line for line in capsys.readouterr().out.splitlines() if "  artery " in line]
    assert len(examples) == 3


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for name in commands.COMMANDS:
        assert f"  {name} " in out


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_every_command_of_the_table_loads_and_its_help_has_examples_one_a_line(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[lines.index("  Examples:") + 1].startswith(f"    artery {name}")
    assert "\\b" not in out
    assert max(map(len, lines)) <= 80  # examples are not wrapped


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_every_command_takes_the_shared_flags(name: str) -> None:
    listed = flags.flags()
    for flag in ("--json", "--lang en|zh", "-o/--out", "--debug"):
        assert any(
            line.startswith(f"artery {name}") and flag in line for line in listed.splitlines()
        ), flag


def test_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"artery {version('artery')}\n"


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [(["docto"], "doctor"), (["catalogue"], "catalog"), (["doctor", "--jsn"], "--json")],
)
def test_what_is_nearly_right_gets_did_you_mean(
    arguments: list[str], suggestion: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert "Did you mean" in err
    assert suggestion in err


def test_the_flags_are_the_frozen_ones() -> None:
    frozen = flags.FROZEN.read_text(encoding="utf-8")
    assert flags.flags() == frozen, "flags changed: if it is meant, run `make fix` and commit"


def run_python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.parametrize(
    "code",
    ["import artery", "from artery.cli import main; main(['--help'])"],
    ids=["import", "help"],
)
def test_starting_loads_nothing_heavy(code: str) -> None:
    listing = f"{code}; import json, sys; print(); print(json.dumps(sorted(sys.modules)))"
    done = run_python("-c", listing)
    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout.splitlines()[-1])
    heavy = [name for name in loaded if name.startswith(HEAVY)]
    assert heavy == []


def test_a_closed_pipe_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "artery", "doctor", "--json"],
            stdout=writer,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_command_may_end_with_a_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, raising(click.exceptions.Exit(4)))
    assert main(["doctor"]) == 4


def test_colour_is_only_for_terminals() -> None:
    done = run_python("-m", "artery", "docto")
    assert done.returncode == 2
    assert "\x1b" not in done.stderr


def test_the_module_runs_like_the_command(tmp_path: Path) -> None:
    out = tmp_path / "doctor.json"
    done = run_python("-m", "artery", "doctor", "--json", "--out", str(out))
    assert (done.returncode, done.stdout) == (0, "")
    assert json.loads(out.read_text())["schema"] == "artery.doctor/1"


@pytest.mark.parametrize(
    ("shell", "code", "message"),
    [
        ("{} doctor --json >&-", 3, "<stdout>  Bad file descriptor"),
        ("{} plan - --on dgx-h100:8 <&-", 3, "<stdin>:1:1  an empty file"),
        ("{} doctor >/dev/full", 3, "<stdout>  No space left on device"),
        ("{} --lang en plan --help >/dev/full", 3, "<stdout>  No space left on device"),
        ("{} --lang zh plan --help >/dev/full", 3, "<stdout>  磁盘已满"),
        ("{} --help >/dev/full", 3, "<stdout>  No space left on device"),
        ("{} doctor --json -o /dev/null", 0, ""),
        ("{} doctor >/dev/null 2>&-", 0, ""),
        ("{} plna 2>&-", 2, ""),
    ],
)
def test_streams_may_be_closed_or_full(shell: str, code: int, message: str) -> None:
    command = shell.format(f"{sys.executable} -m artery")
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_what_the_locale_cannot_show_is_no_crash() -> None:
    done = run_python(
        "-m", "artery", "catalog", "list", "chips", "--lang", "zh",
        PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "h100-sxm" in done.stdout


@pytest.mark.parametrize(
    ("variable", "value", "coloured"),
    [("NO_COLOR", "1", False), ("NO_COLOR", "", True), ("TERM", "dumb", False)],
)
def test_errors_are_red_unless_no_color_says_so(
    variable: str,
    value: str,
    coloured: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    printed: list[str] = []
    monkeypatch.setattr(click, "echo", lambda text, **_: printed.append(text))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv(variable, value)
    install(monkeypatch, raising(InputError(PROBLEM)))
    main(["doctor"])
    assert ("\x1b[31m" in printed[0]) == coloured


@pytest.mark.parametrize(
    "words",
    [
        ["scale", "resnet50", "--on", "dgx-1v", "--chips", "1,1024", "--parallel-fraction", "0.9"],
        ["catalog", "show", "h100-sxm"],
        ["expect", "all_reduce", "--on", "dgx-h100:16", "--sizes", "8:16G:x32"],
    ],
    ids=lambda words: words[0],
)
def test_no_number_is_cut_on_a_narrow_terminal(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert main(words) == 0
    assert "…" not in capsys.readouterr().out


@pytest.mark.parametrize("more", [["--trace", "-"], ["--trace", "x.json", "-o", "x.json"]])
def test_a_trace_does_not_take_the_answers_place(
    more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "gpt2", "--on", "dgx-h100", *more]) == 2
    assert "both write" in capsys.readouterr().err
