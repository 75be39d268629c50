"""An all-to-all in rounds, of more messages than can be played: some of its rounds stand for all.

Round after round every rank sends to those a little further away, and begins the next when it has
sent and received what belongs to this. Nobody waits for all others. Whoever is late holds up those
that it sends to; its neighbours, a round ahead, send to the same target. So ranks come apart, and
the further they are, the more they are in each other's way: after some tens of rounds each takes
up to twice as long as the first ones. It is the successive rounds that do so: rounds that are
drawn one by one stay in step.

So windows of successive rounds are played message by message, one from every stretch of
distances, as long as it takes for the ranks to come apart and as long again, which is what counts.
Where even one such window is too much, a shorter one is played, and what it takes is raised by how
much longer rounds take in the end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Final, NamedTuple

import numpy as np

from artery.core.arrays import Ints
from artery.core.system import System
from artery.native.messages import Transport, messages
from artery.native.work import PICOSECONDS
from artery.simulator.explicit.work import explicit
from artery.simulator.network.wires import Wires
from artery.simulator.placed import Placed
from artery.simulator.scenario import Scenario

MOST_HOPS: Final = 40_000_000
"""Hops of segments that are played in all windows together: five seconds on one core."""

HOPS: Final = 9
"""Links of a path between nodes, for the estimate: card, switches inside and between nodes."""

PIECES: Final = 2
"""Pieces of a message: in two it takes as long as in eight, give or take 6 % and once 11 (512 and
1,024 chips); the fewer, the more rounds are played."""

WAYS: Final = 8
"""The same where they are sprayed: ways that a message takes."""

ROUNDS: Final = 64
STEPS: Final = 24
"""Rounds after which ranks are as far apart as they get, of one message and of several."""


class Bounds(NamedTuple):
    """Seconds of all rounds over those of as many at the pace of a window: least, usual, most."""

    least: float
    usual: float
    most: float


LONE: Final = Bounds(0.7, 1.0, 1.5), Bounds(0.78, 1.2, 1.8)
SEVERAL: Final = Bounds(0.78, 1.05, 1.6), Bounds(0.95, 1.4, 2.4)
"""The same of rounds of one message and of several: where ranks came apart in the window, and where
it was too short (24 messages a rank). All rounds, played on 256 to 2,048 chips of three fat trees,
whole and with 1 % of the cables down, 16 MiB to 1 GiB: 0.75 to 1.48 and 0.80 to 1.73 for one
message, 0.80 to 1.54 and 0.99 to 2.32 for several."""


@dataclass(frozen=True, slots=True, eq=False)
class Rounds:
    """What the windows took.

    ``seconds`` of all rounds: 5, 50 and 95 of a hundred draws; ``carried`` bytes per directed link
    by all rounds, estimated; ``events`` counts hops of segments, ``played`` messages.
    """

    seconds: tuple[float, float, float]
    carried: Ints
    events: int
    played: int


def in_rounds(jobs: tuple[Placed, ...], scenario: Scenario) -> bool:
    """Whether ``jobs`` are one all-to-all of equal messages, in rounds of growing distance."""
    if len(jobs) != 1 or scenario.failing or not isinstance(jobs[0].size, int):
        return False
    schedule = jobs[0].schedule
    return schedule.name in ("pairwise", "windowed") and schedule.steps > 1


def sample(
    system: System, wires: Wires, job: Placed, scenario: Scenario, transport: Transport
) -> Rounds:
    """Return what windows take that are drawn with the scenario's seed.

    ``transport`` says what else is done to messages than to cut them in ``PIECES``.
    """
    schedule = job.schedule
    first, length, apart = _windows(job, scenario)
    size = ceil(job.total / schedule.ranks)
    pieces = _pieces(scenario)
    transport = replace(transport, segment=max(-(-size // pieces), 1), least=pieces)
    carried = np.zeros(len(wires.network.rate))
    pace, behind = [], []
    events = played = 0
    for begin in first.tolist():
        part = _part(job, begin, length)
        work = explicit(system, wires, (part,), replace(scenario, late={})).work
        found = messages(work, transport, None, times=False)
        opened = found.opened.reshape(length + 1, -1) / PICOSECONDS
        at = opened.mean(axis=1)
        pace.append((at[-1] - at[apart]) / (length - apart))
        behind.append(opened.max() - at[-1])
        carried += found.bytes[: len(carried)]
        events += found.events
        played += len(work.transfers.size)
    least, usual, most = _bounds(job, apart)
    all_ = schedule.ranks * (schedule.ranks - 1)
    whole = schedule.steps * float(np.mean(pace)) + float(np.mean(behind))
    return Rounds(
        seconds=(whole * least, whole * usual, whole * most),
        carried=np.rint(carried * (all_ / played)).astype(np.int64),
        events=events,
        played=played,
    )


def _bounds(job: Placed, apart: int) -> Bounds:
    """Return how far off windows are that count from round ``apart`` on."""
    kind = LONE if job.schedule.ports == 1 else SEVERAL
    return kind[apart < _settled(job)]


def _pieces(scenario: Scenario) -> int:
    return WAYS if scenario.routing == "spray" else PIECES


def _settled(job: Placed) -> int:
    """Return after how many rounds the ranks are as far apart as they get."""
    return ROUNDS if job.schedule.ports == 1 else STEPS


def _part(job: Placed, begin: int, length: int) -> Placed:
    """Return the job with some successive rounds only, from time 0 on."""
    schedule = job.schedule
    some = replace(schedule, steps=length, step=lambda k: schedule.step(begin + k))
    return replace(job, schedule=some, release=0)


def _windows(job: Placed, scenario: Scenario) -> tuple[Ints, int, int]:
    """Return the first rounds of the windows, how long each is, and from which round it counts."""
    schedule, apart = job.schedule, _settled(job)
    most = max(MOST_HOPS // (schedule.ranks * schedule.ports * _pieces(scenario) * HOPS), 2)
    length = min(2 * apart, most, schedule.steps)
    if length < 2 * apart:
        apart = length // 2
    many = max(most // length, 1)
    if many * length >= schedule.steps:
        return np.zeros(1, dtype=np.int64), schedule.steps, min(apart, schedule.steps // 2)
    cuts = np.arange(many + 1) * (schedule.steps - length) / many
    drawn = cuts[:-1] + np.random.default_rng(scenario.seed).random(many) * np.diff(cuts)
    return drawn.astype(np.int64), length, apart
