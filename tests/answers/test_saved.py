from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from artery.answers.saved import read_plan
from artery.errors import InputError
from artery.report.plan.payload import plan_payload
from artery.report.writing.json import document
from tests import factories

REQUEST = {"model": "toy-70b", "on": "toy-pod:64", "tokens": 10, "overrides": ["chip.cores=3"]}


def saved(tmp_path: Path, **changes: Any) -> str:
    text = document("plan", plan_payload(factories.answer(), REQUEST))
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({**json.loads(text), **changes}), encoding="utf-8")
    return str(path)


def test_the_best_plan_comes_back_as_options(tmp_path: Path) -> None:
    former = read_plan(saved(tmp_path))
    assert (former.model, former.on) == ("toy-70b", "toy-pod:64")
    options = former.options
    assert (options["tp"], options["pp"], options["seq"], options["zero"]) == (4, 4, 4096, 1)
    assert options["recompute"] == "selective"
    assert (options["tokens"], options["overrides"]) == (10, ("chip.cores=3",))
    assert "sequence" not in options
    assert "chips" not in options


def test_what_the_plan_left_to_the_profile_is_left_to_it_again(tmp_path: Path) -> None:
    assert "overlap" not in read_plan(saved(tmp_path)).options


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = Path(saved(tmp_path)).read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    assert read_plan("-").model == "toy-70b"


@pytest.mark.parametrize(
    ("changes", "field", "found"),
    [
        ({"schema": "artery.expect/1"}, "schema", '"artery.expect/1"'),
        ({"request": None}, "request", "missing"),
        ({"request": {"on": "x"}}, "request.model", "missing"),
        ({"request": {"model": 3, "on": "x"}}, "request.model", "3"),
        ({"plans": []}, "plans", "an empty list"),
        ({"plans": [{}]}, "plans[0].parallelism", "missing"),
        ({"plans": [{"parallelism": {"tp": "8"}}]}, "plans[0].parallelism.tp", '"8"'),
        ({"plans": [{"parallelism": {"tp": 2.5}}]}, "plans[0].parallelism.tp", "2.5"),
        ({"plans": [{"parallelism": {"pp": True}}]}, "plans[0].parallelism.pp", "true"),
    ],
)
def test_what_is_no_saved_plan_says_where(
    tmp_path: Path, changes: dict[str, Any], field: str, found: str
) -> None:
    path = saved(tmp_path, **changes)
    with pytest.raises(InputError) as caught:
        read_plan(path)
    (problem,) = caught.value.problems
    assert (problem.file, problem.field, problem.found) == (path, field, found)
    assert "artery plan" in problem.fix


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    wrong = {"parallelism": {"tp": "8", "dtype": 16, "overlap": "dp"}}
    with pytest.raises(InputError) as caught:
        read_plan(saved(tmp_path, plans=[wrong]))
    assert [problem.found for problem in caught.value.problems] == ['"8"', "16", '"dp"']


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000, "9" * 5_000, "[1, 2]", "null", '"plan"', "step 8 s"]
)
def test_what_is_no_document(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"plan\.json"):
        read_plan(str(path))


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_plan(str(tmp_path / "gone.json"))
    with pytest.raises(InputError, match="directory"):
        read_plan(str(tmp_path))
    binary = tmp_path / "plan.json"
    binary.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InputError, match="UTF-8"):
        read_plan(str(binary))


def test_a_device_without_end_is_no_saved_plan() -> None:
    with pytest.raises(InputError, match="over 64 MiB"):
        read_plan("/dev/zero")
