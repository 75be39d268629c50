"""How long a fresh process takes to answer, against one that does nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

REPEATS = 5
"""Fresh processes per command, in turn; the fastest counts."""

NOTHING = ("-c", "pass")
COMMANDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("python -c pass", NOTHING),
    ("artery --help", ("-m", "artery", "--help")),
    ("import artery", ("-c", "import artery")),
    (
        "artery plan llama3-405b --on hgx-h100-roce:16384",
        ("-m", "artery", "plan", "llama3-405b", "--on", "hgx-h100-roce:16384"),
    ),
    (
        "artery plan gpt3-175b --on dgx-a100:1024",
        ("-m", "artery", "plan", "gpt3-175b", "--on", "dgx-a100:1024"),
    ),
)


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds from start to end of a fresh process, and their ratio to one that does nothing."""

    command: str
    seconds: float
    ratio: float


def measure() -> list[Start]:
    """Return the start-up of every command. Raises ``CalledProcessError`` if one fails."""
    fastest = {name: float("inf") for name, _ in COMMANDS}
    for _ in range(REPEATS):
        for name, arguments in COMMANDS:
            fastest[name] = min(fastest[name], _seconds(arguments))
    nothing = fastest[COMMANDS[0][0]]
    return [Start(name, seconds, seconds / nothing) for name, seconds in fastest.items()]


def _seconds(arguments: Sequence[str]) -> float:
    start = perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return perf_counter() - start
