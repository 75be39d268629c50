"""All groups of one collective at once, each laid on the chips that it really has.

Groups are those of :mod:`artery.collective.placement`: ``ranks`` members ``stride`` apart in rank
order. Every group is a job of its own, in the form in which size costs nothing: a pipelined
algorithm as its rings and trees, any other as the bytes that each pair exchanges. So a group's
time is that of its slowest link, shared fairly with all others that cross it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

import numpy as np

from artery.cluster.torus import Torus
from artery.collective.groups import inner_tiers
from artery.collective.schedules import schedule
from artery.core.arrays import Ints
from artery.core.pricing import Collective
from artery.core.schedule import Pipe, Schedule
from artery.core.system import System
from artery.errors import InputError, Problem
from artery.simulator.placed import Placed
from artery.simulator.shapes import shaped


@dataclass(frozen=True, slots=True)
class Shared:
    """``collective`` by ``algorithm`` on ``size`` bytes, in all groups of one kind at once."""

    collective: Collective
    algorithm: str
    size: int


def groups(order: Ints, ranks: int, stride: int) -> Ints:
    """Return the chips of every group, one row each, rank r of the job being on ``order[r]``.

    Group ``g`` of block ``q`` is row ``q·stride + g``. Send/receive between stages is not cut
    into pairs: give it the number of stages as ``ranks``. Ranks that fill no block are in none;
    where there is no whole block (first and last stage), the groups are those that there are.
    """
    blocks = len(order) // (ranks * stride)
    if not blocks:
        many = max(len(order) - (ranks - 1) * stride, 0)
        return np.asarray(order[np.arange(many)[:, None] + np.arange(ranks) * stride])
    whole = order[: blocks * ranks * stride].reshape(blocks, ranks, stride)
    return np.asarray(whole.transpose(0, 2, 1).reshape(blocks * stride, ranks))


def domain(system: System) -> int:
    """Return the chips of one scale-up domain."""
    inside = inner_tiers(system)
    return system.tiers[inside - 1].chips if inside else 1


def distinct(system: System, rows: Ints) -> Ints:
    """Return which groups must be played: all, or if none leaves its domain, one domain's.

    Groups inside different domains share no link, so that domains with groups at the same places
    behave alike; one of each kind is enough, and exact.
    """
    home, place = np.divmod(rows, domain(system))
    if (home != home[:, :1]).any():
        return np.arange(len(rows))
    seen: set[bytes] = set()
    kept = []
    order = np.argsort(home[:, 0], kind="stable")
    cuts = np.flatnonzero(np.diff(home[order, 0])) + 1
    for members in np.split(order, cuts):
        key = place[members[np.lexsort(place[members].T)]].tobytes()
        if key not in seen:
            seen.add(key)
            kept.append(members)
    return np.sort(np.concatenate(kept))


def laid(system: System, shared: Shared, rows: Ints, first: int = 0) -> tuple[Placed, ...]:
    """Return the channels of all groups in ``rows``; group g is job ``first + g``.

    Rings and trees go through a group's nodes in the order of its first ranks, a channel for each
    member that a node has, so that all its cards carry a share, and change nodes on one rail.
    On a torus they go by dimension of the box that a group fills. Raises ``InputError`` for a
    group that fills none.
    """
    torus = system.router.structure
    return tuple(
        replace(placed, job=first + number)
        for number, row in enumerate(rows)
        for placed in (
            (_boxed(torus, shared, row),)
            if isinstance(torus, Torus)
            else _channels(system, shared, row)
        )
    )


def _boxed(torus: Torus, shared: Shared, row: Ints) -> Placed:
    """Return a group on a torus: by dimension of its box, pairs that exchange all at once."""
    if shared.collective == "sendrecv":
        return Placed(_chain(len(row)), shared.size, row)
    if shared.collective == "alltoall":
        return Placed(_pairs("grouped", "alltoall", len(row)), shared.size, row)
    place = np.array(np.unravel_index(row, torus.dims[::-1]))[::-1]
    box = tuple(len(np.unique(one)) for one in place)
    if prod(box) != len(row):
        raise InputError(
            Problem(field="placement", found=f"{len(row)} chips that fill no box of the torus",
                    rule="collectives on a torus go by dimension",
                    fix="--placement packed, or degrees that divide its sides")
        )  # fmt: skip
    return Placed(_by_dimension(shared.collective, box), shared.size, row[np.lexsort(place)])


@lru_cache(maxsize=256)
def _by_dimension(collective: Collective, box: tuple[int, ...]) -> Schedule:
    return schedule("torus", collective, prod(box), dims=box)


def _channels(system: System, shared: Shared, row: Ints) -> Iterator[Placed]:
    """Yield the channels of one group."""
    name, collective, size = shared.algorithm, shared.collective, shared.size
    ranks = len(row)
    if collective == "sendrecv":
        yield Placed(_chain(ranks), size, row)
        return
    if collective == "alltoall":
        yield Placed(_pairs("grouped", collective, ranks), size, row)
        return
    whole = domain(system)
    nodes = row // whole
    if (nodes == nodes[0]).all() and (np.diff(row) == 1).all():
        yield from _neighbours(system, shared, row)
        return
    sorted_row, members = _by_node(row, nodes)
    full = set(members) == {whole}
    direct = bool(system.tiers) and bool(system.tiers[0].ring)  # links from chip to chip
    alone = len(members) == 1
    if (name == "ring" and (full or (direct and alone))) or (name == "tree" and full and direct):
        yield from shaped(system, collective, name, size, row)
        return
    alike = {*members[:-1], members[0]} == {members[0]} and members[-1] <= members[0]
    if name == "nvls_tree" and alike:
        yield Placed(_known(name, collective, ranks, members[0]), size, sorted_row)
        return
    if name in ("ring", "tree", "nvls_tree"):
        yield from _passing(shared, sorted_row, members)
        return
    levels = (members[0], len(members)) if len(set(members)) == 1 else None
    if name == "hierarchical" and levels is not None:
        yield Placed(_pairs(name, collective, ranks, levels), size, sorted_row)
        return
    yield Placed(_pairs(name, collective, ranks), size, sorted_row)


def _neighbours(system: System, shared: Shared, row: Ints) -> Iterator[Placed]:
    """Yield the channels of a group of neighbours, laid as those of the first chips.

    The wiring is taken to be alike at every multiple of the group's size.
    """
    alike = int(row[0]) % len(row) == 0
    chips = row - row[0] if alike else row
    for placed in shaped(system, shared.collective, shared.algorithm, shared.size, chips):
        yield replace(placed, chips=placed.chips + row[0]) if alike else placed


def _by_node(row: Ints, nodes: Ints) -> tuple[Ints, list[int]]:
    """Return the group's chips node by node in the order of its first ranks; members of each."""
    _, first, which = np.unique(nodes, return_index=True, return_inverse=True)
    turn = first[which]
    order = np.argsort(turn, kind="stable")
    return row[order], np.unique(turn, return_counts=True)[1].tolist()


