"""Which engine plays a work, and why: the cheapest one that is right for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from artery.errors import InputError, Problem
from artery.simulator.buffers import Control
from artery.simulator.pipes import playable
from artery.simulator.placed import Placed
from artery.simulator.sampled import samplable
from artery.simulator.scenario import Scenario, protocol
from artery.simulator.work import transfers_of

Engine = Literal["coupled", "messages", "fluid", "sampled"]

MOST_MESSAGES: Final = 6_000_000
"""Messages that are played one by one: some ten seconds and 900 MB on one core."""

MOST_EVENTS: Final = 8_000_000
"""Hops of segments beyond which messages are cut more coarsely: a second or two on one core."""

HOPS: Final = 4
"""Links of a path, for the estimate: two in a node, four to eight in a network."""

COUPLED_FROM: Final = 100_000
"""Messages from which a pipelined collective is taken as one variable per channel: its cost does
not grow with the steps. Trees and switches that add pass on slices so fine that their steps,
played one after the other, would be too slow: they are always taken so."""

AGAIN: Final = 400_000
"""Messages up to which rings that the coupled form may have wrong are played one by one after all:
half a second on one core."""

BULK: Final = 8 * 2**20
"""Bytes from which transfers that share a link share it fairly: ten transport windows and more
(fluid is within 4 % of packets there, and up to 27 % off below)."""

ERROR: Final = {"coupled": 0.03, "messages": 0.05, "fluid": 0.04, "sampled": 0.07}
"""Worst error of each engine in its suite against packets (coupled, sampled: against messages)."""

BETWEEN: Final = 0.10
"""The same of coupled pipes that share links between switches, or are bound by latency about as
much as by bandwidth: rings of 1 to 64 MiB over 64 chips, up to 9 % too fast. What goes round one
ring queues behind the others now here, now there, so that no link sends all the time."""

BROKEN: Final = 0.25
"""The same where links have failed."""

TREES: Final = 0.12
"""The same of trees that may meet on a link: queues do not share it evenly between two of them."""

COARSE: Final = 0.15
"""The same of messages in few large pieces: halving-doubling with colliding paths, 11 to 15 %."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The engine, why it was taken (``why``, with ``count`` messages), how far off it may be.

    ``why`` is ``asked``, ``pipelined``, ``bulk``, ``small``, ``many``, ``meeting`` or ``buffers``.
    ``segment`` is what the message engine cuts messages into, in bytes (0: not at all). ``control``
    is how full port buffers stop their senders (``none``: they are taken as endless).
    """

    engine: Engine
    why: str
    count: int
    error: float
    segment: int
    control: Control = "none"


def choose(jobs: tuple[Placed, ...], scenario: Scenario, control: Control = "none") -> Chosen:
    """Return the engine for ``jobs`` under ``scenario``, where full buffers have ``control``.

    Raises ``InputError`` where no engine can play them: too many messages and no pipelined form,
    or finite buffers that are asked for and would take too long.
    """
    each = {id(job.schedule): transfers_of(job) for job in _distinct(jobs)}
    count = sum(each[id(job.schedule)] for job in jobs)
    found = _held(jobs, scenario, control, count) if control != "none" else None
    found = found or _of_a_sample(jobs, scenario, count)
    if found is not None:
        return found
    pipelined = all(playable(job) for job in jobs) and not scenario.failing
    segment = _segment(jobs, scenario, count)
    coarse = COARSE if segment != protocol(scenario.transport).segment else ERROR["messages"]
    if scenario.engine == "coupled" and not pipelined:
        raise _not_pipelined()
    if scenario.engine == "coupled":
        return Chosen("coupled", "asked", count, ERROR["coupled"], segment)
    if scenario.engine == "auto" and pipelined and (sliced(jobs) or count > COUPLED_FROM):
        return Chosen("coupled", "pipelined", count, ERROR["coupled"], segment)
    if count > MOST_MESSAGES:
        raise _too_many(count)
    if scenario.engine != "auto":
        error = ERROR["fluid"] if scenario.engine == "fluid" else coarse
        return Chosen(scenario.engine, "asked", count, error, segment)
    smallest = min((job.total // max(job.schedule.chunks, 1) for job in jobs), default=0)
    if smallest >= BULK:
        return Chosen("fluid", "bulk", count, ERROR["fluid"], segment)
    return Chosen("messages", "small", count, coarse, segment)


def again(jobs: tuple[Placed, ...], scenario: Scenario, coupled: Chosen) -> Chosen | None:
    """Return the message engine where it is right for what the coupled form may have wrong.

    ``None`` where the coupled form was asked for, is as good, or there are too many messages; or
    slices, for which messages would wait.
    """
    if coupled.why != "pipelined" or coupled.count > AGAIN or sliced(jobs):
        return None
    found = choose(jobs, replace(scenario, engine="messages"))
    return replace(found, why="meeting") if found.error < coupled.error else None


def sliced(jobs: tuple[Placed, ...]) -> bool:
    """Whether all have a pipelined form and slices pass through trees or switches that add."""
    every = all(playable(job) for job in jobs)
    return every and any(pipe.kind != "ring" for job in jobs for pipe in job.schedule.pipes)


def _of_a_sample(jobs: tuple[Placed, ...], scenario: Scenario, count: int) -> Chosen | None:
    """Return the engine that looks at a sample, ``None`` where all can be played, or must be.

    Messages that would have to be played in one piece each cannot be sprayed: of a sample they can.
    """
    asked, able = scenario.engine == "sampled", samplable(jobs, scenario)
    if asked and not able:
        raise _not_samplable()
    whole = scenario.routing == "spray" and not _segment(jobs, scenario, count)
    many = able and scenario.engine == "auto" and (count > MOST_MESSAGES or whole)
    if asked or many:
        return Chosen("sampled", "asked" if asked else "many", count, ERROR["sampled"], 0)
    return None


def _distinct(jobs: tuple[Placed, ...]) -> list[Placed]:
    """Return one job of each schedule: channels often have one in common."""
    return list({id(job.schedule): job for job in jobs}.values())


def _held(
    jobs: tuple[Placed, ...], scenario: Scenario, control: Control, count: int
) -> Chosen | None:
    """Return the message engine with finite buffers, ``None`` where nobody insists on them."""
    segment = protocol(scenario.transport).segment
    events = _events(jobs, segment, count)
    fits = events <= MOST_EVENTS and count <= MOST_MESSAGES
    if fits and scenario.engine in ("auto", "messages"):
        return Chosen("messages", "buffers", count, ERROR["messages"], segment, control)
    if scenario.flow_control == "auto":
        return None
    if not fits:
        raise InputError(
            Problem(
                field="flow-control",
                found=f"{count:,} messages, {events:,.0f} hops of their segments",
                rule=f"finite buffers are played up to {MOST_EVENTS:,} hops",
                fix="--flow-control none, a smaller size, or fewer chips",
            )
        )
    raise InputError(
        Problem(
            field="engine",
            found=f"{scenario.engine} with --flow-control {scenario.flow_control}",
            rule="only the message engine has buffers",
            fix="--engine messages",
        )
    )


def _segment(jobs: tuple[Placed, ...], scenario: Scenario, count: int) -> int:
    """Return the transport's segment, or a coarser one where there would be too many events."""
    segment = protocol(scenario.transport).segment
    while _events(jobs, segment, count) > MOST_EVENTS:
        segment *= 2
        if _moved(jobs) / segment <= count:
            return 0
    return segment


