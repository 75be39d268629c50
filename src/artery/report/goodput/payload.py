"""The answer of ``goodput`` as the payload of one JSON document, schema ``artery.goodput/1``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from artery.answers.goodput.result import Fix, GoodputAnswer
from artery.core.failure import FailureClass
from artery.core.term import Term
from artery.report.goodput.log import measured_payload
from artery.report.plan.payload import parallelism

if TYPE_CHECKING:
    from artery.answers.goodput.log import MeasuredRun

SHARES: Final = ("productive", "saving", "redone", "restarting", "waiting")
"""Where time goes, in the order in which every answer shows it."""


def goodput_payload(
    answer: GoodputAnswer, request: Mapping[str, Any], run: MeasuredRun | None = None
) -> dict[str, Any]:
    """Return the keys of ``artery.goodput/1``.

    ``request`` is what was asked, ``run`` a real one to stand beside the prediction.
    """
    chosen = answer.plan.plans[0]
    return {
        "request": dict(request),
        "model": answer.plan.workload.name,
        "system": {"name": answer.plan.system.name, "chips": chosen.plan.chips},
        "parallelism": parallelism(chosen.plan),
        "step_time_s": chosen.time.root.value,
        "fits": chosen.fits,
        "mtbf_s": answer.mtbf.value,
        "mtbf_low_s": answer.mtbf.low,
        "mtbf_high_s": answer.mtbf.high,
        "checkpoint_interval_s": answer.intervals.best,
        "ettr": answer.ettr.value,
        "ettr_low": answer.ettr.low,
        "ettr_high": answer.ettr.high,
        "goodput": answer.definitions.dlrover_goodput,
        "time_shares": {name: getattr(answer.shares, name) for name in SHARES},
        "failures": [_failure_payload(each) for each in answer.failures.classes],
        "restart_s": answer.restart,
        "recovery": [_part_payload(part) for part in answer.recovery],
        "checkpoint": _checkpoint_payload(answer),
        "definitions": {
            **asdict(answer.definitions),
            "google_goodput": answer.definitions.google_goodput,
        },
        "availability": _availability_payload(answer),
        "spares": {
            "nodes": answer.spares.needed,
            "mean_nodes_out": answer.spares.out,
            "repair_time_s": answer.spares.repair,
            "risk": answer.spares.risk,
        },
        "levers": [_fix_payload(fix) for fix in answer.levers],
        "run": _run_payload(answer),
        "warnings": answer.warnings,
        **({} if run is None else {"measured": measured_payload(run)}),
    }


def _failure_payload(one: FailureClass) -> dict[str, Any]:
    return {
        "name": one.name,
        "part": one.part,
        "count": one.count,
        "per_day": one.per_second * 86400,
        "per_day_low": one.count * one.low * 86400,
        "per_day_high": one.count * one.high * 86400,
        "severity": one.severity,
        "duration_s": one.duration,
        "slowdown": one.slowdown,
        "source": one.source.text,
    }


def _part_payload(part: Term) -> dict[str, Any]:
    return {
        "name": part.name,
        "time_s": part.value,
        "low_s": part.low,
        "high_s": part.high,
        "formula": part.formula,
        "source": part.source,
    }


def _checkpoint_payload(answer: GoodputAnswer) -> dict[str, Any]:
    intervals = answer.intervals
    return {
        "saved_bytes": answer.state.saved,
        "loaded_bytes": answer.state.loaded,
        "young_s": intervals.young,
        "daly_s": intervals.daly,
        "complete_s": intervals.complete,
        "least_s": intervals.least,
        "given": intervals.given,
        "tiers": [
            {"name": t.name, "save_s": t.save, "persist_s": t.persist, "load_s": t.load}
            for t in answer.tiers
        ],
        "choices": [
            {
                "tiers": choice.tiers,
                "intervals_s": choice.shares.intervals,
                "ettr": choice.shares.productive,
            }
            for choice in answer.choices
        ],
    }


def _availability_payload(answer: GoodputAnswer) -> dict[str, Any]:
    found = answer.availability
    return {
        "job": found.job,
        "job_nines": found.job_nines,
        "node": found.node,
        "node_nines": found.node_nines,
        "five_nines_restart_s": found.five_nines_restart,
    }


def _fix_payload(fix: Fix) -> dict[str, Any]:
    return {
        "name": fix.name,
        "change": fix.change,
        "ettr": fix.ettr,
        "gain": fix.gain,
        "chip_hours": fix.chip_hours,
        "cost_usd": fix.cost,
    }


def _run_payload(answer: GoodputAnswer) -> dict[str, Any] | None:
    run = answer.run
    if run is None:
        return None
    return {
        "tokens": run.tokens,
        "ideal_s": run.ideal,
        "expected_s": run.expected,
        "expected_low_s": run.low,
        "expected_high_s": run.high,
        "queue_s": run.queue,
        "failures": run.failures,
        "cost_usd": run.cost,
    }
