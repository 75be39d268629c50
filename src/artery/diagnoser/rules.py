"""The rule base of causes, read from ``causes/*.toml``: one table per cause.

::

    [half_the_cards]
    en = "half of the network cards"          # said after "with"
    zh = "..."
    prior = 0.08                              # how common among slow runs; assumed
    scope = "network"                         # "node", "network" or "any"
    needs = []                                # facts without which nothing can be said
    worlds = [{network = 0.5}]                # how the cause changes system and library
    tolerance = 0.3                           # spread of log(measured / priced), if above usual
    asks = "nic_rate"                         # the fact to ask for where this comes first
    ceiling = true                            # said of a healthy run too: no fault, but a limit
    by_size = true                            # of sizes that are known the expectation knows it
    stops = true                              # the run did not end: no number makes it healthy
    verdict = "faulty"                        # if evidence alone proves it; else degraded
    next = "command to run next"
    reference = "where this was seen"
    [[half_the_cards.evidence]]
    fact = "..."                              # with is, above or below; or says = "regex",
    odds = 10                                 # or shape = "falling"; factor on the odds
    person = true                             # says: only in words that somebody wrote
    fault = true                              # a fault in itself, whatever the numbers say

``worlds`` are tables of :data:`artery.diagnoser.rules.World`; several are variants of one cause,
of which the best counts. A cause without worlds explains by evidence alone.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from artery import units
from artery.catalog.structure import fill
from artery.diagnoser.case import Case, Fact, Said, number

World = Mapping[str, Fact]
"""What a cause changes, each key optional:

``network``, ``above_leaf``, ``node``: share of the bandwidth that is left between nodes, above
the leaves, inside the node; ``node_cap``: B/s that a node gets out at most; ``transport``: kind of
network that the library uses instead; ``in_switch = false``: no reduction in NVSwitches;
``staged``: chips of a node reach each other over PCIe, through host memory if true; ``algorithm``.
A value ``=NAME`` is that of the fact called NAME.
"""

WORLD_KEYS: Final = frozenset(
    {"network", "above_leaf", "node", "node_cap", "transport", "in_switch", "staged", "algorithm"}
)

Scope = Literal["node", "network", "any"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A condition, and the factor by which the odds of its cause change if it holds.

    Exactly one of ``fact``, ``says`` and ``shape`` is given. Below one it speaks against.
    A fact without a condition is met where it is known. ``person``: only words that somebody
    wrote about the case count, no lines of tools. ``fault``: what it tells of is to be repaired
    even where the numbers are as they should be.
    """

    odds: float
    fact: str | None = None
    equals: Fact | None = None
    above: float | None = None
    below: float | None = None
    says: str | None = None
    shape: str | None = None
    person: bool = False
    fault: bool = False

    def met(self, case: Case, shape: str | None) -> str | None:
        """Return what meets the condition, as a line of evidence; ``None`` if nothing does."""
        if self.shape is not None:
            return f"the curve is {shape}" if shape == self.shape else None
        if self.says is not None:
            lines = (one for one in case.said if one.person or not self.person)
            line = _line(self.says, lines)
            return None if line is None else f"{line.source}: {_short(line.text)}"
        name = self.fact or ""
        value = case.facts.get(name)
        if value is None or not self._holds(value):
            return None
        return f"{case.origins.get(name, 'facts')}: {name.replace('_', ' ')} = {shown(value, name)}"

    def _holds(self, value: Fact) -> bool:
        if self.equals is not None:
            return value == self.equals
        if self.above is None and self.below is None:
            return value is not False
        if isinstance(value, (str, bool)):
            return False
        over = self.above is None or value > self.above
        return over and (self.below is None or value < self.below)


