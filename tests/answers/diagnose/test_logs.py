"""Traces, MPI benchmarks, training logs above the peak, and jobs that ran out of memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from artery.answers.diagnose import diagnose
from tests.answers.diagnose.test_run import ON, SCRIPT, expected, log
from tests.formats.readings import FIXTURES

IMB = """\
# Intel(R) MPI Benchmarks 2021.9, MPI-1 part
# Benchmarking Allgather
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.03         0.04         0.04
     67108864           10      3400.00      9999.00      5000.00
"""
OSU = """\
# OSU MPI-CUDA Allreduce Latency Test v7.0
# Size       Avg Latency(us)
1073741824           8000.00
"""


def test_times_of_mpi_are_judged_as_bus_bandwidth(tmp_path: Path) -> None:
    path = tmp_path / "osu.txt"
    path.write_text(OSU, "utf-8")
    answer = diagnose(str(path), on="dgx-a100:8")
    found = answer.diagnosis
    assert found.curve is not None
    # 1 GiB in 8 ms over eight ranks: 2*7/8 * 134.2 GB/s
    assert found.curve.last.busbw == pytest.approx(1.75 * 2**30 / 8e-3)
    assert found.judged is not None
    assert found.verdict == "healthy"
    assert "mpi" in answer.notes
    assert answer.origins["ranks"] == "--on"
    alone = diagnose(str(path)).diagnosis
    assert [one.fact for one in alone.missing] == ["system"]


def test_the_size_of_an_allgather_of_mpi_is_what_one_rank_gives(tmp_path: Path) -> None:
    path = tmp_path / "imb.txt"
    path.write_text(IMB, "utf-8")
    answer = diagnose(str(path), on="dgx-a100:4")
    curve = answer.diagnosis.curve
    assert curve is not None
    assert (curve.ranks, curve.last.size) == (4, 4 * 67108864)
    # The best time counts: 3 of the 4 parts come from others in 3.4 ms.
    assert curve.last.busbw == pytest.approx(3 * 67108864 / 3.4e-3)
    assert answer.origins["ranks"] == str(path)


def test_a_trace_without_a_log_says_where_the_time_went(tmp_path: Path) -> None:
    def kernel(name: str, start: int, length: int) -> dict[str, object]:
        return {"ph": "X", "cat": "kernel", "name": name, "ts": start, "dur": length, "pid": 0,
                "tid": 7}  # fmt: skip

    events = [
        kernel("gemm", 0, 200_000),
        kernel("ncclKernel_AllReduce", 100_000, 400_000),  # 300 ms of it hidden by nothing
        kernel("gemm", 900_000, 100_000),
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}), "utf-8")
    answer = diagnose(str(path))
    trace = answer.trace
    assert trace is not None
    assert (trace.span, trace.compute, trace.communication) == pytest.approx((1.0, 0.3, 0.4))
    assert (trace.exposed, trace.idle) == pytest.approx((0.3, 0.4))
    assert answer.diagnosis.verdict == "degraded"
    keys = [one.cause.key for one in answer.diagnosis.findings]
    assert keys == ["idle_device", "exposed_communication"]
    assert not answer.diagnosis.missing


def test_more_than_the_peak_of_the_chip_is_refused(tmp_path: Path) -> None:
    # An A100 has 312 TFLOP/s at bf16.
    path = log(tmp_path, expected() / 8.67, flops=1.18e15)
    answer = diagnose(path, on=ON, plan_from=SCRIPT)
    assert answer.diagnosis.verdict == "refused"
    (why,) = answer.diagnosis.refusals
    assert why.reason == "above_the_peak"
    assert "3.78 times" in why.text
    assert answer.run is None
    assert not answer.diagnosis.missing


def test_a_plan_that_was_given_is_not_asked_for(tmp_path: Path) -> None:
    answer = diagnose(log(tmp_path, 0.3 * expected()), on=ON, plan_from=SCRIPT)
    assert answer.diagnosis.verdict == "unknown"
    assert [one.fact for one in answer.diagnosis.missing] == ["model"]


def test_memory_that_ran_out_on_one_rank_is_the_cause() -> None:
    found = diagnose(str(FIXTURES / "torchrun/memory.log")).diagnosis
    assert found.verdict == "faulty"
    assert found.findings[0].cause.key == "memory_of_one_rank"
