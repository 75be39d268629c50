"""nccl-tests in all its layouts; every value is worked out from size and time."""

from __future__ import annotations

import pytest

from artery.formats.nccl.tests_rows import header_of, row_of
from tests.formats.readings import fields, reading, warned


def test_the_first_generation() -> None:
    """1 GiB in 8 ms: 134.22 GB/s, times 2 x 3/4 for four ranks = 201.33."""
    found = reading("nccl-tests/first-generation.log")
    said = found.fields
    assert (said["collective"], said["ranks"], said["ranks_from"]) == ("all_reduce", 4, "devices")
    assert said["generation"].startswith("before 2.12")
    assert said["peak_busbw_bytes_per_s"] == pytest.approx(201.33e9)
    assert said["peak_size_bytes"] == 2**30
    assert said["average_busbw_bytes_per_s"] == pytest.approx(77.6e9)
    assert said["chip"] == "a100-40g"
    assert said["valid"] is True  # an error of 2e-07 is rounding
    assert said["rows"][0]["out_of_place"]["time_s"] == pytest.approx(20e-6)
    assert warned(found, "is not the peak")
    assert warned(found, "64 bytes or less")
    assert found.measurements[0].root.children[-1].value == pytest.approx(8e-3)


def test_the_second_generation_with_wrong_data_under_mpirun() -> None:
    found = reading("nccl-tests/second-generation-wrong.log")
    said = found.fields
    assert said["valid"] is False
    assert said["wrong_rows"] == [67108864]
    assert said["out_of_bounds"] == 4
    assert (said["ranks"], said["nodes"]) == (2, 2)
    assert said["rows"][0]["in_place"]["wrong"] is None
    assert warned(found, "data are wrong")
    assert warned(found, "33.55 GB/s at 33554432 bytes to 8.39")
    assert not found.ignored


def test_the_third_generation() -> None:
    """All-gather over four ranks: 53.69 x 3/4 = 40.27."""
    said = fields("nccl-tests/third-generation-all-gather.log")
    assert said["collective"] == "all_gather"
    assert said["version"] == "2.17.1"
    assert (said["ranks"], said["nodes"]) == (4, 2)
    assert said["devices"][3]["bus"] == "0000:3d:00"
    assert said["rows"][0]["reduction"] is None
    assert said["old_columns"] is False


def test_the_fourth_generation() -> None:
    """Eight columns to a side; 469.76 / 268.44 = 1.75 = 2 x 7/8, so eight ranks."""
    said = fields("nccl-tests/fourth-generation.log")
    assert said["generation"].startswith("2.20")
    assert said["ranks"] == 8
    assert said["rows"][0]["in_place"]["busbw_bytes_per_s"] == pytest.approx(468.59e9)
    assert said["rows"][0]["out_of_place"]["wrong"] == 0


def test_old_all_gather_columns_are_told_and_computed_again() -> None:
    """64 MiB in 10 ms is 6.71 GB/s; the columns say 5.03, three quarters of it: four ranks."""
    found = reading("nccl-tests/old-all-gather.log")
    said = found.fields
    assert said["old_columns"] is True
    assert said["ranks"] == 4
    assert said["collective"] == "all_gather"
    side = said["rows"][0]["out_of_place"]
    assert side["algbw_recomputed_bytes_per_s"] == pytest.approx(6.7108864e9)
    assert warned(found, "old all-gather columns")


def test_every_rank_is_rank_zero() -> None:
    assert warned(reading("nccl-tests/all-rank-zero.log"), "every rank is Rank 0")


def test_a_table_cut_down_by_hand() -> None:
    """36.70 / 20.97 = 1.75: eight ranks."""
    said = fields("nccl-tests/edited.log")
    assert [row["size_bytes"] for row in said["rows"]] == [2**20, 2**22, 2**24]
    assert (said["ranks"], said["collective"]) == (8, "all_reduce")


def test_tags_dropped_into_the_middle_of_rows() -> None:
    found = reading("nccl-tests/tags-inside.log")
    assert found.fields["rows"][1]["out_of_place"]["busbw_bytes_per_s"] == pytest.approx(7.34e9)
    assert warned(found, "congestion or loss")


def test_json_and_csv() -> None:
    said = fields("nccl-tests/results.json")
    assert said["generation"] == "JSON (-J)"
    assert said["rows"][0]["out_of_place"]["time_s"] == pytest.approx(50e-6)
    assert said["average_busbw_bytes_per_s"] == pytest.approx(31.15e9)
    said = fields("nccl-tests/results.csv")
    assert said["peak_busbw_bytes_per_s"] == pytest.approx(39.32e9)
    assert said["ranks"] == 4  # 39.32 / 26.21 = 1.5 = 2 x 3/4


def test_a_script_that_prints_bits() -> None:
    """140 Gb/s are 17.5 GB/s."""
    found = reading("nccl-tests/bench.log")
    assert found.fields["peak_busbw_bytes_per_s"] == pytest.approx(17.5e9)
    assert found.fields["ranks"] == 8
    assert warned(found, "Gbps are bits")


@pytest.mark.parametrize(("ratio", "ranks"), [(1.75, 8), (1.875, 16), (1.9375, 32), (1.917, 24)])
def test_ranks_follow_from_the_ratio(ratio: float, ranks: int) -> None:
    from artery.formats.nccl.tests_meaning import ranks_from_ratio

    side = {"busbw_bytes_per_s": ratio * 1e11, "algbw_bytes_per_s": 1e11}
    rows = [{"out_of_place": side, "in_place": None}]
    assert ranks_from_ratio("all_reduce", rows) == ranks


def test_a_column_in_front() -> None:
    header = header_of(
        "# nodes  size  count  type  redop  time algbw busbw error time algbw busbw error"
    )
    line = " 2 1073741824 268435456 float sum 35215 30.49 57.17 4e-07 35198 30.51 57.20 4e-07"
    row = row_of(line, header)
    assert row is not None
    assert row["extra"] == [2]
    assert row["out_of_place"]["busbw_bytes_per_s"] == pytest.approx(57.17e9)


@pytest.mark.parametrize("line", ["", "# size", "8 2", "8 2 float sum x y z w", "1 2 3 4 5 float"])
def test_what_is_no_row(line: str) -> None:
    assert row_of(line, None) is None
