"""Tables whose columns contradict each other: which one lies, and what is compared then."""

from __future__ import annotations

from pathlib import Path

import pytest

from artery.answers.diagnose import DiagnoseAnswer, diagnose

HEAD = "# nThread 1 nGpus 8 minBytes 1 maxBytes 1 step: 2(factor) warmup iters: 5 iters: 20\n#\n"
COLUMNS = (
    "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n"
    "#   (B)  (elements)                (us)  (GB/s)  (GB/s)       (us)  (GB/s)  (GB/s)\n"
)
SIZES = (2**28, 2**30, 2**32)
TRUE = 130e9
"""algbw of the run, B/s: busbw over eight ranks is 7/4 of it, 227.5 GB/s."""


def log(tmp_path: Path, algbw: float = 1.0, busbw: float = 1.0, *, last: float = 1.0) -> str:
    """Write a table of eight A100 whose columns are off by these factors; ``last``: one row."""
    devices = "".join(
        f"#  Rank {rank} Group  0 Pid 1{rank} on node1 device {rank} [0x0{rank}] "
        "NVIDIA A100-SXM4-80GB\n"
        for rank in range(8)
    )
    rows = ""
    for size in SIZES:
        more = last if size == SIZES[-1] else 1.0
        time = size / TRUE * 1e6
        first, second = TRUE / 1e9 * algbw * more, TRUE / 1e9 * 1.75 * busbw * more
        side = f"{time:.1f} {first:.2f} {second:.2f} 0"
        rows += f" {size} {size // 4} float sum -1 {side} {side}\n"
    path = tmp_path / "nccl.log"
    path.write_text(HEAD + devices + COLUMNS + rows + "# Out of bounds values : 0 OK\n")
    return str(path)


def measured(found: DiagnoseAnswer) -> float:
    assert found.diagnosis.judged is not None
    return found.diagnosis.judged.curve.last.busbw


def test_columns_that_agree_are_taken_as_they_are(tmp_path: Path) -> None:
    found = diagnose(log(tmp_path), prove=False)
    assert not [note for note in found.notes if note.startswith("column")]
    assert measured(found) == pytest.approx(1.75 * TRUE, rel=1e-3)


@pytest.mark.parametrize(
    ("algbw", "busbw", "note"),
    [
        (1.0, 1 / 1.75, "column_busbw"),  # a copy of algbw
        (1.0, 1.875 / 1.75, "column_busbw"),  # that of sixteen ranks
        (7 / 8, 1.0, "column_algbw"),
        (8.0, 8.0, "column_unit"),
    ],
)
def test_the_column_that_lies_is_named_and_size_by_time_is_compared(
    tmp_path: Path, algbw: float, busbw: float, note: str
) -> None:
    found = diagnose(log(tmp_path, algbw, busbw), prove=False)
    assert note in found.notes
    assert measured(found) == pytest.approx(1.75 * TRUE, rel=1e-3)
    assert found.diagnosis.verdict == "healthy"


def test_a_row_that_contradicts_itself_is_left_out(tmp_path: Path) -> None:
    found = diagnose(log(tmp_path, last=0.4), prove=False)
    assert "column_rows" in found.notes
    assert found.diagnosis.verdict == "healthy"
    assert found.diagnosis.judged is not None
    assert [point.size for point in found.diagnosis.judged.curve.points] == list(SIZES[:2])


def test_where_nothing_tells_which_column_lies_none_counts(tmp_path: Path) -> None:
    found = diagnose(log(tmp_path, 2.0, 2.0)).diagnosis
    assert found.verdict == "refused"
    assert [why.reason for why in found.refusals] == ["columns_contradict"]
    assert "2 times size / time" in found.refusals[0].text


TOLD = """\
hardware: {chip: a100-80g, gpus_per_node: 8, nodes: 1}
workload: {collective: all_reduce}
measured: [{ROW}]
"""


def told(tmp_path: Path, row: str) -> DiagnoseAnswer:
    path = tmp_path / "facts.yaml"
    path.write_text(TOLD.replace("{ROW}", row))
    return diagnose(str(path), prove=False)


def test_an_algbw_that_people_tell_is_a_busbw_by_the_ranks(tmp_path: Path) -> None:
    found = told(tmp_path, "{size: 8G, algbw: 131 GB/s}")
    assert measured(found) == pytest.approx(1.75 * 131e9)
    assert found.diagnosis.verdict == "healthy"


@pytest.mark.parametrize(
    "row",
    [
        "{size: 8G, algbw: 131 GB/s, busbw: 131 GB/s}",
        "{size: 8G, latency: 20 ms, busbw: 230 GB/s}",
    ],
)
def test_measurements_that_contradict_themselves_are_refused(tmp_path: Path, row: str) -> None:
    found = told(tmp_path, row).diagnosis
    assert found.verdict == "refused"
    assert [why.reason for why in found.refusals] == ["columns_contradict"]


def test_measurements_that_agree_are_not(tmp_path: Path) -> None:
    # 2^33 B in 65.5 ms are 131 GB/s.
    row = "{size: 8G, latency: 65.5 ms, algbw: 131 GB/s, busbw: 229 GB/s}"
    assert told(tmp_path, row).diagnosis.verdict == "healthy"
