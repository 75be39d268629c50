"""The C loops compiled for the tests, whatever is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from ctypes import CDLL
from functools import cache
from pathlib import Path

import pytest

from artery import native
from artery.native import FOLDER, Core

WITH = {"fluid": ("repair",), "packets": ("messages",)}
"""The C files that others call, or that are wanted beside them."""
OPTIONS = ("-std=c11", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")


@cache
def compiled(name: str) -> CDLL:
    """Return the library of one engine, compiled into a folder of its own."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler here")
    place = Path(tempfile.mkdtemp(prefix="artery-native-")) / f"{name}.so"
    sources = [str(FOLDER / f"{one}.c") for one in (name, *WITH.get(name, ()))]
    command = [compiler, *OPTIONS, "-shared", "-fPIC", *sources, "-o", str(place), "-lm"]
    subprocess.run(command, check=True)
    return CDLL(str(place))


def use(monkeypatch: pytest.MonkeyPatch, name: str | None) -> None:
    """Let the C file ``name`` run the loops, or the twins (``None``)."""
    found = Core(compiled(name), "compiled for the tests") if name else Core(None, "twins")
    monkeypatch.setattr(native, "core", lambda: found)
