from __future__ import annotations

import json
from typing import Any

import pytest

from artery.report.plan.trace import trace
from tests import factories


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(trace(factories.answer()))
    return loaded


def complete(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [event for event in document["traceEvents"] if event["ph"] == "X"]


def test_events_have_what_the_format_asks_for(document: dict[str, Any]) -> None:
    """Trace Event Format: complete events need name, cat, ph, ts, dur, pid, tid."""
    for event in complete(document):
        assert {"name", "cat", "ph", "ts", "dur", "pid", "tid", "args"} <= event.keys()
        assert event["ts"] >= 0
        assert event["dur"] > 0
    assert {event["ph"] for event in document["traceEvents"]} == {"M", "X"}


def test_the_last_event_ends_with_the_step(document: dict[str, Any]) -> None:
    end = max(event["ts"] + event["dur"] for event in complete(document))
    assert end / 1e6 == pytest.approx(7.0, rel=0.01)


def test_each_stage_has_a_named_process_and_two_named_streams(document: dict[str, Any]) -> None:
    meta = [event for event in document["traceEvents"] if event["ph"] == "M"]
    processes = {e["pid"]: e["args"]["name"] for e in meta if e["name"] == "process_name"}
    assert processes == {stage: f"pipeline stage {stage}" for stage in range(4)}
    threads = [e["args"]["name"] for e in meta if e["name"] == "thread_name"]
    assert threads.count("stream 7 compute") == threads.count("stream 13 comm") == 4


def test_communication_is_named_as_profilers_name_it(document: dict[str, Any]) -> None:
    on_comm = {event["name"] for event in complete(document) if event["args"]["stream"] == 13}
    on_compute = {event["name"] for event in complete(document) if event["args"]["stream"] == 7}
    assert "nccl:reduce_gradients" in on_comm
    assert all(name.startswith(("nccl:", "wait")) for name in on_comm)
    assert on_compute == {"forward", "backward", "optimizer"}


def test_the_file_says_what_it_is(document: dict[str, Any]) -> None:
    assert document["otherData"]["model"] == "toy-70b"
    assert document["distributedInfo"] == {"backend": "nccl", "world_size": 64}
