"""``ucx_perftest`` between two processes: the real one, and one that fails."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from artery.answers.bench import bench_links
from artery.errors import InputError, RunError
from artery.meter import ucx

REAL = """\
+--------------+--------------+------------------------------+---------------------+-----------------------+
|              |              |        latency (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
Final:                 10000      0.110     0.113     0.113       67.60      67.60     8860894     8860894
"""  # noqa: E501 - as UCX 1.13.1 (Debian 12) printed it, between two processes of one machine


def put(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a program of that name first on PATH."""
    program = folder / ucx.TOOL
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_what_the_tool_says_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "said").write_text(REAL)
    put(tmp_path, monkeypatch, f'echo "$@" > {tmp_path}/asked; cat {tmp_path}/said')
    got = ucx.tested("node1", 7, ucx.LATENCY, 8, warmup=5, repeats=10_000, timeout=10, lan=False)
    assert (tmp_path / "asked").read_text() == "node1 -p 7 -t tag_lat -s 8 -n 10000 -w 5\n"
    assert got["latency_p50_s"] == pytest.approx(0.110e-6)
    assert got["bandwidth_bytes_per_s"] == pytest.approx(67.60 * 2**20)


@pytest.mark.parametrize(("lan", "given", "taken"), [(False, "", ""), (True, "", "tcp"),
                                                     (True, "rc", "rc")])  # fmt: skip
def test_between_namespaces_of_one_machine_it_takes_the_network(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, lan: bool, given: str, taken: str
) -> None:
    """UCX would take shared memory; what the user has set stays."""
    (tmp_path / "said").write_text(REAL)
    put(tmp_path, monkeypatch, f'echo "$UCX_TLS" > {tmp_path}/tls; cat {tmp_path}/said')
    monkeypatch.delenv("UCX_TLS", raising=False)
    if given:
        monkeypatch.setenv("UCX_TLS", given)
    ucx.tested("h", 7, ucx.LATENCY, 8, warmup=1, repeats=1, timeout=10, lan=lan)
    assert (tmp_path / "tls").read_text().strip() == taken


def test_a_server_that_does_not_listen_yet_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "said").write_text(REAL)
    up = tmp_path / "up"
    put(tmp_path, monkeypatch, f"test -e {up} && exec cat {tmp_path}/said; touch {up}; exit 1")
    got = ucx.tested("h", 7, ucx.LATENCY, 8, warmup=1, repeats=1, timeout=10, lan=False)
    assert got["iterations"] == 10_000


def test_what_the_tool_fails_with_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ucx, "LISTENS", 0.2)
    put(tmp_path, monkeypatch, "echo 'failed to connect to node9' >&2; exit 255")
    with pytest.raises(RunError, match="to node9:7 failed: failed to connect to node9"):
        ucx.tested("node9", 7, ucx.LATENCY, 8, warmup=1, repeats=1, timeout=10, lan=False)


def test_a_tool_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    put(tmp_path, monkeypatch, "exec sleep 60")
    start = time.monotonic()
    with pytest.raises(RunError, match="gave no answer in 1 s"):
        ucx.tested("h", 7, ucx.LATENCY, 8, warmup=1, repeats=1, timeout=1, lan=False)
    assert time.monotonic() - start < 30


def test_a_machine_without_the_tool_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"no ucx_perftest on PATH, .* install UCX"):
        bench_links(tool="ucx")


@pytest.mark.real
def test_the_real_tool_measures_a_pair() -> None:
    if shutil.which(ucx.TOOL) is None:
        pytest.skip("ucx_perftest is not installed (Debian: ucx-utils)")
    answer = bench_links(ranks=2, tool="ucx", size="64K", repeats=10, timeout=60.0)
    assert answer is not None
    (pair,) = answer.pairs
    assert (pair.source, pair.target) == (0, 1)
    assert 0 < pair.latency <= pair.median_latency < 1.0
    assert pair.onward > 1e6
    assert pair.back > 1e6
