"""What ``artery bench --json`` wrote, read back; and documents that are broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from artery.answers.diagnose import diagnose
from artery.answers.read import read
from artery.errors import InputError
from artery.formats.recognise import read as read_file

AROUND = {"host": "n1", "load_average_1min": 0.5, "chip": "NVIDIA H100 80GB HBM3"}


def row(size: int, time: float, **more: Any) -> dict[str, Any]:
    return {
        "collective": "all_reduce", "algorithm": "library", "size_bytes": size, "count": size // 4,
        "type": "float", "time_s": time, "min_s": time / 2, "max_s": time * 3,
        "algbw_bytes_per_s": size / time, "busbw_bytes_per_s": 1.75 * size / time, "wrong": 0,
        **more,
    }  # fmt: skip


def document(**more: Any) -> dict[str, Any]:
    return {
        "schema": "artery.bench/1", "bench": "collectives", "backend": "nccl",
        "library": "nccl 2.27.3", "ranks": 8, "paced": None,
        "environment": [AROUND, {**AROUND, "load_average_1min": 1.5}],
        "results": [row(2**20, 1e-4), row(2**33, 2e-2)],
        **more,
    }  # fmt: skip


def put(folder: Path, content: Any) -> str:
    path = folder / "bench.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
    return str(path)


def test_times_by_size_are_a_measurement_with_its_conditions(tmp_path: Path) -> None:
    found = read_file(put(tmp_path, document()))
    assert (found.format, found.kind) == ("artery-bench", "measurement")
    (tree,) = found.measurements
    assert [(t.name, t.value, t.low, t.high) for t in tree.root.children] == [
        ("1048576", 1e-4, 5e-5, pytest.approx(3e-4)),
        ("8589934592", 2e-2, 1e-2, 6e-2),
    ]
    assert tree.root.name == "all_reduce"
    assert tree.conditions == {
        "ranks": "8",
        "algorithm": "library",
        "backend": "nccl",
        "library": "nccl 2.27.3",
        "load_average": "1.5",
    }
    assert found.summary[0] == "artery bench: 8 ranks on 1 host(s), nccl 2.27.3"
    assert found.fields["chip"] == "h100-sxm"


def test_algorithms_are_trees_of_their_own_and_the_librarys_counts(tmp_path: Path) -> None:
    rows = [row(2**20, 2e-4, algorithm="ring"), row(2**20, 1e-4), row(2**21, 2e-4)]
    found = read_file(put(tmp_path, document(results=rows)))
    assert [tree.conditions["algorithm"] for tree in found.measurements] == ["ring", "library"]
    assert [one["algorithm"] for one in found.fields["tables"]] == ["library"]


def test_diagnose_judges_it(tmp_path: Path) -> None:
    """8 GiB in 32 ms are 470 GB/s of busbw, what NVIDIA shows for one H100 node with NVLS."""
    path = put(tmp_path, document(results=[row(2**33, 3.2e-2)]))
    assert diagnose(path, on="dgx-h100:8").diagnosis.verdict == "healthy"
    slow = put(tmp_path, document(results=[row(2**33, 0.1)]))
    assert diagnose(slow, on="dgx-h100:8").diagnosis.verdict in {"degraded", "faulty"}


def test_wrong_results_and_paced_runs_are_said(tmp_path: Path) -> None:
    rows = [row(1024, 1e-4, wrong=3), row(2048, 1e-4)]
    found = read_file(put(tmp_path, document(results=rows, paced="ethernet-10g:4")))
    assert found.warnings == (
        "paced after the links of ethernet-10g:4: no network was measured",
        "all_reduce by library: the check of the results failed at 1 sizes",
    )
    assert not found.fields["valid"]
    assert found.fields["wrong_rows"] == [1024]


def test_results_that_say_too_little_are_counted(tmp_path: Path) -> None:
    rows = [row(1024, 1e-4), {"collective": "all_reduce"}, row(0, 1e-4, time_s="fast"), {}]
    found = read_file(put(tmp_path, document(results=rows)))
    assert found.fields["cut_rows"] == 3
    assert found.fields["row_count"] == 1


def test_a_chip(tmp_path: Path) -> None:
    results = [
        {"kind": "product", "name": "bf16 8192x8192x8192", "unit": "FLOP/s", "value": 7e14,
         "median_value": 6.5e14},
        {"kind": "product", "name": "fp8 64x64x64", "unit": "FLOP/s", "value": None},
        {"kind": "memory", "name": "copy", "unit": "B/s", "value": 3e12, "median_value": 2.9e12},
        {"kind": "dispatch", "name": "trip", "unit": "s", "value": 9e-6, "median_value": 1e-5},
    ]  # fmt: skip
    found = read_file(
        put(tmp_path, document(bench="chip", results=results, name="H100", device="cuda"))
    )
    assert found.summary == (
        "artery bench: H100, 3 results",
        "fastest product bf16 8192x8192x8192: 700 TFLOP/s",
        "memory copy: 3.00 TB/s",
    )
    (tree,) = found.measurements
    assert [(t.name, t.unit, t.value, t.low, t.high) for t in tree.root.children] == [
        ("product bf16 8192x8192x8192", "FLOP/s", 7e14, 6.5e14, 7e14),
        ("memory copy", "B/s", 3e12, 2.9e12, 3e12),
        ("dispatch trip", "s", 9e-6, 9e-6, 1e-5),
    ]


def test_links(tmp_path: Path) -> None:
    pair = {"source": 0, "target": 1, "latency_s": 1e-6, "bandwidth_bytes_per_s": 2e9,
            "back_bandwidth_bytes_per_s": 1e9}  # fmt: skip
    found = read_file(
        put(tmp_path, document(bench="links", results=[pair, {"source": 0}], slow_ranks=[1]))
    )
    assert found.warnings == ("rank 1 is slow in all directions",)
    assert [(t.name, t.value) for t in found.measurements[0].root.children] == [
        ("latency 0-1", 1e-6),
        ("bandwidth 0-1", 2e9),
        ("back 0-1", 1e9),
    ]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (document(results=[]), "no results"),
        (document(bench="weather"), "bench = 'weather'"),
        (document(results=[{"collective": "all_reduce"}]), "no such result"),
        ('{"schema": "artery.bench/1", "results": [', "must be JSON"),
        ({"schema": "artery.bench/1"}, "bench = None"),
        (document(results={"a": 1}, bench=[1]), "bench ="),
    ],
)
def test_broken_documents_are_refused(broken: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_file(put(tmp_path, broken))


@pytest.mark.parametrize("key", ["environment", "ranks", "library", "backend", "paced", "results"])
@pytest.mark.parametrize("value", [None, 7, "text", [], [3], {}, {"a": []}, 1e400, -1])
def test_no_value_of_a_wrong_kind_gives_a_traceback(key: str, value: Any, tmp_path: Path) -> None:
    for bench in ("collectives", "links", "chip"):
        try:
            read(put(tmp_path, document(bench=bench, **{key: value})))
        except InputError:
            continue
