"""A fresh file of the real Intel MPI Benchmarks, run with Intel's MPI on this machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from artery.formats.reading import Reading
from artery.formats.recognise import read

pytestmark = pytest.mark.real

HOME = Path(sys.prefix) / "impi"
"""Where ``make test`` puts the wheel: ``pip install --prefix .venv/impi impi-rt``."""

COLLECTIVES = ("Allreduce", "Allgather", "Alltoall", "Bcast", "Reduce_scatter")
SIZES = (0, *(2**power for power in range(3, 13)))


class Run(NamedTuple):
    text: str
    reading: Reading


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """PingPong, collectives and a barrier on two and on four ranks of one machine."""
    if not (HOME / "bin" / "IMB-MPI1").is_file():
        pytest.skip(f"no Intel MPI: pip install --prefix {HOME} impi-rt")
    surroundings = {
        **os.environ, "LD_LIBRARY_PATH": str(HOME / "lib"), "I_MPI_ROOT": str(HOME),
        "I_MPI_FABRICS": "shm", "I_MPI_HYDRA_BOOTSTRAP": "fork",
    }  # fmt: skip
    command = [
        str(HOME / "bin" / "mpiexec.hydra"), "-n", "4", str(HOME / "bin" / "IMB-MPI1"),
        "-npmin", "2", "-iter", "5", "-msglog", "3:12", "PingPong", *COLLECTIVES, "Barrier",
    ]  # fmt: skip
    ended = subprocess.run(
        command, env=surroundings, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    path = tmp_path_factory.mktemp("imb") / "imb.txt"
    path.write_text(ended.stdout, encoding="utf-8")
    return Run(ended.stdout, read(str(path)))


def blocks(run: Run) -> dict[tuple[str, int], dict[str, Any]]:
    return {(one["benchmark"], one["ranks"]): one for one in run.reading.fields["blocks"]}


def test_every_block_is_read_and_nothing_passed_over(run: Run) -> None:
    assert run.reading.format == "imb"
    two_and_four = {(name, ranks) for name in (*COLLECTIVES, "Barrier") for ranks in (2, 4)}
    assert set(blocks(run)) == {("PingPong", 2), *two_and_four}
    assert not run.reading.ignored
    assert re.fullmatch(r"20\d\d\.\d+", run.reading.fields["version"])


def test_all_sizes_are_there_and_rows_are_those_of_the_file(run: Run) -> None:
    for (name, _), block in blocks(run).items():
        sizes = [row["size_bytes"] for row in block["rows"]]
        assert tuple(sizes) == ((0,) if name == "Barrier" else SIZES)
    rows = [line.split() for line in run.text.splitlines() if re.fullmatch(r"[\d.\s]+", line)]
    last = sorted(float(words[-1]) for words in rows if words)
    read_back = [
        row["bandwidth_bytes_per_s"] / 1e6 if name == "PingPong" else row["time_s"] * 1e6
        for (name, _), block in blocks(run).items()
        for row in block["rows"]
    ]
    assert sorted(read_back) == pytest.approx(last), "the last column is Mbytes/sec, or t_avg"


def test_times_are_seconds_and_in_order(run: Run) -> None:
    for (name, _), block in blocks(run).items():
        for row in block["rows"]:
            if name == "PingPong":
                assert 0 < row["time_s"] < 10
                rate = row["size_bytes"] / row["time_s"]
                # Two decimals of Mbytes/s, two of the time.
                assert row["bandwidth_bytes_per_s"] == pytest.approx(rate, rel=0.02, abs=1e4)
            else:
                assert 0 <= row["time_min_s"] <= row["time_s"] <= row["time_max_s"] < 10


def test_a_ping_pong_of_two_says_that_two_waited(run: Run) -> None:
    assert blocks(run)["PingPong", 2]["waiting"] == 2
    assert blocks(run)["Allreduce", 4]["waiting"] == 0
    assert "PingPong on 2 ranks: 2 more processes waited beside it" in run.reading.warnings


def test_measurements_are_trees_with_their_file(run: Run) -> None:
    assert len(run.reading.measurements) == len(blocks(run))
