"""Quantities at the doors: what is read, what is refused, how values are written back.

Right values are those of the SI brochure (9th edition, table 7) and IEC 80000-13 (binary
prefixes): 1 byte is 8 bits, 1 KiB is 1024 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
from pydantic import TypeAdapter, ValidationError

from artery import units
from artery.errors import InputError
from artery.units import Unit, parse


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("1.2us", "s", 1.2e-6),
        ("1.2 µs", "s", 1.2e-6),
        ("7 ms", "s", 7e-3),
        ("5 min", "s", 300),
        ("8 h", "s", 28_800),
        ("3 d", "s", 259_200),
        ("80 GiB", "B", 80 * 2**30),
        ("80 GB", "B", 80e9),
        ("1e3 GB", "B", 1e12),
        ("3.35 TB/s", "B/s", 3.35e12),
        ("400 Gb/s", "B/s", 50e9),
        ("400 Gbit/s", "B/s", 50e9),
        ("400Gbps", "B/s", 50e9),
        ("6.4 Gb/s", "bit/s", 6.4e9),
        ("989 TFLOP/s", "FLOP/s", 989e12),
        ("989 TFLOPS", "FLOP/s", 989e12),
        ("3.15e23 FLOP", "FLOP", 3.15e23),
        ("1 kWh", "J", 3.6e6),
        ("10.2 kW", "W", 10_200),
        ("30 kUSD", "USD", 30_000),
        ("$2.5", "USD", 2.5),
        ("100 m", "m", 100),
        ("2 km", "m", 2_000),
        ("5 pJ/bit", "J/bit", 5e-12),
        ("8 pJ/B", "J/bit", 1e-12),
        ("12 %", "1", 0.12),
        ("0.8", "1", 0.8),
        (0.8, "1", 0.8),
        (3, "1", 3.0),
    ],
)
def test_quantities_are_read(text: str | float, unit: str, value: float) -> None:
    assert parse(text, unit) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("400 Gb/s", 50e9),
        ("800 Gb/s both ways", 50e9),
        ("450 GB/s per direction", 450e9),
        ("900 GB/s both ways", 450e9),
        ("900 GB/s bidirectional", 450e9),
    ],
)
def test_link_rates_are_per_direction(text: str, value: float) -> None:
    assert parse(text, "B/s", directed=True) == value


def test_a_link_rate_in_bytes_must_say_its_direction() -> None:
    with pytest.raises(InputError) as caught:
        parse("900 GB/s", "B/s", directed=True)
    assert '"900 GB/s per direction"' in str(caught.value)
    assert '"900 GB/s both ways"' in str(caught.value)


def test_a_memory_has_no_direction() -> None:
    with pytest.raises(InputError, match=r'write "3\.35 TB/s"'):
        parse("3.35 TB/s per direction", "B/s")


@pytest.mark.parametrize(
    ("value", "unit", "rule"),
    [
        (400, "B/s", "needs a unit"),
        ("400", "B/s", "needs a unit"),
        ("400G", "B/s", "needs a unit"),
        ("80 Gb/s", "B", "a unit of B"),
        ("80 GB", "B/s", "a unit of B/s"),
        ("80 GB/s", "bit/s", "a unit of bit/s"),
        ("400 gbps", "B/s", "a unit of B/s"),
        ("1,5 GB", "B", "a unit of B"),
        ("fast", "B/s", "a unit of B/s"),
        ("", "s", "a unit of s"),
        ("nan", "1", "a number"),
        ("inf s", "s", "a unit of s"),
        (float("nan"), "1", "finite"),
        (float("inf"), "1", "finite"),
        ("1e999 s", "s", "finite"),
        ("1e999999999 s", "s", "a unit of s"),
        ("1__0 min", "s", "a unit of s"),
        ("1 :", "s", "a unit of s"),
        ("-3 s", "s", "not be negative"),
        ("-400G", "B/s", "not be negative"),
        (-1, "1", "not be negative"),
        ("1e30 B", "B", "at most 1e+24 B"),
        ("1e-300 TB/s", "B/s", "zero, or at least 0.125 B/s"),
        (True, "1", "a number"),
        (None, "s", "a unit of s"),
        (["1 s"], "s", "a unit of s"),
        ("٣ s", "s", "a unit of s"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_an_example(
    value: object, unit: str, rule: str
) -> None:
    with pytest.raises(InputError) as caught:
        parse(value, unit)
    (problem,) = caught.value.problems
    assert rule in problem.rule
    assert problem.fix.startswith("for example")


def test_zero_is_refused_only_where_it_makes_no_sense() -> None:
    assert parse("0 s", "s") == 0
    with pytest.raises(InputError, match="more than zero"):
        parse("0 s", "s", positive=True)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8", 8),
        ("8B", 8),
        ("1k", 2**10),
        ("1M", 2**20),
        ("1.5M", 3 * 2**19),
        ("16G", 2**34),
        ("1GiB", 2**30),
        ("1 GB", 10**9),
        (8, 8),
    ],
)
def test_sizes_are_binary_as_in_nccl_tests(text: str | int, size: int) -> None:
    assert units.size(text) == size


@pytest.mark.parametrize(
    "text", ["0", "-1", "1e30", "1Mb", "0.5", "1.0001K", "2048P", "9e9T", "1__0", ""]
)
def test_sizes_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(InputError, match='for example "8", "1M", "16G"'):
        units.size(text)


@pytest.mark.parametrize(
    ("text", "count"),
    [("15T", 15 * 10**12), ("70B", 70 * 10**9), ("1.5e12", 1_500_000_000_000), ("2_048", 2048)],
)
def test_counts_are_decimal(text: str, count: int) -> None:
    assert units.count(text) == count


@pytest.mark.parametrize(
    "text", ["0", "1.5", "-3", "1e30", "1e99", "1__0", "15 trillion", "nan", ""]
)
def test_counts_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="whole number"):
        units.count(text)


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (units.show_time(1.2e-6), "1.20 µs"),
        (units.show_time(9.996e-7), "1.00 µs"),
        (units.show_time(8.1), "8.10 s"),
        (units.show_time(84.3), "84.3 s"),
        (units.show_time(120), "2.00 min"),
        (units.show_time(12.9 * 86400), "12.9 d"),
        (units.show_time(0), "0 s"),
        (units.show_bytes(61.2 * 2**30), "61.2 GiB"),
        (units.show_bytes(8), "8 B"),
        (units.show_rate(450e9), "450 GB/s"),
        (units.show_line_rate(50e9), "400 Gb/s"),
        (units.show_count(16_384), "16,384"),
        (units.show_count(518_000), "518 k"),
        (units.show_flops(989.4e12), "989 TFLOP/s"),
        (units.show_work(3.15e23), "315 ZFLOP"),
        (units.show_power(10_200), "10.2 kW"),
        (units.show_energy(500), "500 J"),
        (units.show_energy(3.6e9), "1.00 MWh"),
        (units.show_money(12.5), "$12.50"),
        (units.show_money(2.1e6), "$2.10 M"),
        (units.show_percent(0.4126), "41.3 %"),
    ],
)
def test_values_are_written_for_people(shown: str, text: str) -> None:
    assert shown == text


@dataclass(frozen=True)
class Cable:
    """A type as the doors use them."""

    bandwidth: Annotated[float, Unit("B/s", directed=True, positive=True)]


def test_a_marked_field_reads_strings_with_units() -> None:
    cable = TypeAdapter(Cable).validate_python({"bandwidth": "400 Gb/s"})
    assert cable == Cable(bandwidth=50e9)


def test_a_marked_field_reports_found_rule_and_fix() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(Cable).validate_python({"bandwidth": "400 GB/s"})
    (error,) = caught.value.errors()
    assert error["loc"] == ("bandwidth",)
    assert error["ctx"]["found"] == '"400 GB/s"'
    assert "both ways" in error["ctx"]["fix"]


def test_a_marked_field_describes_itself() -> None:
    schema = TypeAdapter(Cable).json_schema()
    assert schema["properties"]["bandwidth"]["type"] == "string"
    assert schema["properties"]["bandwidth"]["examples"] == ["400 Gb/s"]


@pytest.mark.parametrize("digits", ["9" * 5000, "1e999", "1e-999"])
def test_numbers_of_thousands_of_digits_are_refused_at_once(digits: str) -> None:
    for read in (units.size, units.count, lambda text: parse(f"{text} GB", "B")):
        with pytest.raises(InputError):
            read(digits)
