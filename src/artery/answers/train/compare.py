"""Real training, predicted beside measured: step, computing, communication, scaling.

One calibration run says what this machine's operators and all-reduces cost; the prediction is
made from that and the shapes of the model alone, before anything of the run is timed.

torch is loaded by :func:`compare_training` and what it calls, not by importing this module.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any, Final

from artery.answers.train.terms import Spread, step_tree, term
from artery.core.term import Difference, Estimate, Measurement, Term, compare
from artery.errors import InputError, Problem
from artery.meter.surroundings import cores
from artery.runner.extra import needed
from artery.runner.probing.measured import Run, Wanted, communication, exposed, slowest
from artery.runner.probing.noise import noise

if TYPE_CHECKING:
    from artery.runner.probing.machine import Machine, Step

TOLERANCE: Final = 0.15
"""Assumed half-width of the 80 % interval of a predicted time where nobody else computes: the goal
of one calibration."""

_WIDE: Final = 0.25
"""Half-width of a predicted step from which it is said how little is known (assumed)."""

_THREAD: Final = "computing, processor time"
"""The condition of a measurement that others on the machine hardly change."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Scaling:
    """``ranks`` processes, each with the same batch: step in s, samples per s, and efficiency.

    Efficiency is the step of one process over this one: 1 if more processes cost nothing.
    """

    ranks: int
    step_s: float
    samples_per_s: float
    efficiency: float


@dataclass(frozen=True, slots=True)
class TrainComparison:
    """What was predicted of a run, what was measured, and where they part.

    ``loads``: the machine's load average after the calibration and after the measured run;
    ``predicted_scaling`` from one process up, ``measured_scaling`` at the run's ranks, against
    the same processes without exchange.
    """

    run: Run
    ranks: int
    cores: int
    predicted: Estimate
    measured: Measurement
    differences: tuple[Difference, ...]
    predicted_scaling: tuple[Scaling, ...]
    measured_scaling: Scaling
    bytes_sent: float
    loads: tuple[float, float]
    warnings: tuple[str, ...]

    @property
    def errors(self) -> dict[str, float]:
        """Predicted over measured, minus one, by the path of the term."""
        return {
            one.path: one.predicted / one.measured - 1 for one in self.differences if one.measured
        }

    @property
    def inside(self) -> dict[str, bool]:
        """Whether the measured time lies within the interval of the predicted one, by path."""
        ends = {path: (term.low, term.high) for path, term in self.predicted.root.walk()}
        return {
            one.path: ends[one.path][0] <= one.measured <= ends[one.path][1]
            for one in self.differences
        }


def calibrate_training(
    ranks: Sequence[int] = (2,),
    *,
    compress: Sequence[str] = (),
    progress: Progress | None = None,
    timeout: float = 300.0,
) -> Machine:
    """Return what one calibration run says of this machine.

    ``ranks``: the numbers of processes among which all-reduces are timed; others are drawn out.
    ``compress``: kinds of compression (``fp16``, ``bf16``, ``powersgd``) that are timed as well.
    """
    _torch()
    from artery.runner.probing.calibration import calibrated, wanted
    from artery.runner.probing.probe import probe

    _tell(progress, "calibrating: operators, all-reduces, one reference run")
    groups = sorted({number for number in ranks if number > 1})
    processes = max([1, *groups])
    asked = wanted(groups, compress)
    return calibrated(list(probe(asked, processes, timeout=timeout, heard=progress)), cores())


def predict_training(run: Run, ranks: int, machine: Machine) -> Estimate:
    """Return the predicted step of ``run`` on ``ranks`` processes; nothing of it is run."""
    step = machine.step(run, ranks)
    warnings = [
        f"no {kind} was timed in the calibration; it is priced as its nearest kin"
        for kind in step.borrowed
    ]
    if beyond := _beyond(step):
        warnings.append(beyond)
    if run.batch % 16:
        warnings.append("batches that 16 does not divide may take kernels that are far slower")
    return Estimate(_predicted(run, step, machine, ranks), "calibrated closed form",
                    tuple(warnings))  # fmt: skip


def _beyond(step: Step) -> str:
    """Say that a step is smaller or larger than all whose operators were timed; empty if not."""
    from artery.runner.probing.calibration import timed_flops

    least, most = timed_flops()
    if least <= step.flops <= most:
        return ""
    return (
        f"a step of {step.flops:.3g} FLOP is outside of what was calibrated ({least:.3g} to "
        f"{most:.3g}): the prediction is drawn out"
    )


def compare_training(
    run: Run,
    ranks: int = 2,
    *,
    machine: Machine | None = None,
    scaling: Sequence[int] = (),
    rounds: int = 6,
    progress: Progress | None = None,
) -> TrainComparison:
    """Return the prediction of ``run`` on ``ranks`` processes beside its measurement.

    As :func:`compare_trainings`, for one run.
    """
    (one,) = compare_trainings(
        (run,), ranks, machine=machine, scaling=scaling, rounds=rounds, progress=progress
    )
    return one


