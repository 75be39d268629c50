"""From a schedule's pipes to coupled variables: the form in which size costs nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from artery.collective.library import SLOT
from artery.core.arrays import Ints
from artery.core.schedule import Pipe
from artery.core.system import System
from artery.native.pipelines import Pipelines
from artery.simulator.coupled.fold import Alike, Insides, Mixed, Splitter, alike, both_ways
from artery.simulator.network.routes import Ends, Routes, by_queue, domain, ends, routes, spread
from artery.simulator.network.wires import Wires
from artery.simulator.placed import Placed
from artery.simulator.scenario import Scenario

SLICE = SLOT
"""Bytes that a channel's tree passes on as one at most."""

NVLS, FAR = 131_072, 65_536
"""The same where the switches of nodes add, and there between four nodes and more
(NCCL_NVLS_CHUNKSIZE and NCCL_NVLSTREE_MAX_CHUNKSIZE, as NCCL 2.18 and later set them)."""

PACKET = 4096
"""Bytes that switches add and pass on as one: a packet of the largest size that InfiniBand has
(streaming aggregation; Graham et al., ISC 2020). Chips pass on lines with flags about as fine:
eight bytes of each of 512 threads (NCCL's LL)."""

MOST_SPLIT = 65_536
MOST_RINGS = 256
"""Edges and rings of one pipe up to which each ring is a variable of its own; beyond, all go at one
rate and fill in their mean time."""

WAYS, MOST_WAYS = 8, 64
SPRAYED = 2**18
"""Paths over which coupled pipes spray each edge, from eight to as many as SRD has (64; Shalev et
al., IEEE Micro 2020): as many as make so many paths in all."""


@dataclass(frozen=True, slots=True, eq=False)
class Coupled:
    """The pipelines, and for every pipe its job and phase; edges as pairs of chips.

    ``alike`` are nodes of which one was taken for all.
    """

    pipelines: Pipelines
    job: Ints
    phase: Ints
    pairs: Ends
    routed: Routes
    alike: Alike | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Laid:
    """A pipe of job ``number``, and its ``parts``: itself, or those of a tree that is folded.

    These are the edges between nodes, those inside nodes that are not alike, and those inside one
    of the others.
    """

    number: int
    pipe: Pipe
    parts: tuple[Pipe, ...]

    @property
    def waves(self) -> list[Pipe]:
        """The edges of each wave; a tree that is passed both ways goes up, then down."""
        if not self.pipe.both_ways:
            return list(self.parts)
        down = [replace(part, source=part.target, target=part.source) for part in self.parts]
        return [*self.parts, *down]


def playable(job: Placed) -> bool:
    """Whether the job has a pipelined form."""
    return bool(job.schedule.pipes) and isinstance(job.size, int)


def coupled_pipes(
    system: System, wires: Wires, jobs: tuple[Placed, ...], scenario: Scenario
) -> Coupled:
    """Return all pipes of ``jobs`` over the paths that the scenario's policy gives.

    An edge that takes several paths at once is as many edges with a part of the bytes each.
    """
    found = [
        (number, ring)
        for number, job in enumerate(jobs)
        for pipe in job.schedule.pipes
        for part in _whole_bytes(pipe, job)
        for ring in _rings(part)
    ]
    ways = _ways(scenario, sum(len(pipe.source) for _, pipe in found))
    folded = _folded(system, wires, jobs, found, scenario) if ways == 1 else None
    if folded is not None:
        return folded
    laid = [_Laid(number, pipe, (pipe,)) for number, pipe in found]
    pairs = _pairs(wires, jobs, laid)
    routed = _routed(system, wires, pairs, scenario, ways)
    whole = _joined(jobs, laid, pairs, routed, scenario, ways=ways)
    return _sprayed(whole, wires, ways) if scenario.routing == "spray" else whole


