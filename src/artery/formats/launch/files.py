"""Reads whatever file says how a job is started, known by its content."""

from __future__ import annotations

import re
from typing import Final

from artery.errors import InputError, Problem
from artery.formats.k8s.documents import kinds_in
from artery.formats.launch.file import Kind, LaunchFile
from artery.formats.launch.manifest import objects_of
from artery.formats.launch.shell import late_options, script_parts
from artery.formats.launch.shell_words import LARGEST
from artery.formats.text import Text, read_text

_ASSIGNED: Final = re.compile(r"^\s*(?:export\s+)?[A-Za-z_]\w{0,60}=\S?")
_STARTS: Final = re.compile(
    r"(?:^|[;&|({'\"]|\b(?:do|then|else|exec|env|time|sudo|nohup|ssh \S{1,80}))\s*"
    r"(?:[A-Za-z_]\w{0,60}=\S{0,200}\s+){0,20}(?:\S{0,80}/)?"
    r"(?:(?:torchrun|srun|sbatch|mpirun|mpiexec|deepspeed|accelerate launch)(?![`\w.:,-])"
    r"|python3? [-\w./$])"
)
"""A command of a line, not a word of a sentence."""


def read_launch(path: str) -> LaunchFile:
    """Return the file at ``path`` (``-``: standard input) taken apart.

    Raises ``InputError`` if it is neither a script, an environment file nor a manifest.
    """
    return launch_of(read_text(path))


def launch_of(text: Text) -> LaunchFile:
    """Return ``text`` taken apart; raises ``InputError`` if it is nothing that starts a job."""
    kind = _kind(text)
    if kind == "manifest":
        objects = tuple(objects_of(text))
        pods = [pod for one in objects for pod in one.pods]
        return LaunchFile(
            text.path, kind, text.content,
            tuple(setting for pod in pods for setting in pod.variables), {},
            tuple(command for pod in pods for command in pod.commands), objects,
        )  # fmt: skip
    _check_length(text)
    variables, batch, commands = script_parts(text.content)
    return LaunchFile(
        text.path, kind, text.content, tuple(variables), batch, tuple(commands),
        late=tuple(late_options(text.content)),
    )  # fmt: skip


def _check_length(text: Text) -> None:
    """Raise ``InputError`` for a script of which only a part would be looked at."""
    if len(text.content) > LARGEST:
        raise InputError(
            Problem(
                file=text.path,
                found=f"{len(text.content):,} characters",
                rule=f"a script has at most {LARGEST:,} characters",
                fix="cut out the part that starts the job",
            )
        )


def _kind(text: Text) -> Kind:
    lines = [line for line in text.lines if line.strip() and not line.lstrip().startswith("#")]
    if re.search(r"(?m)^#SBATCH\s", text.content):
        return "sbatch"
    if "apiVersion" in text.content and kinds_in(text):
        return "manifest"
    if lines and all(map(_ASSIGNED.match, lines)):
        return "environment"
    if text.content.startswith("#!") or any(map(_STARTS.search, lines)):
        return "script"
    raise InputError(
        Problem(
            file=text.path,
            line=1,
            found=text.opening,
            rule="must be a batch or shell script, NAME=value lines or a Kubernetes manifest",
            fix="send the file with which the job is started",
        )
    )
