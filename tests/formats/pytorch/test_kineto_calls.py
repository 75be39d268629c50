"""Sizes and times of collectives in Kineto traces, also where they cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from artery.formats.pytorch import kineto_calls
from artery.formats.recognise import read
from tests.formats.readings import fields, reading

WORLD = "[0, 1, 2, 3, 4, 5, 6, 7]"
ARGS = {
    "Collective name": "allreduce", "In msg nelems": 1024, "Out msg nelems": 8192,
    "Group size": 8, "dtype": "BFloat16", "Process Group Ranks": WORLD,
}  # fmt: skip


def told(folder: Path, *calls: tuple[object, float], cat: str = "kernel") -> Any:
    """Return the fields of a trace of NCCL kernels (or launches) with these args and times."""
    name = "ncclDevKernel_X" if cat == "kernel" else "record_param_comms"
    events = [
        {"ph": "X", "cat": cat, "name": name, "ts": number * 1e6, "dur": length, "args": args}
        for number, (args, length) in enumerate(calls)
    ]
    path = folder / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}), "utf-8")
    return read(str(path)).fields


def test_sizes_and_times() -> None:
    """2**29 elements of two bytes are 1 GiB; 2**28 gathered elements of four are as well."""
    said = fields("kineto/collectives.json")
    reduce, gather, send = said["collective_sizes"]
    assert (reduce["size_bytes"], reduce["ranks"], reduce["stride"]) == (2**30, 8, 1)
    assert reduce["count"] == 3
    assert reduce["time_s"] == pytest.approx(16.2e-3)
    assert reduce["min_s"] == pytest.approx(4.0e-3)
    assert reduce["median_s"] == pytest.approx(4.2e-3)
    assert (gather["collective"], gather["size_bytes"]) == ("all_gather", 2**30)
    assert (send["collective"], send["size_bytes"]) == ("send", 2**22)
    assert said["collective_calls_unsized"] == 1
    assert said["collective_calls_left_out"] == 0
    assert any(
        "3 x all_reduce of 1.00 GiB" in line for line in reading("kineto/collectives.json").summary
    )


@pytest.mark.parametrize(
    ("name", "collective", "size"),
    [
        ("allreduce_coalesced", "all_reduce", 2048),
        ("_allgather_base", "all_gather", 16384),
        ("allgather_into_tensor_coalesced", "all_gather", 16384),
        ("_reduce_scatter_base", "reduce_scatter", 2048),
        ("reduce_scatter_tensor_coalesced", "reduce_scatter", 2048),
        ("all_to_allv", "alltoall", 2048),
        ("_broadcast_oop", "broadcast", 2048),
        ("recv", "recv", 16384),
    ],
)
def test_names_and_what_counts(name: str, collective: str, size: int, tmp_path: Path) -> None:
    (one,) = told(tmp_path, (ARGS | {"Collective name": name}, 1.0))["collective_sizes"]
    assert (one["collective"], one["size_bytes"]) == (collective, size)


@pytest.mark.parametrize(
    "bad",
    [
        {"In msg nelems": -1}, {"In msg nelems": 0}, {"In msg nelems": float("nan")},
        {"In msg nelems": float("inf")}, {"In msg nelems": 10**30}, {"In msg nelems": True},
        {"In msg nelems": 1.5}, {"In msg nelems": "9" * 5000}, {"In msg nelems": "²"},
        {"In msg nelems": [1]}, {"Group size": 0}, {"Group size": "many"}, {"Group size": 10**12},
        {"dtype": "Unheard"}, {"dtype": None}, {"Collective name": "barrier"},
        {"Collective name": {"a": 1}}, {"Collective name": "allreduce_sparse"},
    ],
)  # fmt: skip
def test_what_cannot_be_is_counted_not_kept(bad: dict[str, Any], tmp_path: Path) -> None:
    """What is no JSON (NaN) or no number of 64 bits ends the trace there, which is said."""
    calls = [(ARGS, 3.0), (ARGS | bad, 1.0), ("none", 1.0)]
    noted = kineto_calls.Calls()
    for args, length in calls:
        noted.kernel(args, length)
    found = noted.fields()
    assert [one["count"] for one in found["collective_sizes"]] == [1]
    assert found["collective_calls_unsized"] == 2
    said = told(tmp_path, *calls)
    assert said["cut_off"] or said["collective_calls_unsized"] == 2


def test_numbers_written_as_strings(tmp_path: Path) -> None:
    (one,) = told(tmp_path, (ARGS | {"In msg nelems": "4096", "Group size": "4"}, 1.0))[
        "collective_sizes"
    ]
    assert (one["size_bytes"], one["ranks"]) == (8192, 4)


@pytest.mark.parametrize(
    ("ranks", "stride"),
    [
        (WORLD, 1), ("[0, 8, 16, 24, ...]", 8), ([3, 7, 11], 4), ("[0, 1, 5]", None), ("", None),
        (None, None), ("[5, 1]", None), ("[0, 99999999999999]", None), ({"0": 1}, None),
    ],
)  # fmt: skip
def test_how_far_apart_the_ranks_are(ranks: object, stride: int | None, tmp_path: Path) -> None:
    (one,) = told(tmp_path, (ARGS | {"Process Group Ranks": ranks}, 1.0))["collective_sizes"]
    assert one["stride"] == stride


def test_more_sizes_than_are_kept() -> None:
    """1000 are told apart and 200 listed, so of 1500 calls of different size 1300 are left out."""
    calls = kineto_calls.Calls()
    for number in range(1500):
        calls.kernel(ARGS | {"In msg nelems": number + 1}, 1.0 + number)
    said = calls.fields()
    assert len(said["collective_sizes"]) == 200
    assert said["collective_calls_left_out"] == 1300


def test_the_median_of_more_calls_than_are_kept() -> None:
    """Times 1, 2, ... 10,001 us: the median is 5001, the least 1."""
    calls = kineto_calls.Calls()
    for length in range(1, 10_002):
        calls.kernel(ARGS, float(length))
    (one,) = calls.fields()["collective_sizes"]
    assert one["count"] == 10_001
    assert one["min_s"] == pytest.approx(1e-6)
    assert one["time_s"] == pytest.approx(10_001 * 5001e-6)
    assert one["median_s"] == pytest.approx(5001e-6, rel=0.01)
    assert len(calls.kernels.known[next(iter(calls.kernels.known))].samples) <= 1024


def test_launches_on_the_processor_have_no_times(tmp_path: Path) -> None:
    said = told(tmp_path, (ARGS, 5.0), (ARGS, 6.0), cat="cpu_op")
    (one,) = said["collective_sizes"]
    assert (one["count"], one["min_s"], one["median_s"], one["time_s"]) == (2, None, None, None)