def _sprayed(found: Coupled, wires: Wires, ways: int) -> Coupled:
    """Return the pipes, chunks of rings going over all ways at once.

    A way's part of a chunk has its links to itself; counted is the time of the link with the most
    parts: a chip with four cards has a chunk out four times as fast.
    """
    pipes, routed = found.pipelines, found.routed
    if not pipes.depth.any():
        return found
    edges = (len(routed.start) - 1) // ways
    edge = np.repeat(np.arange(edges * ways) // ways, np.diff(routed.start))
    links = len(wires.network.rate)
    crossed, parts = np.unique(edge * links + routed.link, return_counts=True)
    owner, link = np.divmod(crossed, links)
    begin = np.searchsorted(owner, np.arange(edges))
    seconds = 1.0 / wires.network.rate[link]
    alone, together = (np.maximum.reduceat(one, begin) for one in (seconds, seconds * parts))
    of = np.repeat(np.arange(len(pipes.depth)), np.diff(pipes.wave[pipes.pipe]) // ways)
    share = np.bincount(of, together) / (np.bincount(of, alone) * ways)
    chunk = pipes.amount * ways / np.maximum(pipes.depth, 1)
    part = np.maximum(np.round(chunk * share).astype(np.int64), np.minimum(pipes.segment, 1))
    ring = pipes.depth > 0
    segment = np.where(ring, part, pipes.segment)
    behind = np.where(ring, segment, pipes.behind)
    return replace(found, pipelines=replace(pipes, segment=segment, behind=behind))


def _ways(scenario: Scenario, edges: int) -> int:
    """Return over how many paths each of the edges goes: a power of two where it is sprayed."""
    if scenario.routing != "spray":
        return max(scenario.queue_pairs, 1)
    return min(max(1 << (SPRAYED // max(edges, 1)).bit_length() >> 1, WAYS), MOST_WAYS)


def _joined(
    jobs: tuple[Placed, ...],
    laid: list[_Laid],
    pairs: Ends,
    routed: Routes,
    scenario: Scenario,
    *,
    ways: int = 1,
    alike: Alike | None = None,
) -> Coupled:
    """Return the pipes with the paths of all their edges."""
    amounts = [_way(_amount(one.pipe, jobs[one.number]), ways) for one in laid]
    segments = [
        min(_segment(one.pipe, jobs[one.number], scenario), amount)
        for one, amount in zip(laid, amounts, strict=True)
    ]
    behind = [
        segment if one.pipe.kind == "ring" else amount
        for one, amount, segment in zip(laid, amounts, segments, strict=True)
    ]
    waves = [len(wave.source) * ways for one in laid for wave in one.waves]
    kinds = [one.pipe.kind for one in laid]
    depth = [one.pipe.depth if one.pipe.kind == "ring" else 0 for one in laid]
    return Coupled(
        pipelines=Pipelines(
            start=routed.start,
            link=routed.link,
            wave=np.cumsum([0, *waves]),
            pipe=np.cumsum([0, *(len(one.waves) for one in laid)]),
            depth=np.array(depth, dtype=np.int64),
            amount=np.array(amounts, dtype=np.int64),
            behind=np.array(behind, dtype=np.int64),
            segment=np.array(segments, dtype=np.int64),
            toward=None if set(kinds) <= {"ring"} else _toward(laid, ways),
            release=np.array([jobs[one.number].release for one in laid], dtype=np.int64),
            role=None if alike is None else _roles(laid),
        ),
        job=np.array([jobs[one.number].job for one in laid], dtype=np.int64),
        phase=np.array([one.pipe.phase for one in laid], dtype=np.int64),
        pairs=pairs,
        routed=routed,
        alike=alike,
    )


def _folded(
    system: System,
    wires: Wires,
    jobs: tuple[Placed, ...],
    found: list[tuple[int, Pipe]],
    scenario: Scenario,
) -> Coupled | None:
    """Return the same with one node's inside for all that are alike, ``None`` where none are."""
    splitter = Splitter(domain(wires.network))
    if scenario.routing not in ("ecmp", "static"):
        return None
    splits = [splitter.split(pipe, jobs[number].chips) for number, pipe in found]
    kinds = both_ways(splits, splitter.size)
    if not len(kinds):
        return None
    inner = Insides.of(splitter, kinds)
    inner_routes = routes(system, wires.network, inner.pairs, scenario)
    outside = [
        _Laid(number, pipe, (pipe if one is None else one.between,))
        for (number, pipe), one in zip(found, splits, strict=True)
    ]
    pairs = _pairs(wires, jobs, outside)
    outer = routes(system, wires.network, pairs, scenario)
    equal = alike(wires.network, splitter, inner_routes, outer)
    if equal is None or pairs.cut is not None:
        return None
    kept = (np.setdiff1d(splitter.nodes, equal.node), equal.node[:1])
    mixed = Mixed((inner.pairs, inner_routes), (pairs, outer))
    laid: list[_Laid] = []
    for (number, pipe), one in zip(found, splits, strict=True):
        if one is None:
            laid.append(_Laid(number, pipe, (pipe,)))
            mixed.outside(len(pipe.source) * len(laid[-1].waves))
            continue
        odd, even = (one.kept(some) for some in kept)
        laid.append(_Laid(number, pipe, (one.between, odd.inside, even.inside)))
        for turned in (False, True)[: 1 + pipe.both_ways]:
            mixed.outside(len(one.between.source))
            mixed.inside(inner.places(odd, turned=turned))
            mixed.inside(inner.places(even, turned=turned))
    return _joined(jobs, laid, mixed.ends, mixed.routes, scenario, alike=equal)


def _whole_bytes(pipe: Pipe, job: Placed) -> list[Pipe]:
    """Return an all-to-all's pipe in two, whose pairs have whole bytes that add up to the buffer.

    Of b bytes for n ranks the first b mod n get one more, as when every message is cut; pairs
    without a byte send nothing.
    """
    exact, ranks = pipe.weight * pipe.volume * job.total, job.schedule.ranks
    least, more = divmod(round(exact * ranks), ranks)
    if pipe.kind != "star" or job.schedule.collective != "alltoall" or not more:
        return [pipe]
    found = []
    for some, amount in ((pipe.target < more, least + 1), (pipe.target >= more, least)):
        if amount and some.any():
            source, target = pipe.source[some], pipe.target[some]
            weight = amount / (pipe.volume * job.total)
            found.append(replace(pipe, source=source, target=target, weight=weight))
    return found or [pipe]


def _rings(pipe: Pipe) -> list[Pipe]:
    """Return each of the disjoint rings of a pipe as one of its own, if they are few."""
    if pipe.kind != "ring" or len(pipe.source) > MOST_SPLIT:
        return [pipe]
    after = np.arange(1 + int(pipe.source.max()))
    after[pipe.source] = pipe.target
    name = np.arange(len(after))
    # The least rank of each ring, looking twice as far ahead each time.
    for _ in range(len(after).bit_length()):
        name, after = np.minimum(name, name[after]), after[after]
    ring = name[pipe.source]
    first, size = np.unique(ring, return_counts=True)
    if not 1 < len(first) <= MOST_RINGS:
        return [pipe]
    order = np.argsort(ring, kind="stable")
    parts = np.split(order, np.cumsum(size)[:-1])
    return [replace(pipe, source=pipe.source[one], target=pipe.target[one]) for one in parts]


def _pairs(wires: Wires, jobs: tuple[Placed, ...], laid: list[_Laid]) -> Ends:
    parts = [
        ends(wires.network, jobs[one.number], wave.source, wave.target)
        for one in laid
        for wave in one.waves
    ]
    cut = None
    if any(part.cut is not None for part in parts):
        none = [np.zeros(len(p.source), np.int8) if p.cut is None else p.cut for p in parts]
        cut = np.concatenate(none)
    return Ends(
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.target for part in parts]),
        cut,
    )


def _routed(system: System, wires: Wires, pairs: Ends, scenario: Scenario, ways: int) -> Routes:
    """Return ``ways`` paths of every edge, one after the other."""
    if scenario.routing == "spray" or ways == 1:
        found = routes(system, wires.network, pairs, scenario, ways=ways)
        return found if ways == 1 else spread(found, ways)
    return by_queue(system, wires.network, pairs, scenario, ways)


def _amount(pipe: Pipe, job: Placed) -> int:
    """Bytes that cross each edge, at least one where there are any: a channel is never empty."""
    exact = pipe.weight * pipe.volume * job.total
    return max(round(exact), int(exact > 0))


def _way(amount: int, ways: int) -> int:
    """Bytes on each of the ways of an edge."""
    return max(round(amount / ways), int(amount > 0))


def slot_of(job: Placed) -> int:
    """Return the bytes of a slot of a library's buffers for the job's trees and switches."""
    name, switches = job.schedule.name, job.schedule.switches
    if name == "nvls" or (name == "nvls_tree" and switches < 4):
        return NVLS
    return FAR if name == "nvls_tree" else SLICE


def slice_of(job: Placed) -> int:
    """Return the most bytes that a library passes on as one through the job's trees and switches.

    Those of its schedule's chunks are cut evenly into slices of no more (:func:`cut_of`).
    """
    return min(slot_of(job), job.piece)


def cut_of(job: Placed, most: int) -> int:
    """Return into how many even slices of at most ``most`` bytes each chunk of the job is cut."""
    chunk = -(-job.total // max(job.schedule.chunks, 1))
    return max(-(-chunk // most), 1)


def _segment(pipe: Pipe, job: Placed, scenario: Scenario) -> int:
    """Bytes passed on as one: a ring's chunk, a slice of a tree, a packet between switches.

    Between ranks without latency a tree passes on pieces of no size.
    """
    amount = _amount(pipe, job)
    if pipe.kind == "ring":
        return max(amount // max(pipe.depth, 1), 1)
    least = slice_of(job) if scenario.latency else 1
    if job.vertices is not None and pipe.kind == "tree":
        least = min(PACKET, least)
    elif scenario.latency:
        least = -(-job.total // (max(job.schedule.chunks, 1) * cut_of(job, least)))
    return min(least, max(amount, 1))


def _toward(laid: list[_Laid], ways: int) -> Ints:
    """For every edge the next edge to the root of its tree; -1 at the root and round a ring.

    Down it is the same as up.
    """
    parts: list[Ints] = []
    base = 0
    for one in laid:
        upward = [_upward(part) for part in _trees(one)]
        for up in upward * (1 + one.pipe.both_ways):
            copies = np.where(up[:, None] < 0, -1, base + up[:, None] * ways + np.arange(ways))
            parts.append(copies.ravel())
            base += len(up) * ways
    return np.concatenate(parts)


def _trees(one: _Laid) -> list[Pipe]:
    """Return the parts that are trees of their own: inside edges lead on to those between nodes."""
    if len(one.parts) == 1:
        return [one.pipe]
    between, odd, even = one.parts
    source = np.concatenate([between.source, odd.source])
    target = np.concatenate([between.target, odd.target])
    return [replace(between, source=source, target=target), even]


def _roles(laid: list[_Laid]) -> Ints:
    """Return what each wave is to those before it, as ``Pipelines`` wants it."""
    each = [[0] if len(one.parts) == 1 else [0, 1, 2] for one in laid]
    return np.array(
        [role for one, roles in zip(laid, each, strict=True)
         for role in roles * (1 + one.pipe.both_ways)], dtype=np.int64)  # fmt: skip


def _upward(pipe: Pipe) -> Ints:
    """The edge of each edge's parent; -1: none, as round a ring and from a star."""
    if pipe.kind != "tree":
        return np.full(len(pipe.source), -1, dtype=np.int64)
    ranks = int(max(pipe.source.max(), pipe.target.max())) + 1
    edge_of = np.full(ranks, -1, dtype=np.int64)
    edge_of[pipe.source] = np.arange(len(pipe.source))
    return np.asarray(edge_of[pipe.target])
