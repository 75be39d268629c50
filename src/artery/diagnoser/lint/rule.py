"""``Rule``: what is wrong, why, what would fix it, where that is said, and both ways written out.

::

    [p2p-disabled]
    level = "error"                     # error, warning or note
    kinds = []                          # of files; none: all
    en = "peer-to-peer between GPUs is off"
    zh = "..."
    why = "..."
    why_zh = "..."
    fix = "..."
    fix_zh = "..."
    reference = "..."
    reference_zh = "..."
    variables = ["NCCL_P2P_DISABLE"]    # with values, a pattern: needs no code
    values = "1"
    fails = "a file that breaks the rule"
    passes = "the same file without it"

A rule without ``variables`` has a function of its identity in one of :data:`MODULES`. ``fails``
and ``passes`` are documentation and test at once.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Final, Literal

from artery.catalog.structure import fill
from artery.formats.launch.file import Kind, LaunchFile

Level = Literal["error", "warning", "note"]
LEVELS: Final[tuple[Level, ...]] = ("error", "warning", "note")
"""Worst first. An error makes the job slow or wrong; a warning will, one day; a note is advice."""

MODULES: Final = ("environment", "kubernetes", "slurm", "torchrun", "counts")


@dataclass(frozen=True, slots=True)
class Found:
    """Where a rule is broken: the line from 1, and what stands there."""

    line: int
    text: str


Check = Callable[[LaunchFile], Iterator[Found]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; see the module. ``kinds`` empty means files of every kind."""

    id: str
    module: str
    level: Level
    en: str
    zh: str
    why: str
    why_zh: str
    fix: str
    fix_zh: str
    reference: str
    reference_zh: str
    fails: str
    passes: str
    kinds: tuple[Kind, ...] = ()
    variables: tuple[str, ...] = ()
    values: str = ".*"

    def applies(self, file: LaunchFile) -> bool:
        """Whether the rule has anything to say of a file of this kind."""
        return not self.kinds or file.kind in self.kinds

    def broken(self, file: LaunchFile) -> Iterator[Found]:
        """Yield every place at which ``file`` breaks the rule."""
        if not self.applies(file):
            return
        if self.variables:
            pattern = re.compile(self.values, re.IGNORECASE)
            for one in file.variables:
                if one.name in self.variables and pattern.fullmatch(one.value.strip()):
                    yield Found(one.line, f"{one.name}={one.value}"[:160])
            return
        yield from _checks()[self.id](file)


@cache
def rules() -> tuple[Rule, ...]:
    """Return all rules in the order of the files and within them."""
    folder = files("artery.diagnoser.lint")
    found: list[Rule] = []
    for module in MODULES:
        tables = tomllib.loads(folder.joinpath(f"{module}.toml").read_text("utf-8"))
        found += [
            fill(Rule, {"id": key, "module": module, **table}) for key, table in tables.items()
        ]
    return tuple(found)


@cache
def _checks() -> Mapping[str, Check]:
    found: dict[str, Check] = {}
    for module in MODULES:
        found |= import_module(f"artery.diagnoser.lint.{module}").CHECKS
    return found
