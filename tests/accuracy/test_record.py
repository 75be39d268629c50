"""The carried-over rows: every one is spoken for once, and derived seconds are right."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from accuracy.recipes import Recipe, claim, recipes, refusals
from accuracy.record import DTYPES, Record, read_records

RECORDS = read_records()
BY_ID = {record.id: record for record in RECORDS}


def test_every_row_is_claimed_by_exactly_one_recipe_or_refusal() -> None:
    for record in RECORDS:
        claim(record)


def test_every_recipe_and_every_refusal_speaks_of_some_row() -> None:
    claimed = {id(claim(record)) for record in RECORDS}
    idle = [entry for entry in (*recipes(), *refusals()) if id(entry) not in claimed]
    assert not idle


def test_a_row_that_nobody_claims_is_an_error() -> None:
    with pytest.raises(ValueError, match="0 recipes and refusals match"):
        claim(replace(RECORDS[0], dataset="unheard-of"))


def test_every_row_has_a_source_and_a_confidence() -> None:
    assert all(record.source and record.confidence and record.tier for record in RECORDS)


def test_the_set_of_the_thresholds_is_dense_and_of_half_precision() -> None:
    for record in RECORDS:
        entry = claim(record)
        if isinstance(entry, Recipe) and entry.line == "step":
            assert record.dtype in {"bf16", "fp16"}
            assert record.ep in {None, 1}


@pytest.mark.parametrize(
    ("words", "dtype"),
    [
        ("fp16 mixed", "fp16"),
        ("BF16 SFT", "bf16"),
        ("amp_fp8", "fp8"),
        ("float8 rowwise torch.compile", "fp8"),
        ("FP8-CS (FP8-MX)", "fp8"),
        ("NVFP4", "fp4"),
        ("tf32", "tf32"),
    ],
)
def test_the_training_dtype_is_read_from_the_words_of_the_source(words: str, dtype: str) -> None:
    assert replace(RECORDS[0], precision=words).dtype == dtype


def test_unknown_words_for_a_precision_are_an_error() -> None:
    assert "int3" not in DTYPES
    with pytest.raises(KeyError):
        _ = replace(RECORDS[0], precision="int3").dtype


def table(dataset: str) -> list[Record]:
    return [record for record in RECORDS if record.dataset == dataset]


@pytest.mark.parametrize("record", table("megatron-sc21-table1"), ids=lambda record: record.id)
def test_equation_4_gives_the_seconds_of_table_1(record: Record) -> None:
    """arXiv 2104.04473: seconds from the printed FLOP/s, as carried over, within rounding."""
    derived = replace(record, seconds=None).measured
    assert derived == pytest.approx(record.seconds, rel=1e-3)


@pytest.mark.parametrize("record", table("megatron-sc21-table2"), ids=lambda record: record.id)
def test_equation_4_gives_the_printed_training_days_of_table_2(record: Record) -> None:
    """The paper prints, beside FLOP/s, the days that 300 billion tokens take: whole days."""
    found = re.search(r"300B tokens: (\d+) days", record.conditions)
    assert found is not None
    assert record.measured is not None
    assert record.global_batch is not None
    assert record.sequence is not None
    steps = 300e9 / (record.global_batch * record.sequence)
    assert steps * record.measured / 86400 == pytest.approx(float(found.group(1)), abs=1.0)


@pytest.mark.parametrize(
    ("name", "utilisation"), [("kor22-22B-selective", 0.415), ("kor22-175B-selective", 0.514)]
)
def test_korthikanti_seconds_give_the_printed_utilisation(name: str, utilisation: float) -> None:
    """arXiv 2205.05198, equation (7): 72·B·l·s·h²·(1 + s/(6h) + V/(12·l·h)) FLOP; Table 5."""
    record = BY_ID[name]
    names = ("global_batch", "layers", "sequence", "hidden", "vocab", "seconds", "chips")
    batch, layers, s, h, vocab, seconds, chips = (float(getattr(record, name)) for name in names)
    flops = 72 * batch * layers * s * h**2 * (1 + s / (6 * h) + vocab / (12 * layers * h))
    assert flops / (seconds * chips * 312e12) == pytest.approx(utilisation, abs=0.005)


def test_samples_per_second_give_seconds() -> None:
    rate = replace(RECORDS[0], seconds=None, tflops=None, samples_per_s=250.0, global_batch=500)
    assert rate.measured == pytest.approx(2.0)


def test_a_row_without_time_or_rate_has_no_seconds() -> None:
    blank = replace(RECORDS[0], seconds=None, tflops=None, samples_per_s=None)
    assert blank.measured is None


def test_the_supplement_fills_what_the_table_leaves_open() -> None:
    record = BY_ID["sc21-t1-145.6B"]
    assert (record.micro_batch, record.vpp) == (2, 2)
