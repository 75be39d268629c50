"""A training run against its own plan: what it should take, what it takes, which flag differs.

The plan comes from what launched the run (a script, a configuration, a saved plan). It is priced as
``plan`` prices it, held against what the log reports, and against the best plan for the same batch:
every flag that differs is tried alone. A trace among the files tells where the time went.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from artery.answers.diagnose.missing import CONTRADICTS, FASTER
from artery.answers.plan import plan
from artery.answers.plan.result import PlanAnswer, PlanResult
from artery.answers.saved import read_plan
from artery.diagnoser.verdict import Diagnosis
from artery.errors import InputError, UsageError
from artery.formats.reading import Reading

Verdict = Literal["as_planned", "slower", "faster", "contradicts"]

FLAGS: Final = (
    *("tp", "pp", "vpp", "cp", "ep", "etp", "dp", "zero", "micro_batch", "recompute"),
    *("sequence_parallel", "attention", "dtype", "grad_dtype", "overlap"),
)
"""Fields of a plan that a launch script sets, in the order in which they are told."""

_KEPT: Final = ("global_batch", "seq", "framework", "optimizer", "task", "tokens", "dtype")
"""What stays in the best plan: other batches and numbers train another model."""

COMPUTES: Final = ("compute", "memory_bound", "optimizer")
COMMUNICATES: Final = ("tp", "pp", "cp", "ep", "dp")
"""Parts of the step; what remains (bubble, host, stragglers) is time in which a chip waits."""

GAIN: Final = 0.005
"""Assumed: a flag that saves less of the step is not told."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure: measured, and what the plan gives with its 80 % interval, in SI units.

    ``low`` and ``high`` are ``None`` where the model gives no interval.
    """

    name: str
    unit: str
    measured: float
    expected: float
    low: float | None = None
    high: float | None = None

    @property
    def ratio(self) -> float:
        """Measured over expected."""
        return self.measured / self.expected if self.expected else 0.0


@dataclass(frozen=True, slots=True)
class Differs:
    """A flag of the run and of the best plan; ``alone`` is the step in s with this flag changed.

    ``None`` where the one change alone is no plan, or does not fit.
    """

    flag: str
    given: str
    best: str
    alone: float | None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A figure of the log that does not follow from its time of a step, in SI units.

    ``follows`` is what the plan's arithmetic gives at that time.
    """

    name: str
    unit: str
    measured: float
    follows: float


AGREES: Final = 1.25
"""Assumed: programs count FLOPs in ways that differ by less (causal attention, vocabulary)."""

RECOMPUTED: Final = 4 / 3
"""Programs that count recomputation add a third forward pass to three (Narayanan et al., SC 2021,
section 5.1)."""

ROUNDED: Final = 1.1
"""Assumed: rates of a log are of the same steps as its times, but for averaging."""


