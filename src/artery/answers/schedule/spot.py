"""One training job on spot instances: elastic against a fixed size that starts again.

The job trains for as long as the trace lasts. A fixed size waits until it has all its instances and
starts again from its last checkpoint whenever it loses one. An elastic job goes on with what is
there. Both save at the interval that the complete model finds best for the losses of the trace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from typing import Any, Final

from artery.answers.schedule.outages import granted, loss_rate
from artery.answers.schedule.result import Spot, Spotted
from artery.answers.schedule.sense import fits, least_bytes
from artery.answers.schedule.speed import NEAREST
from artery.answers.schedule.stage import Stage
from artery.cloud.fleet_job import FleetJob
from artery.cloud.intervals import best_complete
from artery.cloud.policies import POLICIES
from artery.errors import InputError, Problem
from artery.formats.wording import counted
from artery.simulator.fleet.play import play
from artery.simulator.fleet.setting import Costs, Setting
from artery.units import show_bytes

ENDLESS: Final = 1e10
"""Seconds of work: more than any trace lasts."""

USUAL: Final = 1800.0
"""Assumed: who computes no interval saves every half hour."""

_LAST: Final = {"h": "18.000", "s": "64800"}
"""How eighteen hours are written in the unit of a trace."""


def on_spot(trace: str, fields: dict[str, Any], stage: Stage, kind: int) -> Spot:
    """Return the ways to run on the instances of ``trace``, of which ``fields`` tells.

    Raises ``InputError`` if the trace has more instances than the system nodes.
    """
    system, what = stage.system, stage.rates.kinds[kind]
    per_node = system.chips_per_node
    capacity = granted(trace, system.nodes)
    most, end = int(fields["most_instances"]), float(fields["duration_s"])
    unit = max(what.kind.unit // per_node, 1)
    if most < unit:
        rule = f"a replica takes {unit} instances, of which there are {most} at most"
        raise InputError(Problem(file=trace, found=what.kind.model, rule=rule, fix="--model gpt2"))
    if end <= 0.0:
        raise InputError(
            Problem(
                file=trace, found="one moment, 0", rule="a trace of instances has an end",
                fix=f"a last row with the time when it ends, as {_LAST[fields['unit']]},{most}",
            )
        )  # fmt: skip
    rate = loss_rate(fields)
    costs = _costs(stage, kind, rate)
    sizes, fitting, unfit = _fitting(stage, kind, range(unit, most + 1, unit))

    def run(name: str, asked: int, able: tuple[int, ...], every: float | None = None) -> Spotted:
        def with_interval(kind: int, chips: int) -> Costs:
            found = costs(kind, chips)
            return found if every is None else found._replace(interval=every)

        job = FleetJob("train", 0.0, ENDLESS, asked * per_node, None, 0, "",
                       tuple(n * per_node for n in able), kind)  # fmt: skip
        setting = Setting(
            nodes=most, per_node=per_node, policy=POLICIES["elastic" if len(able) > 1 else "fifo"],
            leaf=min(stage.levels.leaf, most), pod=stage.levels.pod, speeds=stage.rates.speed,
            costs=with_interval, capacity=capacity, until=end, seed=stage.request.seed,
        )  # fmt: skip
        outcome = play(setting, [job])
        steps = outcome.work / (asked * per_node)
        steps /= stage.rates.step(stage.rates.packed(kind, asked * per_node))
        return Spotted(name, asked, steps, outcome)

    fixed = [run("fixed", size, (size,)) for size in sizes]
    mean = min(sizes, key=lambda n: (abs(n - fields["mean_instances"]), n))
    return Spot(
        duration=end,
        mean_instances=float(fields["mean_instances"]),
        losses=rate * 86400.0,
        interval=costs(kind, mean * per_node).interval,
        elastic=run("elastic", sizes[-1], sizes),
        best=replace(max(fixed, key=lambda each: each.steps), name="fixed-best"),
        mean=replace(fixed[sizes.index(mean)], name="fixed-mean"),
        most=replace(fixed[-1], name="fixed-most"),
        usual=run("fixed-usual", sizes[-1], sizes[-1:], USUAL),
        fixed=tuple(fixed),
        fits=fitting,
        unfit=unfit,
    )


def _fitting(
    stage: Stage, kind: int, sizes: Sequence[int]
) -> tuple[tuple[int, ...], bool, tuple[str, ...]]:
    """The sizes at which the model fits, whether there are any (none: all), and what to say."""
    rates, per_node = stage.rates, stage.system.chips_per_node
    needs = {size: least_bytes(rates, kind, size * per_node) for size in sizes}
    fine = tuple(size for size in sizes if fits(rates, needs[size]))
    if len(fine) == len(sizes):
        return fine, True, ()
    room, model = show_bytes(rates.system.chip.memory.capacity), rates.kinds[kind].kind.model
    least = needs[max(size for size in sizes if size not in fine)]
    what = (
        f"{model} needs {show_bytes(least)} of the {room} of a chip, with full recomputation and "
        "all state sharded"
    )
    if fine:
        less = counted(min(fine), "instance")
        return fine, True, (f"{what}, below {less}: the job does not run on fewer",)
    spread = counted(sizes[-1], "instance")
    said = f"{what} over {spread}: it fits no size; it is played as if it did"
    return tuple(sizes), False, (f"{said}: --model, --tp and --pp say another",)


def _costs(stage: Stage, kind: int, rate: float) -> Callable[[int, int], Costs]:
    """Costs with the interval for instances that are lost ``rate`` times a second each."""
    computed = stage.setting(POLICIES["fifo"], stage.system.nodes).costs

    def costs(_: int, chips: int) -> Costs:
        found = computed(kind, chips)
        if stage.request.interval is not None:
            return found
        nodes = max(chips // stage.system.chips_per_node, 1)
        best = inf
        if rate > 0.0:
            best = max(best_complete(found.save, 1.0 / (rate * nodes), found.process)[0], NEAREST)
        return found._replace(interval=best)

    return costs
