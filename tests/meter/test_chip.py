"""The chip at hand: shapes, types, bytes and operations counted, what it cannot do."""

from __future__ import annotations

import pytest
import torch

from artery.answers.bench.chip import bench_chip
from artery.errors import InputError, UnknownNameError, UsageError
from artery.meter.device import device
from artery.meter.dispatch import dispatch
from artery.meter.memory import array_size, passes
from artery.meter.products import DTYPES, USUAL_SHAPES, product, shapes, types

CPU = device("cpu")


def test_shapes_as_people_write_them() -> None:
    assert shapes("512, 16x4096x1024") == ((512, 512, 512), (16, 4096, 1024))
    for usual in USUAL_SHAPES.values():
        assert len(shapes(usual)) > 4


@pytest.mark.parametrize("text", ["", "4x4", "0", "-1", "1x2x3x4", "a", "9999999", "4x4x4.5"])
def test_other_shapes_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="a shape is one size, or m x n x k"):
        shapes(text)


def test_a_product_is_two_operations_for_each_multiplication_and_addition() -> None:
    one = product(CPU, "fp32", (2, 3, 5), warmup=1, repeats=3, most=1.0)
    assert one.operations == 60
    assert one.times is not None
    assert len(one.times.seconds) == 3


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_is_measured_or_says_why_not(dtype: str) -> None:
    one = product(CPU, dtype, (16, 16, 16), warmup=0, repeats=1, most=1.0)
    assert (one.times is None) == bool(one.why)
    if dtype in {"fp64", "fp32", "bf16"}:
        assert one.times is not None
    if dtype == "tf32":
        assert one.why == "tf32 is a type of GPUs"


def test_memory_counts_what_the_program_reads_and_writes() -> None:
    found = {one.kind: one for one in passes(CPU, 4096, warmup=0, repeats=2, most=1.0)}
    assert {kind: one.moved for kind, one in found.items()} == {
        "read": 4096,
        "write": 4096,
        "copy": 8192,
        "triad": 12288,
    }


def test_arrays_are_larger_than_every_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("artery.meter.memory.last_level_cache", lambda: 260 * 2**20)
    assert array_size(CPU) == 325 * 2**20
    monkeypatch.setattr("artery.meter.memory.last_level_cache", lambda: None)
    assert array_size(CPU) == 256 * 2**20


def test_beginning_an_operation_takes_the_host_some_time() -> None:
    found = dispatch(CPU, warmup=1, repeats=2)
    assert 0 < found.host.least < 1e-3
    assert found.device is found.trip is None


def test_devices_that_are_not_there() -> None:
    with pytest.raises(UsageError, match="use auto, cpu, cuda or cuda:N"):
        device("tpu")
    with pytest.raises(UsageError, match="use auto, cpu, cuda or cuda:N"):
        device("cuda:x")
    with pytest.raises(UsageError, match=r"torch sees \d+ GPU"):
        device("cuda:99")


def test_unknown_types_are_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match='did you mean "bf16"'):
        types(["bf61"], CPU)


def test_the_answer_of_a_cpu() -> None:
    before = torch.get_num_threads()
    heard: list[str] = []
    answer = bench_chip(device="cpu", dtypes=("fp32",), shapes="8,4x8x16", array="64K", threads=1,
                        warmup=0, repeats=2, heard=heard.append)  # fmt: skip
    assert torch.get_num_threads() == before
    assert heard == ["fp32 8x8x8", "fp32 4x8x16", "memory", "dispatch"]
    assert [(row.kind, row.name, row.unit) for row in answer.rows] == [
        ("product", "fp32 8x8x8", "FLOP/s"),
        ("product", "fp32 4x8x16", "FLOP/s"),
        ("memory", "read", "B/s"),
        ("memory", "write", "B/s"),
        ("memory", "copy", "B/s"),
        ("memory", "triad", "B/s"),
        ("dispatch", "host", "s"),
    ]
    for row in answer.rows:
        assert row.times is not None
        expected = row.times.least if row.unit == "s" else row.work / row.times.least
        assert row.value == expected
    assert (answer.device, answer.threads) == ("cpu", 1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"threads": 0}, "threads must be from 1"),
        ({"repeats": 0}, "repeats  0, out of range, from 1"),
        ({"seconds": -1.0}, "seconds  -1, out of range"),
        ({"array": "big"}, "array  .*big"),
        ({"array": "100T"}, "array  3 arrays of 100 TiB, .* free, use less than"),
        ({"shapes": "900000,8"}, "shapes  900000x900000x900000 needs .* a square below"),
        ({"shapes": "4x"}, "m x n x k"),
        ({"device": 3}, "device must be text"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises((InputError, UsageError), match=message):
        bench_chip(**wrong)  # type: ignore[arg-type]


@pytest.mark.gpu
def test_a_gpu_by_its_own_clock() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    chip = device("cuda")
    large = product(chip, "bf16", (4096, 4096, 4096), warmup=2, repeats=10, most=2.0)
    assert large.times is not None
    # Between an L4 and an H200's peak of 989 TFLOP/s (datasheets).
    assert 2e13 < large.operations / large.times.least < 1.2e15
    found = dispatch(chip, warmup=1, repeats=3)
    assert found.device is not None
    assert found.trip is not None
    assert found.trip.median > found.device.median
    for one in passes(chip, array_size(chip), warmup=1, repeats=5, most=2.0):
        assert 1e11 < one.moved / one.times.least < 1e13
