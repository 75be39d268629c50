"""Which engine plays a work, and why: the cheapest one that is right for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from artery.errors import InputError, Problem
from artery.simulator.pipes import playable
from artery.simulator.placed import Placed
from artery.simulator.scenario import Scenario
from artery.simulator.work import transfers_of

Engine = Literal["coupled", "messages", "fluid"]

MOST_MESSAGES: Final = 6_000_000
"""Messages that are played one by one: some ten seconds and 600 MB on one core."""

COUPLED_FROM: Final = 4_000
"""Messages from which a pipelined collective is taken as one variable: exact enough (1 %), and
its cost does not grow with the steps."""

BULK: Final = 8 * 2**20
"""Bytes from which transfers that share a link share it fairly: ten transport windows and more
(notes of the engines' comparison: fluid within 4 % there, up to 27 % off below)."""

ERROR: Final = {"coupled": 0.01, "messages": 0.05, "fluid": 0.04}
"""Error against packets that the engines' suite allows: worst case of each, as a share."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The engine, why it was taken, and how far off it may be."""

    engine: Engine
    reason: str
    error: float


def choose(jobs: tuple[Placed, ...], scenario: Scenario) -> Chosen:
    """Return the engine for ``jobs`` under ``scenario``.

    Raises ``InputError`` where no engine can play them: too many messages and no pipelined form.
    """
    count = sum(transfers_of(job) for job in jobs)
    pipelined = all(playable(job) for job in jobs) and not scenario.slow
    if scenario.engine != "auto":
        return _forced(scenario.engine, count, pipelined=pipelined)
    if pipelined and count > COUPLED_FROM:
        return Chosen(
            "coupled", f"pipelined: {count:,} messages are one variable a pipe", ERROR["coupled"]
        )
    if count > MOST_MESSAGES:
        raise _too_many(count)
    smallest = min((job.size // max(job.schedule.chunks, 1) for job in jobs), default=0)
    if smallest >= BULK and scenario.routing != "spray":
        return Chosen("fluid", "long transfers that share links share them fairly", ERROR["fluid"])
    return Chosen("messages", f"{count:,} messages, played one by one", ERROR["messages"])


def _forced(engine: Engine, count: int, *, pipelined: bool) -> Chosen:
    if engine == "coupled" and not pipelined:
        raise InputError(
            Problem(
                field="engine",
                found="coupled",
                rule="it plays pipelined collectives between chips, without slow ranks",
                fix="--engine messages",
            )
        )
    if engine != "coupled" and count > MOST_MESSAGES:
        raise _too_many(count)
    return Chosen(engine, "asked for", ERROR[engine])


def _too_many(count: int) -> InputError:
    return InputError(
        Problem(
            field="algorithm",
            found=f"{count:,} messages",
            rule=f"at most {MOST_MESSAGES:,} are played one by one",
            fix="a pipelined algorithm (ring, tree), or fewer chips",
        )
    )
