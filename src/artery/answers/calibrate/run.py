"""A training run as a measurement: its plan, and the time of a step that its log reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from artery.answers.calibrate.system import Base, changed
from artery.answers.libraries import library_of
from artery.answers.plan import plan
from artery.answers.saved import read_plan
from artery.catalog.systems.build import build
from artery.catalog.systems.spec import Spec
from artery.collective.closed_form import ClosedForm
from artery.collective.placement import packed
from artery.core.plan import Plan
from artery.core.profile import Profile
from artery.core.workload import Workload
from artery.errors import InputError, Problem, UsageError
from artery.formats.reading import Reading
from artery.step.evaluate import evaluate

STEP_NOISE = 0.02
"""Assumed: the time of a step of the same job on the same system, from one day to another."""


@dataclass(frozen=True, slots=True)
class Run:
    """A plan for ``workload`` and the seconds of its step, as the log ``source`` reports."""

    source: str
    workload: Workload
    profile: Profile
    plan: Plan
    seconds: float

    def price(self, base: Base, values: Mapping[str, float]) -> float:
        """Return what the step takes in s on the system with these ``values`` of its knobs."""
        table = changed(base.table, values)
        system = build(table, base.chip, dict(base.links), Spec(base.name, chips=self.plan.chips))
        pricer = ClosedForm(system, library_of(system, base.nccl), placement=packed(system.chips))
        priced = evaluate(self.workload, system, [self.plan], profile=self.profile, pricer=pricer)
        return float(priced.step[0])


def runs_of(
    readings: Sequence[tuple[str, Reading]],
    saved: Sequence[str],
    base: Base,
    overrides: Sequence[str],
) -> tuple[Run, ...]:
    """Return a run for each training log among ``readings``, with its plan from ``saved``.

    One plan is that of all logs; of several, each log has the one at its place. Raises
    ``InputError`` for a log without the time of a step, and ``UsageError`` where a plan does not
    say what is trained, or there are not as many plans as logs.
    """
    logs = [(path, one) for path, one in readings if one.format == "megatron-log"]
    if saved and not logs:
        raise UsageError(f"--from {saved[0]}, and no training log among the files")
    if len(saved) > 1 and len(saved) != len(logs):
        raise UsageError(
            f"{len(saved)} --from and {len(logs)} training logs; give one for all, or one for each "
            "in the order of the logs"
        )
    found = []
    for place, (path, log) in enumerate(logs if saved else ()):
        launched = saved[place] if len(saved) > 1 else saved[0]
        asked = read_plan(launched)
        if asked.model is None:
            raise UsageError(f"{launched} does not say which model it trains")
        options = {**asked.options}
        options.pop("overrides", None)
        step = log.fields.get("step_s")
        if not step:
            rule = "a calibration needs the time of a step"
            fix = "Megatron-LM: --log-interval; torchtitan reports tokens per second alone"
            raise InputError(Problem(file=path, found="no time of a step", rule=rule, fix=fix))
        batch = log.fields.get("global_batch")
        if "global_batch" not in options and batch:
            options["global_batch"] = int(batch)
        chips = _chips(options, launched)
        answer = plan(
            asked.model, f"{base.name}:{chips}", overrides=overrides, nccl=base.nccl,
            explained=False, **options,
        )  # fmt: skip
        best = answer.plans[0].plan
        found.append(Run(path, answer.workload, answer.profile, best, float(step)))
    return tuple(found)


def _chips(options: Mapping[str, object], saved: str) -> int:
    """Return the chips of a plan: tp·pp·cp·dp."""
    product = 1
    for name in ("tp", "pp", "cp", "dp"):
        value = options.get(name)
        if isinstance(value, int):
            product *= value
        elif name == "dp":
            rule = "tp·pp·cp·dp is the number of chips"
            fix = "a script with --nnodes and --nproc-per-node, or a saved plan"
            raise InputError(Problem(file=saved, found="no dp", rule=rule, fix=fix))
    return product
