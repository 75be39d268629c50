"""One training step laid out in time: what each pipeline stage computes and sends, and when.

The durations are the terms of a priced plan; nothing is priced here. The order is the one
that the schedule prescribes: 1F1B (Narayanan et al. 2019, PipeDream-Flush), interleaved when
a stage holds several model chunks (Narayanan et al. 2021, arXiv 2104.04473, section 2.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from artery.answers.plan.result import PlanResult
from artery.core.plan import Plan, Recompute
from artery.report.plan.payload import by_part
from artery.step import PARTS

Stream = Literal["compute", "comm"]
Pass = Literal["forward", "backward"]

BACKWARD_SHARE: Final = {"none": 2 / 3, "selective": 2 / 3, "full": 3 / 4}
"""Share of a micro-batch's time that the backward pass takes, where the terms do not say:
it has twice the FLOPs of the forward pass (one product more per matrix product), three times
with full recomputation (arXiv 2104.04473, equation 3: 3 against 4 passes)."""

RECOMPUTE_SHARE: Final = 1 / 3
"""Share of a backward pass with full recomputation that runs the forward pass again."""


@dataclass(frozen=True, slots=True)
class Slice:
    """One thing that one stage does: ``start`` and ``duration`` in seconds from the step's start.

    ``part`` is the part of the breakdown that it belongs to; ``micro_batch`` and ``chunk`` say
    on what, where that has a meaning.
    """

    stage: int
    stream: Stream
    name: str
    part: str
    start: float
    duration: float
    micro_batch: int | None = None
    chunk: int | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """One pass of one micro-batch through one model chunk."""

    kind: Pass
    micro_batch: int
    chunk: int


def order(stage: int, stages: int, chunks: int, micro_batches: int) -> list[Work]:
    """Return what ``stage`` does, in order, under (interleaved) 1F1B.

    A stage first runs ahead: ``stages - stage - 1`` forward passes, with interleaving
    ``2(stages - stage - 1) + (chunks - 1) group``; then one forward, one backward in turn;
    then the backward passes that are left.
    """
    groups = _groups(stages, micro_batches)
    forward = [Work("forward", m, c) for g in groups for c in range(chunks) for m in g]
    backward = [Work("backward", m, c) for g in groups for c in reversed(range(chunks)) for m in g]
    ahead = stages - stage - 1
    if chunks > 1:
        ahead = 2 * ahead + (chunks - 1) * max(map(len, groups))
    ahead = min(ahead, len(forward))
    work = forward[:ahead]
    for forward_work, backward_work in zip(forward[ahead:], backward, strict=False):
        work += [forward_work, backward_work]
    return work + backward[len(forward) - ahead :]


def _groups(stages: int, micro_batches: int) -> list[range]:
    """Return the micro-batches that pass chunk after chunk together: ``stages`` at a time.

    What is left over joins the last group.
    """
    starts = list(range(0, max(1, micro_batches - stages + 1), stages))
    ends = [*starts[1:], micro_batches]
    return [range(start, end) for start, end in zip(starts, ends, strict=True)]


@dataclass(frozen=True, slots=True)
class Played:
    """A schedule in time: start of every work per stage, and when the last one ends."""

    starts: tuple[tuple[tuple[Work, float], ...], ...]
    end: float


def play(plan: Plan, forward: float, backward: float) -> Played:
    """Return when each stage does each of its works, as early as their inputs allow.

    ``forward`` and ``backward`` are seconds per micro-batch and chunk, equal on all stages. A
    forward pass waits for the chunk before it, a backward pass for the chunk after it (the
    last chunk's for its own forward pass).
    """
    queues = [order(stage, plan.pp, plan.vpp, plan.micro_batches) for stage in range(plan.pp)]
    position = [0] * plan.pp
    clock = [0.0] * plan.pp
    done: dict[tuple[Pass, int, int], float] = {}
    starts: list[list[tuple[Work, float]]] = [[] for _ in queues]
    progressing = True
    while progressing:
        progressing = False
        for stage, queue in enumerate(queues):
            while position[stage] < len(queue):
                work = queue[position[stage]]
                ready = _ready(work, stage, plan, done)
                if ready is None:
                    break
                start = max(clock[stage], ready)
                clock[stage] = start + (forward if work.kind == "forward" else backward)
                done[work.kind, work.micro_batch, work.chunk * plan.pp + stage] = clock[stage]
                starts[stage].append((work, start))
                position[stage] += 1
                progressing = True
    return Played(tuple(map(tuple, starts)), max(clock))


def _ready(
    work: Work, stage: int, plan: Plan, done: dict[tuple[Pass, int, int], float]
) -> float | None:
    """Return when the input of ``work`` is there; ``None`` if its maker has not run yet."""
    place = work.chunk * plan.pp + stage
    if work.kind == "forward":
        return 0.0 if place == 0 else done.get(("forward", work.micro_batch, place - 1))
    if place == plan.pp * plan.vpp - 1:
        return done.get(("forward", work.micro_batch, place))
    return done.get(("backward", work.micro_batch, place + 1))


_IN_PASS: Final = ("compute", "memory_bound", "host", "other", "tp", "cp", "ep", "pp")
"""Parts that happen inside every pass, in the order in which a pass shows them."""

_AFTER: Final = ("dp", "optimizer", "straggler")
"""Parts that happen once, after the last backward pass."""

_NAMES: Final = {
    "tp": "nccl:tensor_parallel",
    "cp": "nccl:context_parallel",
    "ep": "nccl:all_to_all",
    "pp": "nccl:send_recv",
    "dp": "nccl:reduce_gradients",
    "optimizer": "optimizer",
    "straggler": "wait for stragglers",
}
_ON_COMM: Final = frozenset({"tp", "cp", "ep", "pp", "dp", "straggler"})


def timeline(result: PlanResult) -> list[Slice]:
    """Return every slice of one step of ``result``; the last one ends at the step time.

    What the breakdown calls compute, memory-bound, host and exposed communication is spread
    evenly over the passes of each stage; the bubble is where a stage then waits. Where the
    bubble as priced differs from the one that the schedule leaves (unequal stages, hops), all
    passes are stretched or shrunk alike so that the whole keeps its length.
    """
    plan = result.plan
    parts = by_part(result.time.root, PARTS)
    after = sum(parts[name] for name in _AFTER)
    body = result.time.root.value - after
    backward = BACKWARD_SHARE[plan.recompute]
    busy = sum(max(0.0, parts[name]) for name in _IN_PASS)
    per_pass = busy / (plan.micro_batches * plan.vpp)
    played = play(plan, per_pass * (1 - backward), per_pass * backward)
    stretch = body / played.end if played.end else 1.0
    shares = {name: parts[name] / busy for name in _IN_PASS if parts[name] > 0}
    slices: list[Slice] = []
    for stage, starts in enumerate(played.starts):
        for work, start in starts:
            share = backward if work.kind == "backward" else 1 - backward
            span = (start * stretch, per_pass * share * stretch)
            slices += _pass_slices(stage, work, span, shares, plan.recompute)
        slices += _closing_slices(stage, body, parts)
    return slices


def _pass_slices(
    stage: int,
    work: Work,
    span: tuple[float, float],
    shares: Mapping[str, float],
    recompute: Recompute,
) -> Iterator[Slice]:
    """Yield one pass of ``span`` (start, duration): what it computes, then what it sends."""
    start, length = span
    on_compute = sum(share for name, share in shares.items() if name not in _ON_COMM) * length
    pieces: list[tuple[Stream, str, str, float]] = [("compute", work.kind, "compute", on_compute)]
    if work.kind == "backward" and recompute == "full":
        again = on_compute * RECOMPUTE_SHARE
        pieces = [("compute", "recompute", "compute", again)]
        pieces += [("compute", "backward", "compute", on_compute - again)]
    pieces += [
        ("comm", _NAMES[part], part, share * length)
        for part, share in shares.items()
        if part in _ON_COMM
    ]
    for stream, name, part, duration in pieces:
        yield Slice(stage, stream, name, part, start, duration, work.micro_batch, work.chunk)
        start += duration


def _closing_slices(stage: int, start: float, parts: dict[str, float]) -> Iterator[Slice]:
    for part in _AFTER:
        if parts[part] > 0:
            stream: Stream = "comm" if part in _ON_COMM else "compute"
            yield Slice(stage, stream, _NAMES[part], part, start, parts[part])
            start += parts[part]
