"""What ``bench`` is asked and refuses, under launchers and without its extras; what it predicts."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from artery.answers.bench import bench_collectives, bench_links
from artery.answers.bench import run as bench_run
from artery.answers.bench.chip import bench_chip
from artery.answers.bench.job import Case, Done, Job, PairCase, PairDone, Report
from artery.answers.bench.meeting import apart, check_meeting, own_address, reached
from artery.answers.bench.prediction import predicted
from artery.answers.bench.request import Request
from artery.answers.bench.shapes import runnable, shape_of, square
from artery.answers.bench.worker import attend
from artery.answers.expect import expect
from artery.answers.systems import system_of
from artery.cli import main
from artery.core.pricing import Demand
from artery.errors import ArteryError, InputError, RunError, UnknownNameError, UsageError
from artery.runner.launch import World
from tests.runner.remains import MARK, none_left

ARTERY = str(Path(sys.executable).parent / "artery")
AROUND = {"host": "a", "cores": 2, "load_average_1min": 0.1, "processor": None}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Job, int]]:
    """Answer every job as if processes had done it, and remember what was asked."""
    asked: list[tuple[Job, int]] = []

    def reported(job: Job, processes: int, here: World | None, heard: object = None) -> Report:
        asked.append((job, processes))
        done = tuple(Done((2e-3, 1e-3, 4e-3), 0) for _ in job.cases)
        pairs = (PairDone(0, 1, (1e-6, 2e-6), 1e9, 2e9),) if job.pairs else ()
        return Report("gloo", "gloo (torch 2)", (AROUND,) * processes, processes, done, pairs)

    monkeypatch.setattr("artery.answers.bench.reported", reported)
    return asked


def test_rows_have_nccl_tests_sizes_counts_and_bandwidths(told: list[tuple[Job, int]]) -> None:
    answer = bench_collectives(["all-reduce", "AllGather"], ranks=4, sizes="1000", dtype="half")
    assert answer is not None
    one, two = answer.rows
    # 1000 bytes are 500 halves; all-gather's are cut into four blocks of 125.
    assert (one.size, one.count, two.size, two.count) == (1000, 500, 1000, 125)
    assert one.times.median == 2e-3
    assert one.algbw == pytest.approx(1000 / 2e-3)
    assert one.busbw == pytest.approx(1000 / 2e-3 * 2 * 3 / 4)
    assert two.busbw == pytest.approx(1000 / 2e-3 * 3 / 4)
    assert told[0][1] == 4


def test_blocks_are_rounded_up_to_whole_ones(told: list[tuple[Job, int]]) -> None:
    answer = bench_collectives("alltoall", ranks=3, sizes="8,100")
    assert answer is not None
    assert [(row.size, row.count) for row in answer.rows] == [(12, 1), (108, 9)]


def test_switches_that_add_need_one_more_process(told: list[tuple[Job, int]]) -> None:
    answer = bench_collectives(ranks=4, sizes="1K", algorithm="nvls")
    assert answer is not None
    assert told[-1][1] == 5
    assert answer.party.ranks == 4
    bench_collectives(ranks=4, sizes="1K", algorithm="ring")
    assert told[-1][1] == 4


def test_compare_takes_the_library_and_every_schedule(told: list[tuple[Job, int]]) -> None:
    answer = bench_collectives(ranks=4, sizes="1K", compare=True, on="ethernet-10g:4")
    assert answer is not None
    able, left_out = runnable("all_reduce", 4, None, "float")
    assert {row.algorithm for row in answer.rows} == {"library", *able}
    assert len(able) == 10
    assert left_out == answer.left_out == ()
    assert {row.algorithm for row in answer.rows if row.predicted} == {
        "library",
        "ring",
        "tree",
        "halving_doubling",
        "hierarchical",
    }


def test_types_that_switches_do_not_add_are_left_out_and_said(told: list[tuple[Job, int]]) -> None:
    answer = bench_collectives(ranks=4, sizes="1K", compare=True, dtype="int8")
    assert answer is not None
    said = [line.split(":")[0] for line in answer.left_out]
    assert said == ["collnet", "nvls", "nvls_tree"]


def test_a_paced_comparison_has_neither_library_nor_switches(told: list[tuple[Job, int]]) -> None:
    answer = bench_collectives(ranks=4, sizes="1K", compare=True, on="ethernet-10g:4", paced=True)
    assert answer is not None
    names = {row.algorithm for row in answer.rows}
    assert {"ring", "tree", "bruck"} <= names
    assert not names & {"library", "nvls", "nvls_tree", "collnet"}
    assert told[0][0].on == "ethernet-10g:4"


def test_predictions_are_those_of_expect() -> None:
    """Where the library is the system's own; gloo's messages cost what the catalog says."""
    system = system_of("dgx-h100:16")
    one = np.ones(1, np.int64)
    demand = Demand("all_reduce", np.array([2.0**20, 2.0**30]), one * 16, one, concurrent=False)
    table = predicted(system, "nccl", demand, ["library", "ring", "bruck", "nvls"])
    said = expect("all_reduce", "dgx-h100:16", sizes="1M,1G")
    ring = expect("all_reduce", "dgx-h100:16", sizes="1M,1G", algorithm="ring")
    for row, other in zip(said.rows, ring.rows, strict=True):
        assert table["library", row.size].seconds == pytest.approx(row.speed.seconds)
        assert table["ring", row.size].seconds == pytest.approx(other.speed.seconds)
        assert table["ring", row.size].low == pytest.approx(other.speed.low)
    assert {name for name, _ in table} == {"library", "ring"}  # no NVLS over two nodes
    gloo = predicted(system, "gloo", demand, ["ring"])
    assert gloo["ring", 2**20].seconds > table["ring", 2**20].seconds


def test_shapes_of_algorithms_that_look_at_nodes() -> None:
    def told_of(name: str, **more: Any) -> dict[str, Any]:
        given = {"per_node": None, "size": 2**20, "dtype": "float", **more}
        collective = given.pop("collective", "all_reduce")
        return shape_of(name, collective, given.pop("ranks", 8), **given)

    assert [square(ranks) for ranks in (2, 4, 6, 7, 8, 9, 16)] == [1, 2, 2, 1, 2, 3, 4]
    assert told_of("hierarchical") == {"levels": [2, 4]}
    assert told_of("hierarchical", per_node=4) == {"levels": [4, 2]}
    assert told_of("rail_aligned", collective="alltoall") == {"per_node": 2}
    assert told_of("nvls_tree") == {"per_node": 2, "slices": 4, "dtype": "fp32"}
    assert told_of("ring") == {}
    assert told_of("ring", collective="broadcast", size=2**30) == {"slices": 32}
    assert told_of("tree", size=100, per_node=2) == {"slices": 1, "per_node": 2}
    assert told_of("nvls", dtype="bfloat16") == {"dtype": "bf16"}
    assert told_of("collnet", collective="reduce", per_node=2) == {"slices": 4, "dtype": "fp32"}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"ranks": 1}, "ranks  1, 2 to 256 processes exchange messages, use 2"),
        ({"ranks": 257}, "ranks  257"),
        ({"ranks": 2.0}, "ranks must be a whole number or None"),
        ({"ranks": 6, "per_node": 4}, "per-node  4, must divide the 6 ranks, 3 does"),
        ({"sizes": "1K:x2"}, "sizes"),
        ({"sizes": 4}, "sizes must be text"),
        ({"dtype": "fp32x"}, 'did you mean "fp32'),
        ({"dtype": "fp8"}, "auto adds no fp8_e4m3; use one of int8, uint8, int32"),
        ({"dtype": "half", "backend": "mpi"}, "mpi adds no half; use one of"),
        ({"backend": "gloom"}, 'did you mean "gloo"'),
        ({"algorithm": "rings"}, 'did you mean "ring"'),
        ({"algorithm": "pat"}, "pat does not do all_reduce; use library or one of"),
        ({"collectives": "all_redcue"}, 'did you mean "all_reduce"'),
        ({"on": "ethernet-10g:2", "ranks": 3}, "has 2 chips, 3 ranks need as many chips"),
        ({"on": "ethernet-11g"}, 'did you mean "ethernet-10g"'),
        ({"paced": True, "algorithm": "ring"}, "add --on SYSTEM"),
        ({"overrides": ("links.rate=1G",)}, "--set changes a value of a system: add --on SYSTEM"),
        ({"paced": True, "on": "ethernet-10g:2"}, "add --algorithm ring, or --compare"),
        ({"compare": True, "algorithm": "ring"}, "leave --algorithm out"),
        ({"repeats": 0}, "repeats  0, out of range"),
        ({"warmup": -1}, "warmup  -1, out of range"),
        ({"timeout": 0.0}, "timeout  0, out of range"),
        ({"seconds": float("nan")}, "seconds  nan, out of range"),
        ({"colour": 1}, 'option of bench "colour"'),
    ],
)
def test_what_makes_no_sense_is_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ArteryError, match=message.replace("(", r"\(")):
        bench_collectives(**asked)


def test_more_memory_than_there_is_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four ranks and a switch of 1 GiB each need twice that."""
    monkeypatch.setattr("artery.answers.bench.free_memory", lambda: 8 * 2**30)
    with pytest.raises(InputError, match=r"5 processes with 1\.00 GiB each.*below 819 MiB"):
        bench_collectives(ranks=4, sizes="1K,1G", algorithm="nvls")


