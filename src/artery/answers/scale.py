"""``scale``: the same job on more and more chips, and what holds each size back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log
from types import NoneType
from typing import Any, Final, Literal

from artery.answers.arguments import check_kinds
from artery.answers.hardware import resources
from artery.answers.numbers import own_numbers
from artery.answers.plan import plan
from artery.answers.plan.levers import NUDGE, Situation
from artery.answers.plan.result import PlanAnswer, PlanResult
from artery.answers.pricing import Pricers
from artery.catalog.systems.spec import parse_spec
from artery.cloud.failures import RSC_1, FailureRate
from artery.errors import InputError, UsageError

Mode = Literal["strong", "weak"]
Break = Literal["memory", "link", "latency", "bubble", "batch", "compute"]

WORTH_NAMING: Final = 0.1
"""Assumed: a tenth of the step, from which on something other than compute holds a job back."""

_COMMUNICATION: Final = ("tp", "pp", "cp", "ep", "dp")


@dataclass(frozen=True, slots=True)
class ScalePoint:
    """One size of the job.

    ``result`` is the best plan, ``None`` where there is none; then ``reason`` says why.
    ``speedup`` counts samples per second against the smallest count that fits in this mode,
    ``efficiency`` is the speed-up over the ratio of the counts, ``exposed_comm_fraction`` the
    share of the step that communication takes, ``amdahl_speedup`` is against one chip.
    ``breaks`` names what holds this size back, ``failures_per_day`` the node failures to expect.
    """

    chips: int
    mode: Mode
    global_batch: int | None
    result: PlanResult | None
    reason: str | None
    breaks: Break
    failures_per_day: float
    speedup: float | None = None
    efficiency: float | None = None
    exposed_comm_fraction: float | None = None
    amdahl_speedup: float | None = None


@dataclass(frozen=True, slots=True)
class ScaleAnswer:
    """The points by mode and count, what they are counted against, and the failure rate used.

    ``reference`` maps each mode to the smallest count that fits, ``batch_per_chip`` is that of
    weak scaling.
    """

    model: str
    system: str
    points: tuple[ScalePoint, ...]
    reference: Mapping[Mode, int | None]
    global_batch: int
    batch_per_chip: float
    parallel_fraction: float | None
    failure_rate: FailureRate
    warnings: tuple[str, ...] = ()


@own_numbers
def scale(
    model: str,
    on: str,
    chips: Sequence[int],
    *,
    parallel_fraction: float | None = None,
    **options: Any,  # noqa: ANN401 (the options of plan)
) -> ScaleAnswer:
    """Return strong and weak scaling of ``model`` over the counts in ``chips``.

    Each point is the best plan at that count. Strong scaling keeps the global batch (the given
    one, else the largest count's), weak scaling the batch per chip that the largest count then
    has, raised where needed to one sample at the smallest count that fits.
    ``options`` are those of ``plan``; any number of chips in ``on`` is replaced.

    Raises:
        UsageError: no counts, or a fraction outside 0 to 1.
        InputError: wrong input to ``plan`` at every count.
    """
    check_kinds(str, model=model, on=on)
    check_kinds(float, NoneType, parallel_fraction=parallel_fraction)
    check_kinds(int, NoneType, global_batch=options.get("global_batch"))
    counts = _counts(chips)
    if parallel_fraction is not None and not 0 <= parallel_fraction <= 1:
        raise UsageError(f"--parallel-fraction {parallel_fraction:g} must be from 0 to 1")
    ask = _asker(model, parse_spec(on).name, options)
    largest, batch = _largest(ask, counts, options.get("global_batch"))
    per_node = largest.system.chips_per_node
    strong = [_point(ask, "strong", n, batch, per_node) for n in counts]
    per_chip = _batch_per_chip(batch, counts, _chips(_smallest(strong)))
    weak = [_point(ask, "weak", n, int(per_chip * n), per_node) for n in counts]
    rows: dict[Mode, list[ScalePoint]] = {"strong": strong, "weak": weak}
    points = [point for row in rows.values() for point in _compared(row, parallel_fraction)]
    return ScaleAnswer(
        model=largest.workload.name,
        system=largest.system.name,
        points=tuple(points),
        reference={mode: _chips(_smallest(row)) for mode, row in rows.items()},
        global_batch=batch,
        batch_per_chip=float(per_chip),
        parallel_fraction=parallel_fraction,
        failure_rate=RSC_1,
        warnings=largest.warnings,
    )


def amdahl_speedup(parallel_fraction: float, chips: float) -> float:
    """Return 1/((1-P)+P/N), the speed-up over one chip of work of which ``P`` is parallel.

    Amdahl 1967. It rises with N and approaches 1/(1-P); it knows no cost that grows with N.

    >>> round(amdahl_speedup(0.9, 8), 2), round(amdahl_speedup(0.9, 1024), 2)
    (4.71, 9.91)
    """
    return 1 / ((1 - parallel_fraction) + parallel_fraction / chips)


_Ask = Callable[[int, int | None], PlanAnswer]


def _counts(chips: Sequence[int]) -> list[int]:
    """Return the counts in order, each once, if they are whole numbers from 1 up."""
    if isinstance(chips, (str, bytes)) or not isinstance(chips, Iterable):
        raise UsageError(f"chips must be a list of whole numbers, not {chips!r:.60}")
    found = list(chips)
    for count in found:
        check_kinds(int, chips=count)
    if not found or min(found) < 1:
        raise UsageError("--chips needs counts from 1 up, for example 1,8,64")
    return sorted(set(found))


def _asker(model: str, name: str, options: dict[str, Any]) -> _Ask:
    """Return ``plan`` as a function of the count and the batch, each pair asked once."""
    known: dict[tuple[int, int | None], PlanAnswer] = {}

    def ask(count: int, batch: int | None) -> PlanAnswer:
        key = (count, batch)
        if key not in known:
            known[key] = plan(
                model, f"{name}:{count}", **{**options, "global_batch": batch, "explained": False}
            )
        return known[key]

    return ask


def _largest(ask: _Ask, counts: list[int], batch: int | None) -> tuple[PlanAnswer, int]:
    """Return the answer at the largest count that has a plan, and the global batch there."""
    first: InputError | None = None
    for count in reversed(counts):
        try:
            answer = ask(count, batch)
        except InputError as error:
            first = first or error
            continue
        return answer, answer.plans[0].plan.global_batch
    raise first or UsageError("no count was asked")


def _batch_per_chip(batch: int, counts: list[int], smallest: int | None) -> Fraction:
    """Return the samples per chip of weak scaling; a fraction, so that batches come out whole."""
    per_chip = Fraction(batch, counts[-1])
    return per_chip if smallest is None else max(per_chip, Fraction(1, smallest))


def _point(ask: _Ask, mode: Mode, count: int, batch: int, per_node: int) -> ScalePoint:
    """Return the best plan at one count, or why there is none."""
    failures = RSC_1.per_day(-(-count // per_node))
    if batch < 1:
        return ScalePoint(count, mode, None, None, "less than one sample", "batch", failures)
    try:
        answer = ask(count, batch)
    except InputError as error:
        rule = error.problems[0].rule
        return ScalePoint(count, mode, batch, None, rule, "batch", failures)
    best = answer.plans[0]
    return ScalePoint(
        chips=count,
        mode=mode,
        global_batch=batch,
        result=best,
        reason=None,
        breaks=_breaks(answer, best),
        failures_per_day=failures,
        exposed_comm_fraction=_share(best, _COMMUNICATION),
    )


def _breaks(answer: PlanAnswer, best: PlanResult) -> Break:
    """Name what holds a plan back: memory, else communication or the bubble if they matter.

    Communication waits for bandwidth if more of it, everywhere in the network, would help with
    at least half of what is exposed (minus d log time / d log bandwidth), else for latency.
    """
    if best.fits == "no":
        return "memory"
    exposed, bubble = _share(best, _COMMUNICATION), _share(best, ("bubble",))
    if max(exposed, bubble) < WORTH_NAMING:
        return "compute"
    if bubble > exposed:
        return "bubble"
    return "link" if _helped_by_bandwidth(answer, best) >= exposed / 2 else "latency"


def _helped_by_bandwidth(answer: PlanAnswer, best: PlanResult) -> float:
    """Return minus d log(step time) / d log(bandwidth of every tier of the network)."""
    pricers = Pricers(placement=best.plan.placement)
    now = Situation(answer.workload, answer.system, answer.profile, best.plan, pricers)
    wider = answer.system
    for resource in resources(wider):
        if resource.name.endswith("bandwidth") and not resource.name.startswith("memory"):
            wider = resource.scaled(wider, NUDGE)
    usual, faster = (float(now.evaluate(best.plan, on).step[0]) for on in (answer.system, wider))
    return -log(faster / usual) / log(NUDGE)


def _share(best: PlanResult, parts: Sequence[str]) -> float:
    root = best.time.root
    return sum(child.value for child in root.children if child.name in parts) / root.value


def _smallest(row: list[ScalePoint]) -> ScalePoint | None:
    """Return the point at the smallest count whose plan fits."""
    fitting = (point for point in row if point.result is not None and point.result.fits != "no")
    return next(fitting, None)


def _chips(point: ScalePoint | None) -> int | None:
    return None if point is None else point.chips


def _compared(row: list[ScalePoint], fraction: float | None) -> list[ScalePoint]:
    """Return the points of one mode with speed-up and efficiency against the smallest."""
    base = _smallest(row)
    compared = []
    for point in row:
        law = None if fraction is None else amdahl_speedup(fraction, point.chips)
        known = replace(point, amdahl_speedup=law)
        if base is not None and base.result and point.result and point.result.fits != "no":
            speedup = point.result.samples_per_s / base.result.samples_per_s
            efficiency = speedup * base.chips / point.chips
            known = replace(known, speedup=speedup, efficiency=efficiency)
        compared.append(known)
    return compared
