"""The interval of a step as it is shown: the model's own, widened by a range of expert loads."""

from __future__ import annotations

from dataclasses import replace

from artery.answers.plan.levers import Situation
from artery.step.evaluate import Evaluation

Load = tuple[float, float, float]


def interval(situation: Situation, priced: Evaluation, load: Load) -> tuple[float, float]:
    """Return (low, high) seconds of the one plan in ``priced``.

    For a mixture of experts the plan is priced at the least and the greatest ``load`` of the
    busiest expert too, and the interval's ends move as much as the step does.
    """
    low, high, step = (float(each[0]) for each in (priced.low, priced.high, priced.step))
    if not any(layer.routing for layer in situation.workload.kinds):
        return low, high
    least, most = (
        float(situation.evaluate(replace(situation.plan, load_factor=end)).step[0])
        for end in (load[0], load[2])
    )
    return low * least / step, high * most / step