def test_a_launchers_processes_share_the_memory_of_their_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Eight ranks of which four are here, with 1 GiB each and as much again."""
    monkeypatch.setattr("artery.answers.bench.free_memory", lambda: 2 * 2**30)
    world = {"RANK": "0", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4", "MASTER_ADDR": "h"}
    for name, value in world.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=r"4 processes with 1\.00 GiB each.*below 256 MiB"):
        bench_collectives(sizes="1G")


def test_links_of_more_memory_than_there_is_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight messages are under way; two ranks meet at a time, or all of them."""
    monkeypatch.setattr("artery.answers.bench.free_memory", lambda: 8 * 2**30)
    with pytest.raises(InputError, match=r"size  2 processes with 1\.00 GiB each.*512 MiB"):
        bench_links(ranks=4, size="1G")
    with pytest.raises(InputError, match=r"size  4 processes with 1\.00 GiB each.*256 MiB"):
        bench_links(ranks=4, size="1G", together=True)
    with pytest.raises(InputError, match=r"^size  \"4Q\""):
        bench_links(size="4Q")


@pytest.mark.parametrize("bench", [bench_collectives, bench_links])
def test_nccl_needs_a_gpu_for_each_process(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("artery.answers.bench.gpus.gpus", lambda: 2)
    with pytest.raises(InputError, match=r"nccl for 3 process.* 2 GPU.*--ranks 2") as caught:
        bench(ranks=3, backend="nccl")
    assert caught.value.exit_code == 3


def test_a_meeting_place_that_nobody_knows_is_told_at_once() -> None:
    here = World(1, 2, 0, 1, "tcp://no-such-host.invalid:29500", "slurm")
    with pytest.raises(RunError, match=r"rank 1 of 2 did not meet .*no-such-host.*MASTER_ADDR"):
        check_meeting(here)
    check_meeting(World(0, 2, 0, 1, "tcp://127.0.0.1:29500", "slurm"))
    check_meeting(World(0, 2, 0, 2, "file:///tmp/store", "artery"))


def test_a_lost_peer_is_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: object) -> None:
        raise RuntimeError("pair.cc:553] Connection closed by peer [10.77.0.2]:49556. GLHF!")

    monkeypatch.setattr("artery.answers.bench.worker._attended", lost)
    with pytest.raises(RunError, match="rank 1 lost another rank"):
        attend(Job("gloo", 9.0), World(1, 2, 0, 1, "tcp://127.0.0.1:1", "mpi"), lambda _: None)

    def bug(*_: object) -> None:
        raise RuntimeError("something else")

    monkeypatch.setattr("artery.answers.bench.worker._attended", bug)
    with pytest.raises(RuntimeError, match=r"^something else$"):
        attend(Job("gloo", 9.0), None, lambda _: None)


