"""Ctrl-C at every moment of a command: 130, one line, no traceback."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import click
import pytest

from artery.cli import commands, main

AT_IMPORT = """
import os, signal, sys

awaited = sys.argv[1]

class Finder:
    def find_spec(self, name, path, target=None):
        if name == awaited:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
"""
"""Ctrl-C comes while the module of the first argument is imported."""

AT_END = """
import atexit, os, signal, sys
atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))
"""

SWALLOWED = """
import os, signal, sys, time, types
import click
from artery.cli import commands

class Dying:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

@click.command()
def command():
    Dying()
    time.sleep(400)

commands.import_module = lambda _: types.SimpleNamespace(command=command)
"""
"""Ctrl-C comes where Python ignores every exception."""

RUN = """
from artery.__main__ import run
sys.argv[:2] = ["artery"]
sys.exit(run())
"""


def ended(before: str, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", before + RUN, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=300,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "module",
    ["artery.cli", "click.core", "artery.cli.plan", "artery.answers.plan", "numpy", "rich.text"],
)
def test_while_something_is_imported(module: str) -> None:
    assert ended(AT_IMPORT, module, "plan", "resnet50", "--on", "dgx-1v") == (130, "interrupted\n")


def test_where_exceptions_are_ignored() -> None:
    assert ended(SWALLOWED, "-", "doctor") == (130, "interrupted\n")


def test_while_the_interpreter_ends() -> None:
    assert ended(AT_END, "-", "--help") == (-2, "")


def test_what_it_turned_into_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As Python makes of it what class bodies and C extensions meet while they are imported."""

    @click.command()
    def command() -> None:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr(commands, "import_module", lambda _: SimpleNamespace(command=command))
    assert main(["doctor"], interrupted=lambda: True) == 130
    assert capsys.readouterr().err == "interrupted\n"
