"""Labs for tests: brought up, used and taken down by the command, as a user would."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import jsonschema

from artery.cli import main

ROOT: Final = Path(__file__).parents[2]
UNPRIVILEGED: Final = (
    str(Path(__file__).with_name("unprivileged.sh")),
    str(ROOT),
    sys.prefix,
    sys.base_prefix,
    "--",
)
"""The beginning of a command that runs as nobody, without a capability."""

PATIENCE: Final = 240.0


def artery(*arguments: str, before: Sequence[str] = (), code: int = 0) -> dict[str, Any]:
    """Run ``artery lab ... --json`` and return its document, which keeps to the schema.

    With ``before`` it is a process of its own, else this one.
    """
    words = ["lab", *arguments]
    if before:
        done = subprocess.run(
            [*before, sys.executable, "-m", "artery", *words],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            cwd=ROOT,
        )
        ended, said = done.returncode, done.stdout
        assert ended == code, f"{said}\n{done.stderr}"
    else:
        out = io.StringIO()
        with redirect_stdout(out):
            ended = main(words)
        said = out.getvalue()
        assert ended == code, said
    found: dict[str, Any] = json.loads(said)
    schema = json.loads(files("artery.report").joinpath("schemas/lab.json").read_text("utf-8"))
    jsonschema.validate(found, schema)
    return found


@contextmanager
def up(system: str, *options: str, before: Sequence[str] = ()) -> Iterator[str]:
    """Yield the name of a lab of ``system``, taken down at the end."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    artery("up", system, "--name", name, "--json", *options, before=before)
    try:
        yield name
    finally:
        artery("down", "--name", name, "--json", before=before)


def load() -> str:
    """Return the machine's load as a test prints it."""
    return f"load average {os.getloadavg()[0]:.1f}, {len(os.sched_getaffinity(0))} cores"


def off(row: dict[str, Any]) -> float:
    """Return the largest ratio between the closed form, the simulator and the median."""
    three = (row["closed_form_s"], row["simulated_s"], row["median_s"])
    return float(max(three) / min(three))