def _moved(jobs: tuple[Placed, ...]) -> float:
    """Return the bytes that all ranks send, or of matrices what they hold."""
    return sum(
        job.total * job.schedule.ranks * job.schedule.wire / max(_buffer(job), 1)
        if isinstance(job.size, int)
        else float(job.size.sum())
        for job in jobs
    )


def _events(jobs: tuple[Placed, ...], segment: int, count: int) -> float:
    """Return about how many hops of segments are played."""
    return (count + _moved(jobs) / segment) * HOPS


def _buffer(job: Placed) -> int:
    """Return the chunks of one rank's buffer."""
    own = job.schedule.collective in {"alltoall", "sendrecv"}
    return job.schedule.chunks // (job.schedule.ranks if own else 1)


def _not_pipelined() -> InputError:
    return InputError(
        Problem(
            field="engine",
            found="coupled",
            rule="it plays pipelined collectives whose links do not fail on the way",
            fix="--engine messages",
        )
    )


def _too_many(count: int) -> InputError:
    return InputError(
        Problem(
            field="algorithm",
            found=f"{count:,} messages",
            rule=f"at most {MOST_MESSAGES:,} are played one by one",
            fix="a pipelined algorithm (ring, tree), an all-to-all sent at once (grouped), of "
            "which a sample will do, or fewer chips",
        )
    )


def _not_samplable() -> InputError:
    return InputError(
        Problem(
            field="engine",
            found="sampled",
            rule="it plays one all-to-all of equal messages, all sent at once (grouped), alone on "
            "a network that does not fail on the way",
            fix="--engine auto",
        )
    )
