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

WITH = {
    "coupled": ("fluid", "repair"),
    "fluid": ("repair",),
    "messages": ("coupled", "fluid", "repair"),
    "packets": ("messages",),
}
"""The C files that others call, or that are wanted beside them."""
OPTIONS = ("-std=c11", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")


@cache
def compiled(name: str) -> CDLL:
    """Return the library of one engine; its file is gone once it is loaded."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler here")
    sources = [str(FOLDER / f"{one}.c") for one in (name, *WITH.get(name, ()))]
    with tempfile.TemporaryDirectory(prefix="artery-native-") as folder:
        place = str(Path(folder) / f"{name}.so")
        command = [compiler, *OPTIONS, "-shared", "-fPIC", *sources, "-o", place, "-lm"]
        subprocess.run(command, check=True)
        return CDLL(place)


def use(monkeypatch: pytest.MonkeyPatch, name: str | None) -> None:
    """Let the C file ``name`` run the loops, or the twins (``None``)."""
    found = Core(compiled(name), "compiled for the tests") if name else Core(None, "twins")
    monkeypatch.setattr(native, "core", lambda: found)
