"""Kineto traces: unions of intervals, streamed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from artery.errors import InputError
from artery.formats.pytorch.intervals import both, covered, union
from artery.formats.recognise import read
from tests.formats.readings import fields, reading, warned


@pytest.mark.parametrize("name", ["kineto/small.json", "kineto/small.json.gz"])
def test_where_the_time_went(name: str) -> None:
    """In us: compute 10-50, 30-60, 100-110; communication 50-90; so 90 busy of 100."""
    said = fields(name)
    assert said["kernels"] == 4
    expected = {
        "span_s": 100e-6,
        "busy_s": 90e-6,
        "compute_s": 60e-6,
        "communication_s": 40e-6,
        "overlap_s": 10e-6,
        "exposed_communication_s": 30e-6,
    }
    assert {key: said[key] for key in expected} == pytest.approx(expected)
    assert said["idle_fraction"] == pytest.approx(0.1)
    assert (said["backend"], said["rank"], said["world_size"]) == ("nccl", 2, 8)
    assert said["process_groups"] == 3
    assert said["devices"] == ["NVIDIA H100 80GB HBM3"]
    assert said["steps"] == {"3": pytest.approx(120e-6)}
    assert said["annotated_collectives"] == {"nccl:all_reduce": 1}
    assert said["top_kernels"][0] == {"name": "gemm", "count": 3, "time_s": pytest.approx(80e-6)}


def test_parts_add_up_to_the_span() -> None:
    root = reading("kineto/small.json").measurements[0].root
    assert sum(part.value for part in root.children) == pytest.approx(root.value)


def trace(path: Path, events: list[dict[str, Any]]) -> str:
    path.write_bytes(
        gzip.compress(json.dumps({"schemaVersion": 1, "traceEvents": events}).encode())
    )
    return str(path)


def test_a_trace_of_the_processor_alone(tmp_path: Path) -> None:
    """In us: operators 0-40 (one inside) and 60-100, all-reduces 30-70 and 90-120.

    So 80 of computing, 70 of communication, of which 10 + 10 + 10 are shared: 40 exposed.
    """
    parts = [
        ("cpu_op", "aten::conv2d", 0, 40),
        ("cpu_op", "aten::convolution", 5, 30),
        ("cpu_op", "c10d::allreduce_", 40, 5),
        ("cpu_op", "aten::add_", 60, 40),
        ("user_annotation", "gloo:all_reduce", 30, 40),
        ("user_annotation", "gloo:all_reduce", 90, 30),
        ("user_annotation", "ProfilerStep#7", 0, 125),
    ]
    path = trace(
        tmp_path / "t.gz",
        [
            {"ph": "X", "cat": cat, "name": name, "ts": 1.7e15 + ts, "dur": float(dur)}
            for cat, name, ts, dur in parts
        ],
    )
    found = read(path)
    said = found.fields["processor"]
    assert found.fields["kernels"] == 0
    assert found.fields["annotated_collectives"] == {"gloo:all_reduce": 2}
    expected = {
        "span_s": 120e-6,
        "compute_s": 80e-6,
        "communication_s": 70e-6,
        "overlap_s": 30e-6,
        "exposed_communication_s": 40e-6,
    }
    assert {key: said[key] for key in expected} == pytest.approx(expected)
    assert warned(found, "waiting for the slowest rank")
    assert fields("kineto/small.json")["processor"] is None


def test_a_trace_that_breaks_off(tmp_path: Path) -> None:
    whole = (Path(__file__).parents[2] / "fixtures/kineto/small.json").read_text("utf-8")
    cut = tmp_path / "cut.json"
    cut.write_text(whole[: whole.index('{"ph": "X", "cat": "gpu_memcpy"') + 9], "utf-8")
    found = read(str(cut))
    assert found.fields["kernels"] == 4
    assert warned(found, "cut off or broken")


def test_a_packed_trace_that_breaks_off(tmp_path: Path) -> None:
    kernel = {"ph": "X", "cat": "kernel", "name": "k", "ts": 0, "dur": 1.0}
    whole = Path(
        trace(tmp_path / "t.gz", [kernel | {"ts": n, "name": f"k{n * 7919}"} for n in range(20000)])
    )
    whole.write_bytes(whole.read_bytes()[:-2000])
    found = read(str(whole))
    assert 0 < found.fields["kernels"] < 20000
    assert warned(found, "cut off or broken")


def test_no_events_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no events"):
        read(trace(tmp_path / "t.gz", []))


def test_endless_nesting_is_refused(tmp_path: Path) -> None:
    deep = tmp_path / "deep.json"
    deep.write_text('{"schemaVersion": 1, "traceEvents": ' + "[" * 300_000, "utf-8")
    with pytest.raises(InputError, match="brackets inside each other"):
        read(str(deep))


def test_progress_hears_every_piece(tmp_path: Path) -> None:
    heard: list[int] = []
    kernel = {"ph": "X", "cat": "kernel", "name": "x" * 1000, "ts": 0, "dur": 1.0}
    read(trace(tmp_path / "t.gz", [kernel] * 20000), progress=heard.append)
    assert heard == sorted(heard)
    assert heard[-1] > 16e6
    assert len(heard) > 2


def test_unions() -> None:
    one = union(np.array([0.0, 1.0, 5.0]), np.array([2.0, 3.0, 6.0]))
    assert covered(one) == 4.0
    assert both(one, union(np.array([2.0]), np.array([5.5]))) == 1.5