@dataclass(frozen=True, slots=True)
class Cause:
    """One entry of the rule base; see the module."""

    key: str
    en: str
    zh: str
    prior: float
    next: str
    reference: str
    scope: Scope = "any"
    needs: tuple[str, ...] = ()
    worlds: tuple[World, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    only_with_evidence: bool = False
    tolerance: float = 0.0
    verdict: Literal["faulty", "degraded", "healthy", "refused"] = "degraded"
    asks: str = ""
    ceiling: bool = False
    by_size: bool = False
    stops: bool = False


@cache
def causes() -> tuple[Cause, ...]:
    """Return the whole rule base, in the order of the files' names and within them."""
    folder = files("artery.diagnoser").joinpath("causes")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    found: list[Cause] = []
    for name in names:
        tables = tomllib.loads(folder.joinpath(name).read_text("utf-8"))
        found += [fill(Cause, {"key": key, **_renamed(table)}) for key, table in tables.items()]
    return tuple(found)


def worlds_of(cause: Cause, facts: Mapping[str, Fact]) -> tuple[World, ...]:
    """Return the worlds of ``cause`` with facts put in for their names.

    A world that names a fact holds where the fact is known, and then it alone; the others are what
    to think of where nobody knows.
    """
    exact = [world for world in cause.worlds if any(map(_named, world.values()))]
    known = [
        {key: facts[_named(value)] if _named(value) else value for key, value in world.items()}
        for world in exact
        if all(_named(value) in facts for value in world.values() if _named(value))
    ]
    if known:
        return tuple(known)
    return _whole_links(tuple(world for world in cause.worlds if world not in exact), facts)


def _whole_links(worlds: tuple[World, ...], facts: Mapping[str, Fact]) -> tuple[World, ...]:
    """Return worlds of shares of the links in a node as whole numbers of a chip's links.

    From half of them to all but one; as they are where nobody knows how many a chip has.
    """
    ports = number(facts, "nvlink_ports")
    if not ports or not worlds or any(set(world) != {"node"} for world in worlds):
        return worlds
    least = -int(-ports // 2)
    return tuple({"node": count / ports} for count in range(int(ports) - 1, least - 1, -1))


def _named(value: Fact) -> str:
    """Return the name of the fact that a value of a world stands for; empty for any other."""
    return value[1:] if isinstance(value, str) and value.startswith("=") else ""


_SHOWN: Final[Mapping[str, Callable[[float], str]]] = {
    "nic_rate": units.show_line_rate,
    "implied_network_rate": units.show_rate,
    "largest_size": units.show_bytes,
    "size": units.show_bytes,
    "memory_per_gpu": units.show_bytes,
    "parameters": units.show_count,
    "network_plateau": units.show_rate,
    "memory_needed": units.show_bytes,
    **dict.fromkeys(
        (
            "active_share", "cards_used_share", "efficiency_across", "efficiency_in_node",
            "exposed_share", "idle_share", "leaf_uplinks_left", "mfu_dense",
            "mfu_of_active_parameters", "mfu_said", "mfu_sparse",
            "network_measured_share", "of_expected", "pcie_share", "shm_pairs_share",
            "states_over_memory",
        ),
        units.show_percent,
    ),
}  # fmt: skip
"""Facts that have a unit, and shares; the others are counts and words."""


def shown(value: Fact, name: str = "") -> str:
    """Return a fact as people write it, in its unit if it is the fact called ``name``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return _SHOWN[name](value) if name in _SHOWN else f"{value:g}"


def _renamed(table: Mapping[str, object]) -> dict[str, object]:
    """Return a cause's table with ``is`` called ``equals``, which Python allows as a name."""
    rows = table.get("evidence")
    listed = rows if isinstance(rows, list) else []
    renamed = [{("equals" if key == "is" else key): row[key] for key in row} for row in listed]
    return {**table, "evidence": renamed}


def _line(pattern: str, said: Iterable[Said]) -> Said | None:
    expression = _compiled(pattern)
    return next((line for line in said if expression.search(line.text[:2000])), None)


_LONGEST: Final = 160
"""Characters of a line that are shown as evidence."""


def _short(text: str) -> str:
    """Return ``text``, cut between words where it is long."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - 3].rsplit(' ', 1)[0].rstrip(' ,;:')}..."


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