@dataclass(frozen=True, slots=True)
class RunHeld:
    """A run beside its plan. ``terms`` are the expected parts of the step, in s.

    ``contradictions`` are figures of the log that exclude each other: which of them is measured
    nobody can tell, so that the run is neither slow nor fast. ``best`` is the best plan for the
    same batch, ``differs`` the flags in which it is another.
    """

    model: str
    system: str
    source: str
    verdict: Verdict
    given: PlanResult
    best: PlanResult | None
    compared: tuple[Compared, ...]
    terms: tuple[tuple[str, float], ...]
    differs: tuple[Differs, ...]
    warnings: tuple[str, ...]
    contradictions: tuple[Contradiction, ...] = ()

    @property
    def step(self) -> Compared:
        """The time of a step, measured and expected."""
        return self.compared[0]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of ``plan``."""

    model: str
    system: str
    overrides: Sequence[str]
    options: Mapping[str, Any]

    def answer(self, options: Mapping[str, Any]) -> PlanAnswer:
        """Return what ``plan`` says with these options in place of those asked."""
        return plan(self.model, self.system, overrides=self.overrides, explained=False, **options)


def run_held(
    readings: Sequence[tuple[str, Reading]],
    saved: str,
    on: str | None,
    overrides: Sequence[str] = (),
    given: Mapping[str, Any] | None = None,
) -> RunHeld:
    """Return the run whose log is among ``readings`` against the plan in the file ``saved``.

    ``given`` are a ``model`` and degrees that hold over what the file says. Raises ``InputError``
    if no file reports steps, or the plan cannot be priced.
    """
    logs = [(path, one) for path, one in readings if one.format == "megatron-log"]
    if not logs:
        raise UsageError(
            "--from holds a run against its plan: give its training log, with the time of a step"
        )
    asked = read_plan(saved)
    beside = {name: value for name, value in (given or {}).items() if value is not None}
    model, system = beside.pop("model", None) or asked.model, on or asked.on
    if model is None:
        raise asked.without_model(saved, "--model NAME")
    if system is None:
        raise UsageError(f"{saved} does not say on which system it runs: add --on SYSTEM")
    options = {**asked.options, **beside}
    options.pop("overrides", None)
    path, log = logs[0]
    if "global_batch" not in options and log.fields.get("global_batch"):
        options["global_batch"] = int(log.fields["global_batch"])
    question = _Asked(model, system, overrides, options)
    answer = question.answer(options)
    result = answer.plans[0]
    traces = [one for _, one in readings if one.format == "kineto"]
    compared = tuple(_compared(log.fields, answer, result, traces))
    if not compared or compared[0].name != "step_s":
        raise UsageError(f"{path} reports no time of a step: set --log-interval, --log-throughput")
    best = _best(question)
    against = tuple(_contradictions(log.fields, answer, result))
    return RunHeld(
        model=answer.workload.name,
        system=answer.system.name,
        source=path,
        verdict="contradicts" if against else _verdict(compared[0]),
        given=result,
        best=best,
        compared=compared,
        terms=tuple((one.name, float(one.value)) for one in result.time.root.children),
        differs=tuple(_differs(question, result, best)),
        warnings=answer.warnings,
        contradictions=against,
    )


def by_run(found: Diagnosis, run: RunHeld) -> Diagnosis:
    """Return the diagnosis with the verdict on the run, where nothing else was measured."""
    if found.verdict != "unknown" or found.curve is not None:
        return found
    if run.verdict == "contradicts":
        return replace(found, missing=(CONTRADICTS,))
    if run.verdict == "faster":
        return replace(found, missing=(FASTER,))
    if run.verdict == "slower":
        return replace(found, verdict="degraded", missing=())
    return replace(found, verdict="healthy", missing=())


def _contradictions(
    fields: Mapping[str, Any], answer: PlanAnswer, result: PlanResult
) -> Iterator[Contradiction]:
    """Yield what the log says and its own time of a step excludes."""
    step, root = fields.get("step_s"), float(result.time.root.value)
    if not step:
        return
    chips, peak = answer.system.chips, answer.system.chip.peaks.get(result.plan.dtype)
    most = AGREES * (1.0 if result.plan.recompute == "none" else RECOMPUTED)
    if fields.get("flop_per_s") and peak:
        follows = result.mfu * peak * root / step
        if not 1 / AGREES < fields["flop_per_s"] / follows < most:
            yield Contradiction("flop_per_s_per_chip", "FLOP/s", fields["flop_per_s"], follows)
    rates = [("samples_per_s", result.plan.global_batch / step, 1)]
    if result.tokens_per_s:
        each = chips if fields.get("per_gpu") else 1
        rates.append(("tokens_per_s", result.tokens_per_s * root / step, each))
    for name, follows, each in rates:
        said = fields.get(name)
        if said and not 1 / ROUNDED < said * each / follows < ROUNDED:
            yield Contradiction(name, "1/s", said * each, follows)


def _verdict(step: Compared) -> Verdict:
    if step.high is not None and step.measured > step.high:
        return "slower"
    return "faster" if step.low is not None and step.measured < step.low else "as_planned"


def _compared(
    fields: Mapping[str, Any], answer: PlanAnswer, result: PlanResult, traces: Sequence[Reading]
) -> Iterator[Compared]:
    """Yield the figures that the log (and a trace) reports, the step first."""
    root, chips = result.time.root, answer.system.chips
    step = _step_of(fields, answer, result)
    if step is not None:
        yield Compared("step_s", "s", step, float(root.value), float(root.low), float(root.high))
    peak = answer.system.chip.peaks.get(result.plan.dtype)
    if fields.get("flop_per_s") and peak:
        yield Compared("flop_per_s_per_chip", "FLOP/s", fields["flop_per_s"], result.mfu * peak)
    rate = fields.get("tokens_per_s")
    if rate and result.tokens_per_s:
        whole = rate * chips if fields.get("per_gpu") else rate
        yield Compared("tokens_per_s", "1/s", whole, result.tokens_per_s)
    if fields.get("samples_per_s"):
        yield Compared("samples_per_s", "1/s", fields["samples_per_s"], result.samples_per_s)
    if fields.get("mfu"):
        yield Compared("mfu", "1", fields["mfu"], result.mfu)
    if fields.get("memory_bytes"):
        total = float(result.memory.root.value)
        yield Compared("memory_bytes", "B", fields["memory_bytes"], total)
    for trace in traces[:1]:
        yield from _shares(trace.fields, result)


def _step_of(fields: Mapping[str, Any], answer: PlanAnswer, result: PlanResult) -> float | None:
    """Return the measured seconds of a step, from its rate where the log gives only that."""
    if fields.get("step_s"):
        return float(fields["step_s"])
    batch = result.plan.global_batch
    if fields.get("samples_per_s"):
        return float(batch / fields["samples_per_s"])
    rate = fields.get("tokens_per_s")
    if not rate or not result.tokens_per_s:
        return None
    whole = rate * answer.system.chips if fields.get("per_gpu") else rate
    return float(result.time.root.value * result.tokens_per_s / whole)


def _shares(fields: Mapping[str, Any], result: PlanResult) -> Iterator[Compared]:
    """Yield which share of the traced time is compute, exposed communication and waiting."""
    span = fields.get("span_s")
    if not span or not fields.get("kernels"):
        return
    parts = {one.name: float(one.value) for one in result.time.root.children}
    step = sum(parts.values())
    computed = sum(parts.get(name, 0.0) for name in COMPUTES) / step
    sent = sum(parts.get(name, 0.0) for name in COMMUNICATES) / step
    measured = fields.get("compute_s", 0.0) / span, fields["exposed_communication_s"] / span
    yield Compared("compute_share", "1", measured[0], computed)
    yield Compared("exposed_communication_share", "1", measured[1], sent)
    yield Compared("waiting_share", "1", 1 - sum(measured), 1 - computed - sent)


def _best(question: _Asked) -> PlanResult | None:
    """Return the best plan for the same batch; ``None`` if none can be."""
    kept = {name: value for name, value in question.options.items() if name in _KEPT}
    try:
        found = question.answer(kept).plans[0]
    except InputError:
        return None
    return found if found.fits != "no" else None


def _differs(question: _Asked, given: PlanResult, best: PlanResult | None) -> Iterator[Differs]:
    """Yield the flags in which the best plan is another, those that gain most alone first."""
    if best is None or best.time.root.value >= given.time.root.value * (1 - GAIN):
        return
    found = []
    for flag in FLAGS:
        one, other = (getattr(each.plan, flag) for each in (given, best))
        if one == other:
            continue
        changed = {**question.options, flag: other}
        if flag in ("tp", "pp", "cp"):
            changed.pop("dp", None)  # the other degrees leave what they leave to it
        alone = None
        if flag != "dp":
            try:
                tried = question.answer(changed).plans[0]
                alone = tried if tried.fits != "no" else None
            except (InputError, UsageError):
                alone = None
        seconds = None if alone is None else float(alone.time.root.value)
        found.append(Differs(flag, _said(one), _said(other), seconds))
    yield from sorted(found, key=lambda one: one.alone if one.alone is not None else float("inf"))


def _said(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)
