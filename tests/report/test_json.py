"""JSON documents: schema first, SI values as they are, nothing that JSON lacks."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest

from artery.report.writing.json import document


@dataclass(frozen=True)
class Point:
    """A record as answers hold them."""

    name: str
    rates: tuple[float, ...]


def test_the_schema_comes_first_and_keys_keep_their_order() -> None:
    text = document("plan", {"zeta": 1, "alpha": 2})
    assert list(json.loads(text)) == ["schema", "zeta", "alpha"]
    assert json.loads(text)["schema"] == "artery.plan/1"


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (float("nan"), None),
        (float("inf"), None),
        (None, None),
        (True, True),
        (3, 3),
        ("带宽", "带宽"),
        ((1.0, float("nan")), [1.0, None]),
        ({"b", "a"}, ["a", "b"]),
        ({1: "one"}, {"1": "one"}),
        (Point("h100", (1.5,)), {"name": "h100", "rates": [1.5]}),
        (np.float64("nan"), None),
        (np.int64(7), 7),
        (np.bool_(True), True),
        (np.array([[1.0, np.inf]]), [[1.0, None]]),
    ],
)
def test_values_become_plain_json(value: object, plain: object) -> None:
    assert json.loads(document("plan", {"value": value}))["value"] == plain


def test_chinese_is_written_as_it_is() -> None:
    assert "带宽" in document("tour", {"claim": "带宽"})


@pytest.mark.parametrize("value", [object(), Point, 1j])
def test_what_has_no_json_form_is_a_bug(value: object) -> None:
    with pytest.raises(TypeError, match="no JSON form"):
        document("plan", {"value": value})