def compare_trainings(
    runs: Sequence[Run],
    ranks: int = 2,
    *,
    machine: Machine | None = None,
    scaling: Sequence[int] = (),
    rounds: int = 6,
    progress: Progress | None = None,
) -> tuple[TrainComparison, ...]:
    """Return the prediction of each of ``runs`` on ``ranks`` processes beside its measurement.

    ``machine`` is that of an earlier :func:`calibrate_training`. Without it, the calibration and
    the measured runs take turns, round by round, so that both meet the same weather; what was
    measured of ``runs`` does not enter the prediction. ``scaling``: further numbers of processes
    to predict.
    """
    for run in runs:
        _check(run, ranks)
    _torch()
    from artery.runner.probing.calibration import calibrated, wanted
    from artery.runner.probing.probe import probe

    asked = Wanted(runs=tuple(runs), rounds=rounds)
    calibration: tuple[Run, ...] = ()
    if machine is None:
        _tell(progress, "calibrating and measuring in turns")
        asked = wanted([ranks] if ranks > 1 else [], [run.compress for run in runs])
        calibration = asked.runs
        asked = replace(asked, runs=(*calibration, *runs), rounds=rounds)
    found = list(probe(asked, ranks, heard=progress))
    if machine is None:
        machine = calibrated(
            [{**one, "runs": one["runs"][: len(calibration)]} for one in found], cores()
        )
    return tuple(
        _compared(run, ranks, machine, _measured(found, number), scaling)
        for number, run in enumerate(runs, len(calibration))
    )


def _compared(
    run: Run,
    ranks: int,
    machine: Machine,
    found: tuple[Measurement, float],
    scaling: Sequence[int],
) -> TrainComparison:
    predicted = predict_training(run, ranks, machine)
    measured, sent = found
    loads = machine.load, os.getloadavg()[0]
    one = machine.step(run, 1).timeline.step_s
    samples = run.batch * run.accumulate
    points = sorted({1, ranks, *scaling} if machine.wires else {1})
    steps = {number: machine.step(run, number).timeline.step_s for number in points}
    whole = measured.root.value
    alone = whole - measured.root.children[-1].value
    return TrainComparison(
        run,
        ranks,
        machine.cores,
        predicted,
        measured,
        compare(predicted, measured),
        tuple(
            Scaling(number, step, number * samples / step, one / step)
            for number, step in steps.items()
        ),
        Scaling(ranks, whole, ranks * samples / whole, alone / whole),
        sent,
        loads,
        (*predicted.warnings, *_cautions(machine, loads, predicted.root, measured)),
    )


def _measured(found: Sequence[Mapping[str, Any]], number: int) -> tuple[Measurement, float]:
    """Return what the ranks of a probe found of their run ``number``, and its bytes per rank."""
    runs = [one["runs"][number] for one in found]
    parts = {name: slowest(runs, name) for name in ("forward", "backward", "optimizer")}
    added = exposed(runs)
    alone = slowest(runs, "alone")
    talked = communication(runs) if len(runs) > 1 else 0.0
    root = step_tree(parts, (alone, added, talked), Spread(noise(runs), 1.0, 0.0))
    traces = {
        f"rank {one['rank']} {name}": f"{seconds:.6g} s"
        for one in found
        for name, seconds in one["runs"][number]["trace"].items()
        if name != "steps"
    }
    thread = slowest(runs, "thread")
    conditions = {
        _THREAD: f"{thread * 1e3:.4g} ms",
        "ranks": str(len(runs)),
        "load": f"{found[0]['load']:.2f}",
        "cores": str(cores()),
        **traces,
    }
    return Measurement(root, "measured here", conditions), float(runs[0]["bytes_sent"])


def _cautions(
    machine: Machine, loads: tuple[float, float], predicted: Term, measured: Measurement
) -> list[str]:
    found = []
    if not machine.wires:
        found.append("all-reduces were not timed: more than one process cannot be predicted")
    if max(loads) > int(measured.conditions["ranks"]) + machine.cores / 2:
        load = f"load average {max(loads):.1f} on {machine.cores} cores"
        own = f"computing took {measured.conditions[_THREAD]} of processor time"
        found.append(f"others computed as well ({load}), so times are too long; {own}")
    half = predicted.high / predicted.value - 1
    if half >= _WIDE:
        found.append(
            f"the rounds of the calibration differ: the step is known to within {half:.0%}"
        )
    return found


def _predicted(run: Run, step: Step, machine: Machine, ranks: int) -> Term:
    line = step.timeline
    parts = {
        "forward": step.forward_s,
        "backward": step.backward_s,
        "optimizer": step.optimizer_s,
    }
    inputs: dict[str, float | int | str] = {
        "batch": run.batch,
        "ranks": ranks,
        "cores": machine.cores,
        "flop": step.flops,
        "operators": step.operators,
        "bytes_on_the_wire": sum(step.sizes),
        "compute_beside_all_reduce": machine.sharing.compute,
        "all_reduce_in_step": machine.sharing.alone,
        "all_reduce_beside_computing": machine.sharing.beside,
        "skew": machine.sharing.skew,
    }
    spread = Spread(machine.noise, sqrt(2.0), TOLERANCE)
    buckets = tuple(
        term(f"bucket_{number}", seconds, spread.communication(seconds), inputs={"bytes": size})
        for number, (seconds, size) in enumerate(zip(step.wires, step.sizes, strict=True))
    )
    times = line.compute_s, line.exposed_s, line.communication_s
    return step_tree(parts, times, spread, inputs, buckets)


def _check(run: Run, ranks: int) -> None:
    for field, value, most in (
        ("ranks", ranks, 64),
        ("batch", run.batch, 65536),
        ("accumulate", run.accumulate, 1024),
    ):
        if not 1 <= value <= most:
            rule, fix = f"from 1 to {most:,}", "choose a number in between"
            raise InputError(Problem(field=field, found=str(value), rule=rule, fix=fix))


def _torch() -> Any:  # noqa: ANN401 - a module
    return needed("torch", "torch", "real processes that train")


def _tell(progress: Progress | None, text: str) -> None:
    if progress is not None:
        progress(text)