def _passing(shared: Shared, row: Ints, members: list[int]) -> Iterator[Placed]:
    """Yield a ring or a tree for each member of the emptiest node, entered by another one."""
    channels = min(members)
    ranks = len(row)
    even = channels if len(set(members)) == 1 else 1
    for channel in range(channels):
        part = shared.size * (channel + 1) // channels - shared.size * channel // channels
        entered = row[_entered(tuple(members), channel, shared.algorithm == "ring")]
        if shared.algorithm == "ring":
            yield Placed(_known("ring", shared.collective, ranks, 1), part, entered)
        else:
            yield Placed(_known("tree", shared.collective, ranks, even), part, entered)


@lru_cache(maxsize=4096)
def _entered(members: tuple[int, ...], channel: int, turning: bool) -> Ints:
    """Return the places of a group, each node's turned to begin at its member ``channel``.

    A ring (``turning``) passes every second node the other way round, so that it enters it on
    the rail on which it left the last.
    """
    found: list[Ints] = []
    begin = 0
    for number, many in enumerate(members):
        place = (np.arange(many) + channel) % many
        found.append(begin + (place[::-1] if turning and number % 2 else place))
        begin += many
    return np.concatenate(found)


@lru_cache(maxsize=256)
def _known(name: str, collective: Collective, ranks: int, per_node: int) -> Schedule:
    if name == "ring":
        return schedule(name, collective, ranks)
    return schedule(name, collective, ranks, per_node=per_node)


@lru_cache(maxsize=256)
def _chain(ranks: int) -> Schedule:
    """Return send/receive along a pipeline: every stage but the last sends to the next."""
    stage = np.arange(ranks - 1)
    pipe = Pipe("star", 1.0, stage, stage + 1, 1.0, 1)
    return replace(schedule("sendrecv", "sendrecv", ranks), pipes=(pipe,))


@lru_cache(maxsize=256)
def _pairs(
    name: str, collective: Collective, ranks: int, levels: tuple[int, ...] | None = None
) -> Schedule:
    """Return the schedule with pipes: all pairs that exchange as many bytes flow together.

    Steps are let overlap, as those of different pieces of a large buffer do: against steps that
    wait for each other it is up to 14 % faster where paths collide, and the same where none do.
    """
    shape = {} if levels is None else {"levels": levels}
    plain = schedule(name, collective, ranks, **shape)
    if plain.pipes:
        return plain
    steps = [plain.step(k) for k in range(plain.steps)]
    key = np.concatenate([step.source * ranks + step.target for step in steps])
    count = np.concatenate([step.count for step in steps])
    pair, which = np.unique(key, return_inverse=True)
    chunks = np.bincount(which, count, len(pair))
    buffer = plain.chunks / (ranks if collective == "alltoall" else 1)
    pipes = []
    for amount in np.unique(chunks):
        source, target = np.divmod(pair[chunks == amount], ranks)
        pipes.append(Pipe("star", float(amount) / buffer, source, target, 1.0, plain.steps))
    return replace(plain, pipes=tuple(pipes))
