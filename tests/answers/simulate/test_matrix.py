"""Bytes from every rank to every other, told by a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.answers.simulate import simulate
from artery.errors import InputError, UsageError


def test_a_matrix_and_a_size_are_refused_together(tmp_path: Path) -> None:
    matrix = tmp_path / "m.csv"
    matrix.write_text("0,1M\n1M,0\n")
    with pytest.raises(UsageError, match="--matrix says how much"):
        simulate("alltoall", "dgx-h100:2", matrix=str(matrix), size="1G")


def test_a_matrix_comes_from_a_file(tmp_path: Path) -> None:
    matrix = tmp_path / "m.csv"
    matrix.write_text("\n".join(",".join("0" if i == j else "1M" for j in range(8))
                                for i in range(8)))  # fmt: skip
    even = simulate("alltoall", "dgx-h100:8", matrix=str(matrix))
    matrix.write_text("\n".join(",".join("64M" if j == 0 and i else "0" for j in range(8))
                                for i in range(8)))  # fmt: skip
    skewed = simulate("alltoall", "dgx-h100:8", matrix=str(matrix), links=1)
    assert even.flows == 56
    assert skewed.links[0].name == "nvswitch 0 -> chip 0"


@pytest.mark.parametrize(("text", "line"), [("1,2\n3,x", 2), ("1,2\n3", 2), ("1", None)])
def test_a_broken_matrix_is_refused_at_its_line(
    text: str, line: int | None, tmp_path: Path
) -> None:
    matrix = tmp_path / "m.csv"
    matrix.write_text(text)
    with pytest.raises(InputError) as caught:
        simulate("alltoall", "dgx-h100:2", matrix=str(matrix))
    assert caught.value.problems[0].line == line


def test_a_matrix_has_a_mark_of_utf_8_before_it_as_spreadsheets_write(tmp_path: Path) -> None:
    matrix = tmp_path / "m.csv"
    matrix.write_text("0,1M\n1M,0", encoding="utf-8-sig")
    assert simulate("alltoall", "dgx-h100:2", matrix=str(matrix)).size == 2**20


@pytest.mark.parametrize("text", ["0,0\n0,0", "5,0\n0,5"])
def test_a_matrix_that_sends_nothing_is_refused(text: str, tmp_path: Path) -> None:
    matrix = tmp_path / "m.csv"
    matrix.write_text(text)
    with pytest.raises(InputError, match="no rank sends anything"):
        simulate("alltoall", "dgx-h100:2", matrix=str(matrix))


def test_a_matrix_of_more_bytes_than_can_be_counted_is_refused(tmp_path: Path) -> None:
    matrix = tmp_path / "m.csv"
    matrix.write_text("\n".join([",".join(["1048576T"] * 16)] * 16))
    with pytest.raises(InputError, match="1 EiB in all"):
        simulate("alltoall", "dgx-h100:16", matrix=str(matrix))


@pytest.mark.parametrize("option", ["matrix", "placement"])
@pytest.mark.parametrize(("file", "words"), [("/dev/zero", "a device"), ("/dev/null", "a device")])
def test_a_device_is_refused_and_not_read_for_ever(option: str, file: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        simulate("alltoall", "dgx-h100:2", **{option: file})
    assert caught.value.problems[0].file == file
    assert caught.value.problems[0].field == option


def test_a_matrix_of_too_few_lines_is_told_with_its_file(tmp_path: Path) -> None:
    file = tmp_path / "m.csv"
    file.write_text("0,1\n", encoding="utf-8-sig")
    with pytest.raises(InputError, match='"1 lines", one line for each of 2 ranks') as caught:
        simulate("alltoall", "dgx-h100:2", matrix=str(file))
    assert caught.value.problems[0].file == str(file)
    file.write_text("0,1\n2,0\n", encoding="utf-8-sig")
    found = simulate("alltoall", "dgx-h100:2", matrix=str(file), links=0)
    assert found.size == 2, "the most that one rank sends"
