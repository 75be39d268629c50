"""What an assumed batch keeps out: plans with every chip data-parallel."""

from __future__ import annotations

from artery.answers.plan.request import Request, Settled
from artery.core.plan import Plan
from artery.core.pricing import Pricer
from artery.errors import InputError
from artery.planner.search import search
from artery.planner.space import Space
from artery.step.evaluate import evaluate

WORTH = 1.05
"""Assumed: a plan that is so much faster is worth another batch."""


def kept_out(request: Request, settled: Settled, pricer: Pricer, best: Plan) -> tuple[str, ...]:
    """Return a warning if a batch that the chips divide would be faster by ``WORTH`` or more.

    Of a batch that nobody gave, on chips that do not divide it: then no plan has them all
    data-parallel. Tried is the next batch of a power of two for each chip, as those have the most
    sizes of micro-batch.
    """
    chips, batch = request.system.chips, settled.fixed["global_batch"]
    if request.global_batch is not None or request.degrees or chips > batch or not batch % chips:
        return ()
    each = -(-batch // chips)
    wider = (1 << (each - 1).bit_length()) * chips
    alone = {"global_batch": wider, "tp": 1, "pp": 1, "cp": 1, "dp": chips}
    space = Space(chips, {**settled.fixed, **alone}, settled.shared, settled.profile.zero_stages)
    try:
        found = search(request.workload, request.system, space, profile=settled.profile,
                       pricer=pricer, top=1)  # fmt: skip
    except InputError:
        return ()
    if not found.fitting:
        return ()
    rates = [
        plan.global_batch
        / float(evaluate(request.workload, request.system, [plan], profile=settled.profile,
                         pricer=pricer).step[0])
        for plan in (best, found.plans[0])
    ]  # fmt: skip
    if rates[1] < WORTH * rates[0]:
        return ()
    more = f"{rates[1] / rates[0]:.1f} times the"
    said = (
        f"global batch {batch:,} is no multiple of {chips:,} chips, so no plan has them all "
        f"data-parallel; --global-batch {wider:,} has {more} samples per second"
    )
    return (said,)
