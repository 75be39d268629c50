"""Which engine plays a work, and why: the cheapest one that is right for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from artery.errors import InputError, Problem
from artery.simulator.coupled.pipes import SLICE, playable
from artery.simulator.explicit.rounds import in_rounds
from artery.simulator.explicit.sampled import samplable
from artery.simulator.explicit.slices import pieces, sliced, wanted
from artery.simulator.explicit.work import MOST_TIMES, blocks_of, transfers_of
from artery.simulator.network.buffers import Control
from artery.simulator.placed import Placed
from artery.simulator.scenario import Scenario, protocol

Engine = Literal["coupled", "messages", "fluid", "sampled"]
Why = Literal["asked", "pipelined", "bulk", "small", "many", "meeting", "buffers"]

MOST_MESSAGES: Final = 6_000_000
"""Messages that are played one by one: some ten seconds and 900 MB on one core."""

MOST_BLOCKS: Final = 25_000_000
"""Moves of blocks from which the messages of an all-to-all by way of other ranks are gathered: some
ten seconds on one core."""

STRAIGHT: Final = "--algorithm grouped, which sends straight to the target, or fewer chips"
"""What to do instead of an all-to-all that takes too long to lay out."""

MOST_EVENTS: Final = 8_000_000
"""Hops of segments beyond which messages are cut more coarsely: a second or two on one core."""

LEAST: Final = 4
"""Pieces of a message below which it holds others up as its packets would not."""

HOPS: Final = 4
"""Links of a path, for the estimate: two in a node, four to eight in a network."""

COUPLED_FROM: Final = 100_000
"""Messages from which a pipelined collective is taken as one variable per channel: its cost does
not grow with the steps. Trees and switches that add are first taken so at any size."""

AGAIN: Final = 400_000
"""Messages up to which rings and trees that the coupled form may have wrong are played one by one
after all, trees in the slices of a library: half a second on one core."""

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

ROUNDS: Final = 0.5
"""The same of some rounds of an all-to-all for all (``artery.simulator.explicit.rounds``)."""

TREES: Final = {16: 0.06, 4: 0.14, 0: 0.16}
"""The same of trees up and down over several nodes, by the slices of a tree from which on: of 64 to
4,096 chips of 18 systems, packed and shuffled, hashed, with links down and others' traffic, 8 MiB
and more, 350 cases: 4 % too fast to 5 % too slow (median 1 %), 11 % to 13 % (4 %), and 14 % to 11 %
(6 %). Slices of trees that meet between nodes wait for each other now here, now there."""

TORN: Final = 0.5
"""The same of trees of fewer than four slices with links down: 45 % too fast to 10 % too slow. All
trees may have their first slices wait for one link that took the place of others."""

OTHERS: Final = {4: 0.26, 0: 0.4}
"""The same of other trees: one way, in one node, and through switches that add in nodes: 24 % too
fast to 25 % too slow, and 38 % to 15 % of fewer slices."""

COARSE: Final = 0.15
"""The same of messages in few large pieces: halving-doubling with colliding paths, 11 to 15 %.
Slices of trees in quarters are within 1 % of those in the transport's segments."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The engine, why it was taken (``why``, with ``count`` messages), how far off it may be.

    ``segment`` is what the message engine cuts messages into, in bytes (0: not at all). ``control``
    is how full port buffers stop their senders (``none``: they are taken as endless).
    """

    engine: Engine
    why: Why
    count: int
    error: float
    segment: int
    control: Control = "none"


def choose(jobs: tuple[Placed, ...], scenario: Scenario, control: Control = "none") -> Chosen:
    """Return the engine for ``jobs`` under ``scenario``, where full buffers have ``control``.

    Raises ``InputError`` where no engine can play them: too many messages and no pipelined form,
    or finite buffers that are asked for and would take too long.
    """
    _refuse_blocks(jobs)
    count = count_of(jobs, scenario)
    found = _held(jobs, scenario, control, count) if control != "none" else None
    found = found or _of_a_sample(jobs, scenario, count)
    if found is not None:
        return found
    pipelined = all(playable(job) for job in jobs) and not scenario.failing
    segment = _segment(jobs, scenario, count)
    fine = segment == protocol(scenario.transport).segment
    fine |= slices_pass(jobs) and 0 < segment <= SLICE // LEAST
    coarse = ERROR["messages"] if fine else COARSE
    if scenario.engine == "coupled" and not pipelined:
        raise _not_pipelined()
    if scenario.engine == "coupled":
        return Chosen("coupled", "asked", count, ERROR["coupled"], segment)
    if scenario.engine == "auto" and pipelined and (slices_pass(jobs) or count > COUPLED_FROM):
        return Chosen("coupled", "pipelined", count, ERROR["coupled"], segment)
    if count > MOST_MESSAGES:
        raise _too_many(jobs, scenario, count)
    if scenario.engine != "auto":
        error = ERROR["fluid"] if scenario.engine == "fluid" else coarse
        return Chosen(scenario.engine, "asked", count, error, segment)
    smallest = min((job.total // max(job.schedule.chunks, 1) for job in jobs), default=0)
    if smallest >= BULK:
        return Chosen("fluid", "bulk", count, ERROR["fluid"], segment)
    return Chosen("messages", "small", count, coarse, segment)


def again(jobs: tuple[Placed, ...], scenario: Scenario, coupled: Chosen) -> Chosen | None:
    """Return the message engine where it is right for what the coupled form may have wrong.

    ``None`` where the coupled form was asked for, is as good, or there are too many messages.
    """
    if coupled.why != "pipelined" or coupled.count > AGAIN:
        return None
    found = choose(jobs, replace(scenario, engine="messages"))
    return replace(found, why="meeting") if found.error < coupled.error else None


def refuse_untimed(chosen: Chosen) -> None:
    """Raise ``InputError`` where no message of a run has times of its own, whatever comes of it."""
    later = chosen.engine == "coupled" and chosen.why == "pipelined" and chosen.count <= AGAIN
    if chosen.engine in ("coupled", "sampled") and not later:
        raise untimed(chosen.engine, chosen.count)


def untimed(engine: str, count: int) -> InputError:
    """Return what is wrong with a timeline of ``count`` messages, played by ``engine``."""
    found = f"{count:,} messages, {engine} engine"
    rule = f"a timeline has at most {MOST_TIMES:,} messages, played one by one"
    fix = (
        "--engine messages, or --map for the load of the links"
        if count <= MOST_TIMES
        else "fewer chips, of trees also a smaller --size, or --map for the load of the links"
    )
    return InputError(Problem(field="trace", found=found, rule=rule, fix=fix))


def slices_pass(jobs: tuple[Placed, ...]) -> bool:
    """Whether all have a pipelined form and slices pass through trees or switches that add."""
    return all(playable(job) for job in jobs) and any(sliced(job) for job in jobs)


def count_of(jobs: tuple[Placed, ...], scenario: Scenario) -> int:
    """Return how many messages a library sends, or, asked for or with links that fail, are played.

    Those are fewer where slices are too many.
    """
    each = {id(job.schedule): transfers_of(job) for job in _distinct(jobs)}
    played = scenario.engine in ("messages", "fluid") or bool(scenario.failing)
    cut = pieces(jobs) if played else [wanted(job) if sliced(job) else 1 for job in jobs]
    return sum(each[id(job.schedule)] * many for job, many in zip(jobs, cut, strict=True))


def _of_a_sample(jobs: tuple[Placed, ...], scenario: Scenario, count: int) -> Chosen | None:
    """Return the engine that looks at a sample, ``None`` where all can be played, or must be.

    Messages that would have to be played in one piece each cannot be sprayed: of a sample they can.
    """
    rounds = in_rounds(jobs, scenario)
    asked, able = scenario.engine == "sampled", rounds or samplable(jobs, scenario)
    if asked and not able:
        raise _not_samplable()
    whole = scenario.routing == "spray" and not _segment(jobs, scenario, count)
    many = able and scenario.engine == "auto" and (count > MOST_MESSAGES or (whole and not rounds))
    if asked or many:
        error = ROUNDS if rounds else ERROR["sampled"]
        return Chosen("sampled", "asked" if asked else "many", count, error, 0)
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


def _refuse_blocks(jobs: tuple[Placed, ...]) -> None:
    """Refuse an all-to-all by way of other ranks whose messages take too long to gather."""
    blocks = sum(blocks_of(job) for job in jobs)
    if blocks > MOST_BLOCKS:
        raise InputError(
            Problem(
                field="algorithm",
                found=f"{blocks:,} moves of blocks by way of other ranks",
                rule=f"messages are gathered from at most {MOST_BLOCKS:,}",
                fix=STRAIGHT,
            )
        )


def _too_many(jobs: tuple[Placed, ...], scenario: Scenario, count: int) -> InputError:
    rule = f"at most {MOST_MESSAGES:,} are played one by one"
    if scenario.failing:
        rule = f"with --fail-at all are played one by one, at most {MOST_MESSAGES:,}"
    fix = _fewer(jobs, scenario)
    return InputError(Problem(field="algorithm", found=f"{count:,} messages", rule=rule, fix=fix))


def _fewer(jobs: tuple[Placed, ...], scenario: Scenario) -> str:
    """Return what has fewer messages, or need not have each of them played."""
    kinds = {job.schedule.collective for job in jobs}
    if scenario.failing and "all_reduce" in kinds:
        return "--algorithm halving_doubling, fewer chips, or leave --fail-at out"
    if scenario.failing:
        return "fewer chips, or leave --fail-at out"
    if scenario.engine != "auto":
        return "--engine auto, or fewer chips"
    if "alltoall" not in kinds:
        return "--algorithm ring, which has a pipelined form, or fewer chips"
    if len(jobs) == 1 and isinstance(jobs[0].size, int):
        return STRAIGHT
    return "an all-to-all of equal messages alone, of which a sample will do, or fewer chips"


def _not_samplable() -> InputError:
    return InputError(
        Problem(
            field="engine",
            found="sampled",
            rule="it plays one all-to-all of equal messages, alone on a network that does not fail "
            "on the way",
            fix="--engine auto",
        )
    )
