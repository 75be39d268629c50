"""The answer of ``schedule`` as the payload of one JSON document, schema ``artery.schedule/1``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from artery.answers.schedule.result import Played, ScheduleAnswer, Sizing, Spot
from artery.simulator.fleet.accounts import STATES

_MICRO_HOUR: Final = 3.6e9
"""Chip-microseconds in a chip-hour."""


def schedule_payload(answer: ScheduleAnswer, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of ``artery.schedule/1``; ``request`` is what was asked."""
    jobs = answer.jobs.jobs
    return {
        "request": dict(request),
        "system": {
            "name": answer.system.name,
            "chips": answer.system.chips,
            "nodes": answer.system.nodes,
        },
        "jobs": {
            "source": answer.jobs.source,
            "count": len(jobs),
            "chip_s": sum(job.chips * job.run for job in jobs),
            "load": answer.load,
            "most_chips": max((job.chips for job in jobs), default=0),
        },
        "policies": [_policy_payload(each) for each in answer.played],
        "sizing": None if answer.sizing is None else _sizing_payload(answer.sizing),
        "pools": None if answer.pools is None else {
            "chips": answer.pools.chips,
            "peak_chips": answer.pools.peak,
            "reserved_chips": answer.pools.reserved,
            "shared": [_pool_payload(each) for each in answer.pools.shared],
            "apart": [_pool_payload(each) for each in answer.pools.apart],
        },
        "spot": None if answer.spot is None else _spot_payload(answer.spot),
        "warnings": answer.warnings,
    }  # fmt: skip


def _policy_payload(one: Played) -> dict[str, Any]:
    found = one.outcome
    return {
        "name": one.policy.name,
        "mean_queue_s": found.mean_queue,
        "p50_queue_s": quantile(found.queue, 0.5),
        "p90_queue_s": found.p90_queue,
        "p99_queue_s": quantile(found.queue, 0.99),
        "mean_jct_s": found.mean_jct,
        "p50_jct_s": quantile(found.jct, 0.5),
        "mean_slowdown": float(found.slowdown.mean()) if len(found.slowdown) else 0.0,
        "utilisation": found.utilisation,
        "utilisation_arriving": found.arriving,
        "allocated": found.allocated,
        "fragmentation": found.fragmentation,
        "split_ratio": found.split,
        "fairness": found.fairness,
        "chip_hours": {name: getattr(found.accounts, name) / _MICRO_HOUR for name in STATES},
        "span_s": found.span,
        "cost_usd": one.cost,
        "jobs": found.jobs,
        "finished": found.finished,
        "unstarted": found.unstarted,
        "backfilled": found.passed,
        "restarts": found.restarts,
        "resizes": found.resizes,
        "preemptions": found.preemptions,
        "lost_nodes": found.lost_nodes,
        "digest": found.digest,
    }


def quantile(values: Any, share: float) -> float:  # noqa: ANN401 - an array
    """Return the value below which a ``share`` of ``values`` is; 0 if there are none."""
    return float(np.quantile(values, share)) if len(values) else 0.0


def _sizing_payload(sizing: Sizing) -> dict[str, Any]:
    return {
        "measure": sizing.measure,
        "target_s": sizing.target,
        "origin": sizing.origin,
        "rows": [
            {"policy": r.policy, "chips": r.chips, "reached_s": r.reached, "saved_share": r.less}
            for r in sizing.rows
        ],
    }


def _pool_payload(one: Played) -> dict[str, Any]:
    found = one.outcome
    return {
        "name": one.policy.name,
        "chips": found.chips,
        "mean_queue_s": found.mean_queue,
        "p90_queue_s": found.p90_queue,
        "mean_jct_s": found.mean_jct,
        "utilisation_arriving": found.arriving,
        "service_waits": len(found.service),
        "service_p99_wait_s": quantile(found.service, 0.99),
        "service_longest_wait_s": float(found.service.max()) if len(found.service) else 0.0,
    }


def _spot_payload(spot: Spot) -> dict[str, Any]:
    return {
        "duration_s": spot.duration,
        "mean_instances": spot.mean_instances,
        "losses_per_day_and_instance": spot.losses,
        "checkpoint_interval_s": spot.interval,
        "fits": spot.fits,
        "ways": [
            {"name": way.name, "instances": way.instances, "steps": way.steps,
             "over_elastic": way.steps / spot.elastic.steps if spot.elastic.steps else 0.0}
            for way in spot.ways
        ],
    }  # fmt: skip