def test_hosts_are_reached_by_the_address_that_leads_to_the_meeting_place() -> None:
    """Hosts of a lab share one name: neither it nor the loopback tells them apart."""
    assert own_address("tcp://127.0.0.1:29500").split()[1] == "127.0.0.1"
    assert own_address("file:///tmp/store").split()[1] == "127.0.0.1"
    assert reached("vm 10.77.0.3", "vm 10.77.0.2") == "10.77.0.3"
    assert reached("vm 127.0.0.1", "vm 127.0.0.1") == "127.0.0.1"
    assert reached("other 127.0.1.1", "this 127.0.1.1") == "other"
    assert apart("vm 10.77.0.3", "vm 10.77.0.2")
    assert not apart("vm 10.0.0.2", "vm 10.0.0.2")
    assert not apart("other 10.0.0.3", "this 10.0.0.2")


def test_memory_that_ends_after_all_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*_: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried 9 bytes\nat x")

    monkeypatch.setattr("artery.answers.bench.worker._attended", ended)
    with pytest.raises(RunError, match=r"^rank 0 has no memory.*tried 9 bytes\)$"):
        attend(Job("gloo", 9.0), None, lambda _: None)


def test_links_are_asked_in_the_same_way(told: list[tuple[Job, int]]) -> None:
    answer = bench_links(ranks=2, size="1K")
    assert answer is not None
    assert answer.bandwidth() == [[None, 1e9], [2e9, None]]
    assert answer.latency() == [[None, 1e-6], [1e-6, None]]
    assert told[0][0].pairs == PairCase(2, 1024, 2, 10, together=False, tool="auto")
    with pytest.raises(UnknownNameError, match='tool "ucxx"'):
        bench_links(tool="ucxx")
    with pytest.raises(InputError, match="ranks  1"):
        bench_links(ranks=1)


