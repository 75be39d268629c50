"""The collectives of a trace beside what they should take."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from artery.answers.diagnose import diagnose
from artery.answers.diagnose.trace import TraceHeld
from artery.answers.expect import expect
from artery.cli import main
from tests.formats.readings import FIXTURES
from tests.report.test_schemas import schema

TRACE = str(FIXTURES / "kineto/collectives.json")
OLD = str(FIXTURES / "kineto/small.json")


def held(*paths: str, on: str | None = None) -> TraceHeld:
    trace = diagnose(*paths, on=on).trace
    assert trace is not None
    return trace


def test_measured_beside_expected() -> None:
    """As ``expect`` says: the all-reduce is as fast as it should be, the all-gather far slower.

    NVLink 4 carries 450 GB/s: 7/8 GiB cannot be gathered in less than 2.1 ms; it took 10.
    """
    calls = {one.collective: one for one in held(TRACE, on="dgx-h100:8").calls}
    for name in ("all_reduce", "all_gather"):
        row = expect(name, on="dgx-h100:8", sizes=[2**30]).rows[0]
        assert calls[name].expected == pytest.approx(row.speed.seconds)
    reduce, gather = calls["all_reduce"], calls["all_gather"]
    assert reduce.count == 3
    assert reduce.least == pytest.approx(4e-3)
    assert reduce.typical == pytest.approx(4.2e-3)
    assert reduce.ratio == pytest.approx(1.0, abs=0.15)
    assert gather.ratio is not None
    assert 0.21 <= gather.ratio < 0.4
    assert (calls["send"].expected, calls["send"].unpriced) == (None, "pair")


def test_what_is_missing() -> None:
    assert held(TRACE).lacks == "system"
    assert held(OLD, on="dgx-h100:8").lacks == "sizes"
    small = held(TRACE, on="dgx-h100:4")
    assert {one.unpriced for one in small.calls} == {"too_large", "pair"}


def test_sizes_at_launches_alone_have_no_times(tmp_path: Path) -> None:
    """No kernel tells a size: the launch on the processor says what moved, not how long."""
    text = Path(TRACE).read_text("utf-8").splitlines()
    bare = [line for line in text if '"cat": "kernel"' not in line or "gemm" in line]
    bare[-2] = bare[-2].rstrip(",")
    file = tmp_path / "bare.json"
    file.write_text("\n".join(bare), "utf-8")
    trace = held(str(file), on="dgx-h100:8")
    (one,) = trace.calls
    assert (one.size, one.least, one.ratio, trace.lacks) == (2**30, None, None, "times")
    assert one.expected is not None


def test_ranks_that_are_far_apart_go_over_the_network(tmp_path: Path) -> None:
    """Eight ranks, one a node, get 50 GB/s from a card each: 7/8 GiB take 19 ms or more."""
    text = Path(TRACE).read_text("utf-8")
    far = tmp_path / "far.json"
    far.write_text(text.replace("[0, 1, 2, 3, 4, 5, 6, 7]", "[0, 8, 16, 24, 32, 40, 48, 56]"))
    (one,) = (c for c in held(str(far), on="dgx-h100:64").calls if c.collective == "all_gather")
    assert one.stride == 8
    assert one.expected is not None
    assert one.expected > 7 / 8 * 2**30 / 50e9
    unfit = held(str(far), on="dgx-h100:8").calls
    assert {c.unpriced for c in unfit} == {"too_large", "pair"}


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("its collectives by size", "without waiting")),
        ("zh", ("各大小的集合通信", "不等待")),
    ],
)
def test_on_the_page(
    language: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", TRACE, "--on", "dgx-h100:8", "--lang", language]) == 0
    out = " ".join(capsys.readouterr().out.split())
    for word in (*words, "4.00 ms 4.20 ms"):
        assert word in out
    assert main(["diagnose", OLD, "--lang", language]) == 0
    assert {"en": "older PyTorch", "zh": "较旧的 PyTorch"}[language] in capsys.readouterr().out
    assert main(["diagnose", TRACE, "--lang", language]) == 0
    assert "--on" in capsys.readouterr().out


@pytest.mark.parametrize("on", [[], ["--on", "dgx-h100:8"]])
def test_in_the_document(on: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", TRACE, *on, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema("diagnose"))
    first = document["trace"]["collectives"][0]
    assert (first["size_bytes"], first["ranks"]) == (2**30, 8)
    assert (first["expected_s"] is None) is (not on)
