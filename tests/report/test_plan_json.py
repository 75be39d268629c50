from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from artery.answers.plan.result import PlanAnswer
from artery.core.term import Estimate, Term
from artery.report.plan.payload import by_part, plan_payload, result_payload
from artery.report.writing.json import document
from artery.step import PARTS
from tests import factories

SCHEMA = json.loads(files("artery.report").joinpath("schemas/plan.json").read_text("utf-8"))
REQUEST = {"model": "toy-70b", "on": "toy-pod:64"}


def payload(answer: PlanAnswer) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(document("plan", plan_payload(answer, REQUEST)))
    return loaded


@pytest.mark.parametrize(
    "answer",
    [
        factories.answer(),
        factories.infeasible(),
        factories.answer(replace(factories.result(), tokens_per_s=None, run=None)),
        factories.answer(replace(factories.result(), energy_per_step=None, cost_per_hour=None)),
    ],
)
def test_the_document_keeps_to_its_schema(answer: PlanAnswer) -> None:
    jsonschema.validate(payload(answer), SCHEMA)


def test_the_schema_would_notice_a_missing_key() -> None:
    broken = payload(factories.answer())
    del broken["plans"][0]["memory"]["fits"]
    with pytest.raises(jsonschema.ValidationError, match="fits"):
        jsonschema.validate(broken, SCHEMA)


def test_the_breakdown_sums_to_the_step_and_the_memory_to_its_total() -> None:
    best = payload(factories.answer())["plans"][0]
    assert sum(best["breakdown_s"].values()) == pytest.approx(best["step_time_s"])
    memory = best["memory"]
    parts = ("weights", "gradients", "optimizer", "activations", "other")
    assert sum(memory[f"{part}_bytes"] for part in parts) == pytest.approx(memory["total_bytes"])


def test_a_term_without_a_name_of_its_own_counts_as_other() -> None:
    step = Term("step", "s", 3.0, 3.0, 3.0, "sum", children=(_term("dp", 1.0), _term("new", 2.0)))
    parts = by_part(step, PARTS)
    assert (parts["dp"], parts["other"]) == (1.0, 2.0)
    result = replace(factories.result(), time=Estimate(step, "closed form"))
    assert sum(result_payload(result)["breakdown_s"].values()) == 3.0


def test_the_plan_is_given_whole() -> None:
    parallelism = payload(factories.answer())["plans"][0]["parallelism"]
    assert (parallelism["chips"], parallelism["tp"], parallelism["recompute"]) == (
        64,
        4,
        "selective",
    )


def _term(name: str, value: float) -> Term:
    return Term(name, "s", value, value, value)
