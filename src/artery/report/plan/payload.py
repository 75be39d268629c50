"""The answer of ``plan`` as the payload of one JSON document, schema ``artery.plan/1``.

Numbers are SI base units, named in the key. ``breakdown_s`` always has every part and sums
to ``step_time_s``. ``request`` repeats what was asked, so that the document can be asked
again (``artery plan --from``) or opened up (``artery explain --from``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from artery.answers.plan.collectives import Chosen
from artery.answers.plan.contention import Exchange, Network, Spread
from artery.answers.plan.result import PlanAnswer, PlanResult, Run
from artery.core.plan import Plan
from artery.core.term import Term
from artery.step import PARTS

HOLDERS = ("weights", "gradients", "optimizer", "activations", "other")
"""What holds memory, in the order in which every answer shows it."""


def plan_payload(answer: PlanAnswer, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of a whole answer; ``request`` is what was asked."""
    workload, system, profile = answer.workload, answer.system, answer.profile
    return {
        "request": dict(request),
        "workload": {
            "name": workload.name,
            "family": workload.family,
            "parameters": workload.parameters,
            "active_parameters": workload.active_parameters,
        },
        "system": {
            "name": system.name,
            "chip": system.chip.name,
            "chips": system.chips,
            "nodes": system.nodes,
        },
        "profile": {"name": profile.name, "as_of": profile.as_of},
        "given": answer.given,
        "searched": answer.searched,
        "fitting": answer.fitting,
        "plans": [result_payload(result) for result in answer.plans],
        "warnings": answer.warnings,
    }


def result_payload(result: PlanResult) -> dict[str, Any]:
    """Return the document of one priced plan."""
    step = result.time.root
    return {
        "parallelism": parallelism(result.plan),
        "step_time_s": step.value,
        "step_time_low_s": step.low,
        "step_time_high_s": step.high,
        "tokens_per_s": result.tokens_per_s,
        "samples_per_s": result.samples_per_s,
        "mfu": result.mfu,
        "hfu": result.hfu,
        "memory": _memory(result),
        "breakdown_s": by_part(step, PARTS),
        "limited_by": result.limited_by,
        "levers": list(result.levers),
        "energy_j_per_step": result.energy_per_step,
        "cost_usd_per_hour": result.cost_per_hour,
        "run": _run(result.run),
        "penalty": result.penalty,
        "notes": result.notes,
        "collectives": [_collective(each) for each in result.collectives],
        **({} if result.network is None else {"network": _network(result.network)}),
    }


def parallelism(plan: Plan) -> dict[str, Any]:
    """Return the document of one plan: the chips that it uses, then its fields."""
    return {"chips": plan.chips, **asdict(plan)}


def _collective(each: Chosen) -> dict[str, Any]:
    return {
        "part": each.kind,
        "collective": each.collective,
        "algorithm": each.algorithm,
        "protocol": each.protocol,
        "ranks": each.ranks,
        "stride": each.stride,
        "size_bytes": each.size,
        "time_s": each.seconds,
        "added_by": each.adder,
    }


def _network(network: Network) -> dict[str, Any]:
    """Return the document of what simulating the communication showed."""
    return {
        "step_time_s": network.step,
        "closed_form_step_time_s": network.closed,
        "routing": network.routing,
        "queue_pairs": network.queue_pairs,
        "beside": network.beside,
        "collectives": [_exchange(each) for each in network.exchanges],
        **({} if network.spread is None else {"seeds": _spread(network.spread)}),
    }


def _spread(spread: Spread) -> dict[str, Any]:
    names = ("low", "median", "high")
    return {
        "count": spread.seeds,
        "whole": spread.whole,
        **{f"step_time_{n}_s": s for n, s in zip(names, spread.step, strict=True)},
        **{f"communication_{n}_s": s for n, s in zip(names, spread.communication, strict=True)},
    }


def _exchange(exchange: Exchange) -> dict[str, Any]:
    link = exchange.link
    return {
        "part": exchange.kind,
        "collective": exchange.collective,
        "algorithm": exchange.algorithm,
        "groups": exchange.groups,
        "ranks": exchange.ranks,
        "stride": exchange.stride,
        "size_bytes": exchange.size,
        "time_s": exchange.seconds,
        "alone_s": exchange.alone,
        "median_group_s": exchange.median,
        "startup_s": exchange.startup,
        "closed_form_s": exchange.closed,
        "slowest_group": exchange.group,
        "slowest_ranks": exchange.slowest,
        "played": exchange.played,
        "refused": exchange.refused or None,
        "link": None
        if link is None
        else {
            "name": link.name,
            "class": link.link,
            "load": link.load,
            "groups": dict(link.groups),
        },
    }


def by_part(root: Term, names: tuple[str, ...]) -> dict[str, float]:
    """Return the value of each named child of ``root``.

    A child that is not in ``names`` counts as ``other``, so that the parts sum to the whole.
    """
    values = dict.fromkeys(names, 0.0)
    for child in root.children:
        values[child.name if child.name in values else "other"] += child.value
    return values


def _memory(result: PlanResult) -> dict[str, Any]:
    root = result.memory.root
    held = by_part(root, HOLDERS)
    return {
        "fits": result.fits,
        "total_bytes": root.value,
        "low_bytes": root.low,
        "high_bytes": root.high,
        "capacity_bytes": result.capacity,
        **{f"{name}_bytes": value for name, value in held.items()},
    }


def _run(run: Run | None) -> dict[str, Any] | None:
    if run is None:
        return None
    return {
        "tokens": run.tokens,
        "steps": run.steps,
        "seconds": run.seconds,
        "energy_j": run.energy,
        "cost_usd": run.cost,
    }