@pytest.mark.parametrize(
    ("package", "extra", "call"),
    [
        ("torch", "train", lambda: bench_collectives(ranks=2)),
        ("torch", "train", lambda: bench_links(ranks=2)),
        ("torch", "train", bench_chip),
        ("mpi4py", "mpi", lambda: bench_collectives(ranks=2, backend="mpi")),
    ],
)
def test_without_its_extra_it_says_which_one(
    package: str, extra: str, call: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        bench_run, "find_spec", lambda name: None if name == package else find(name)
    )
    with pytest.raises(InputError, match=rf"{package} is not installed.*artery\[{extra}\]"):
        call()


def test_jobs_and_reports_survive_the_way_between_processes() -> None:
    case = Case("alltoall", "torus", 4, 8, "float", {"dims": [2, 2]}, 1, 2, most=3.0)
    job = Job("gloo", 9.0, (case,), PairCase(4, 8, 1, 2, together=True, tool="ucx"), "s", ("a=1",))
    assert Job.of(job.text()) == job
    endless = Job("mpi", 9.0, (Case("reduce", "ring", 2, 1),))
    assert Job.of(endless.text()) == endless
    pair = PairDone(0, 1, (1.0, 2.0), 3.0, 4.0)
    report = Report("gloo", "x", ({"host": "a"},), 2, (Done((1.0,), None),), (pair,))
    assert Report.of(report.text()) == report


def test_more_ranks_than_the_launcher_has_started_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "h"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InputError, match=r"the launcher has started 2 process\(es\)"):
        bench_collectives(ranks=3)
    with pytest.raises(UsageError, match="a paced run starts its own processes"):
        bench_collectives(on="ethernet-10g:2", paced=True, algorithm="ring")


def test_a_request_says_its_defaults() -> None:
    assert Request().named() == ("all_reduce",)
    cases, _, switched = Request(sizes="8:128:x4", algorithm="ring").cases(2)
    assert [case.elements for case in cases] == [2, 8, 32]
    assert not switched


ASKED = ["bench", "collectives", "all_reduce", "alltoall", "--sizes", "64K", "--repeats", "3"]


def document(output: str) -> dict[str, Any]:
    """Return the document, which the first process has printed, and nobody anything else."""
    found: dict[str, Any] = json.loads(output)
    return found


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    value = uuid.uuid4().hex
    monkeypatch.setenv(MARK, value)
    return value


def test_a_chip_is_told_once_on_stdout_and_by_every_rank_into_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "h"}.items():
        monkeypatch.setenv(name, value)
    command = "bench chip --device cpu --threads 1 --dtypes fp32 --shapes 8 --array 4K --json"
    assert main(command.split()) == 0
    assert capsys.readouterr().out == ""
    assert main([*command.split(), "-o", str(tmp_path / "1.json")]) == 0
    assert document((tmp_path / "1.json").read_text("utf-8"))["bench"] == "chip"


@pytest.mark.real
def test_under_torchrun(mark: str) -> None:
    torchrun = str(Path(sys.executable).parent / "torchrun")
    command = [torchrun, "--standalone", "--nproc-per-node", "2", "--no-python", ARTERY, *ASKED]
    command.append("--json")
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = document(done.stdout)
    assert found["ranks"] == 2
    assert [row["wrong"] for row in found["results"]] == [0, 0]
    assert none_left(mark)


@pytest.mark.real
def test_under_mpirun(mark: str) -> None:
    mpirun = str(Path(sys.executable).parent / "mpirun")
    command = [mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "2", ARTERY, *ASKED]
    command += ["--backend", "mpi", "--algorithm", "library", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = document(done.stdout)
    assert (found["backend"], found["ranks"]) == ("mpi", 2)
    assert [row["wrong"] for row in found["results"]] == [0, 0]
    assert none_left(mark)


@pytest.mark.real
def test_as_a_step_of_srun(mark: str) -> None:
    """Two processes in the environment that srun gives them, and no other common ground."""
    step = {"SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_NUM_NODES": "1", "SLURM_STEP_ID": "0",
            "SLURM_STEP_NODELIST": "127.0.0.1", "SLURM_JOB_ID": str(os.getpid())}  # fmt: skip
    ranks = [
        subprocess.Popen(
            [ARTERY, *ASKED, "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **step, "SLURM_PROCID": str(rank), "SLURM_LOCALID": str(rank),
                 "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"},
        )
        for rank in range(2)
    ]  # fmt: skip
    said = [rank.communicate(timeout=300) for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0], said
    assert said[1][0] == ""
    assert [row["wrong"] for row in document(said[0][0])["results"]] == [0, 0]
    assert none_left(mark)
