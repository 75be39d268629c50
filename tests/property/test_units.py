"""Properties of quantities: round trips, bits are eighths of bytes, binary is not decimal."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery import units
from artery.errors import InputError
from artery.units import parse

DECIMAL = {"": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5}
BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5}

numbers = st.decimals(min_value="1", max_value=9999, places=3).map(str)


@given(number=numbers, prefix=st.sampled_from(sorted(DECIMAL)))
def test_a_bit_is_an_eighth_of_a_byte(number: str, prefix: str) -> None:
    bits = parse(f"{number} {prefix}b/s", "B/s")
    assert 8 * bits == parse(f"{number} {prefix}B/s", "B/s")


@given(number=numbers, prefix=st.sampled_from(sorted(DECIMAL)))
def test_decimal_prefixes_are_powers_of_1000(number: str, prefix: str) -> None:
    value = parse(f"{number}{prefix}B", "B")
    assert value == pytest.approx(float(number) * 1000.0 ** DECIMAL[prefix], rel=1e-14)


@given(number=numbers, prefix=st.sampled_from(sorted(BINARY)))
def test_binary_prefixes_are_powers_of_1024(number: str, prefix: str) -> None:
    value = parse(f"{number} {prefix}B", "B")
    assert value == pytest.approx(float(number) * 1024.0 ** BINARY[prefix], rel=1e-14)
    assert value > parse(f"{number} {prefix[0].replace('K', 'k')}B", "B")


@given(number=numbers)
def test_both_ways_is_twice_one_way(number: str) -> None:
    one = parse(f"{number} GB/s per direction", "B/s", directed=True)
    assert parse(f"{number} GB/s both ways", "B/s", directed=True) == one / 2


@given(value=st.floats(min_value=1e-9, max_value=1e9))
def test_a_shown_time_reads_back_within_its_three_digits(value: float) -> None:
    assert parse(units.show_time(value), "s") == pytest.approx(value, rel=5.1e-3)


@given(value=st.floats(min_value=1, max_value=1e18))
def test_shown_bytes_and_rates_read_back_within_their_three_digits(value: float) -> None:
    assert parse(units.show_bytes(value), "B") == pytest.approx(value, rel=5.1e-3)
    assert parse(units.show_rate(value), "B/s") == pytest.approx(value, rel=5.1e-3)
    line_rate = parse(units.show_line_rate(value), "B/s", directed=True)
    assert line_rate == pytest.approx(value, rel=5.1e-3)


@given(value=st.integers(min_value=1, max_value=2**60))
def test_a_size_written_out_is_itself(value: int) -> None:
    assert units.size(str(value)) == value


@given(text=st.text(max_size=20), unit=st.sampled_from(["s", "B", "B/s", "FLOP/s", "USD", "1"]))
def test_any_text_is_read_as_a_sane_value_or_refused(text: str, unit: str) -> None:
    try:
        value = parse(text, unit)
    except InputError:
        return
    assert math.isfinite(value)
    assert value >= 0


@given(text=st.text(alphabet="0123456789.eE+-_kKMGTBib ", max_size=12))
def test_any_size_or_count_is_positive_or_refused(text: str) -> None:
    for read in (units.size, units.count):
        try:
            value = read(text)
        except InputError:
            continue
        assert value >= 1
