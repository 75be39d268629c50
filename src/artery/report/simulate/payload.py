"""The answer of ``simulate`` as the payload of one JSON document, schema ``artery.simulate/1``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from artery.answers.simulate.result import SimulateAnswer
from artery.report.simulate.down import down_payload

if TYPE_CHECKING:
    from artery.simulator.loads import HeldUp, LinkLoad

_CONTROLS: Final = {"none": "none", "pause": "pfc", "credit": "credit"}
"""What users call the flow controls."""


def simulate_payload(answer: SimulateAnswer) -> Mapping[str, object]:
    """Return the keys of ``artery.simulate/1``."""
    closed = answer.closed
    return {
        "collective": answer.collective,
        "system": answer.system.name,
        "request": answer.request,
        "ranks": answer.ranks,
        "size_bytes": answer.size,
        "algorithm": answer.algorithm,
        "protocol": answer.protocol,
        "library": {"name": answer.library, "version": answer.version},
        "time_s": answer.seconds,
        "network_s": answer.network,
        "startup_s": answer.startup,
        "busbw_bytes_per_s": answer.busbw,
        "range": {
            "low_s": answer.low,
            "median_s": answer.median,
            "high_s": answer.high,
            "seeds": answer.seeds,
            "whole": answer.whole,
        },
        "engine": answer.engine,
        "engine_reason": answer.why,
        "engine_error": answer.error,
        "flow_control": _CONTROLS[answer.control],
        "offload": answer.offload.name,
        "adding": _adding(answer),
        "flows": answer.flows,
        "events": answer.events,
        "finish_s": answer.finish,
        "links": [_link(one) for one in answer.links],
        "relief": [{"class": one.kind, "gain": one.gain} for one in answer.reliefs],
        "held_up": [_held(one) for one in answer.held],
        "closed_form": None
        if closed is None
        else {"time_s": closed.seconds, "low_s": closed.low, "high_s": closed.high},
        "down": down_payload(answer.down),
        "steps": answer.steps,
        "jobs": [{"name": one.name, "time_s": one.seconds} for one in answer.others],
        "tried": [
            {"algorithm": one.algorithm, "time_s": one.seconds, "reason": one.reason}
            for one in answer.tried
        ],
        "notes": answer.notes,
        "warnings": answer.warnings,
    }


def _adding(answer: SimulateAnswer) -> dict[str, object] | None:
    adding = answer.adding
    if adding is None:
        return None
    return {
        "by": "card" if adding.card else "chip",
        "rate_bytes_per_s": adding.rate,
        "busy_s": adding.seconds,
        "share": adding.seconds / answer.network if answer.network else 0.0,
    }


def _link(one: LinkLoad) -> dict[str, object]:
    return {
        "link": one.link,
        "name": one.name,
        "class": one.kind,
        "carried_bytes": one.carried,
        "busy_s": one.busy,
        "load": one.load,
        "crossers": one.crossers,
        "pairs": one.pairs,
        "gain_if_doubled": one.gain,
    }


def _held(one: HeldUp) -> dict[str, object]:
    return {
        "link": one.link,
        "name": one.name,
        "class": one.kind,
        "held_s": one.seconds,
        "share": one.share,
    }
