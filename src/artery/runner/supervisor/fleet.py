"""``Fleet``: where a run lives, and how long its supervisor waits for whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

UNBORN: Final = 3, 30
"""Agents in a row that may end before they joined, by themselves and by a signal, until the run is
given up (assumed): who ends by itself has an error that comes again, who is killed may not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Where a run lives.

    ``agents`` of this machine with ``places`` ranks each; ``listen`` is where others may join.
    ``warm``: workers are forked from agents that have torch imported. ``hang``: seconds without
    progress that are too long; ``slow``: a factor over the others' computing that is too slow;
    ``beat``: seconds of silence after which a host is lost (assumed). ``join``: seconds that an
    agent may take to join, importing torch and the data (assumed); one that takes longer counts as
    one that ended by itself. ``signals`` tell the run to save and go. ``replace_agents``: an agent
    of this machine that is lost is started anew.
    """

    agents: int = 1
    places: int = 1
    listen: tuple[str, int] = ("127.0.0.1", 0)
    warm: bool = True
    hang: float = 30.0
    slow: float = 2.0
    beat: float = 10.0
    join: float = 120.0
    signals: tuple[str, ...] = ("SIGTERM", "SIGUSR1", "SIGINT")
    replace_agents: bool = True
