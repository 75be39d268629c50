"""Processes started and ended, and the worlds that launchers tell of."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from artery.errors import InputError, RunError
from artery.runner.launch import launched, run_folder, started, world
from tests.runner.remains import MARK, folders, marked, none_left

PYTHON = sys.executable
WATCH = "from artery.runner.launch import stay_only_while_watched as stay; stay(); "


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """Mark all processes that the test starts."""
    value = uuid.uuid4().hex
    monkeypatch.setenv(MARK, value)
    return value


def run(code: str, ranks: int = 2, *, timeout: float = 120.0) -> tuple[list[str], Path]:
    heard: list[str] = []
    with run_folder() as folder:
        launched([PYTHON, "-c", code], ranks, folder=folder, timeout=timeout, heard=heard.append)
    return heard, folder


@pytest.mark.real
def test_each_copy_knows_its_rank_and_the_first_one_is_heard(mark: str) -> None:
    code = (
        "import os; from artery.runner.launch import world; w = world(); "
        "open(os.environ['ARTERY_RUN_FOLDER'] + f'/{w.rank}.txt', 'w').write(w.meeting); "
        "print(w.rank, w.size, w.local_size, w.hosts, w.origin)"
    )
    with run_folder() as folder:
        heard: list[str] = []
        launched([PYTHON, "-c", code], 3, folder=folder, timeout=120, heard=heard.append)
        assert heard == ["0 3 3 1 artery"]
        meetings = {(folder / f"{rank}.txt").read_text() for rank in range(3)}
        assert meetings == {(folder / "store").as_uri()}
    assert not folder.exists()
    assert none_left(mark)


@pytest.mark.real
def test_the_one_that_failed_first_is_told_with_its_last_words(mark: str) -> None:
    # Process 0 fails once nothing is left of process 1, process 2 would in a minute.
    code = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "one = Path(os.environ['ARTERY_RUN_FOLDER']) / 'one'\n"
        "if os.environ['RANK'] == '1':\n"
        "    one.with_suffix('.new').write_text(str(os.getpid()))\n"
        "    one.with_suffix('.new').rename(one)\n"
        "    sys.exit('the disk is on fire')\n"
        "if os.environ['RANK'] == '2': time.sleep(60)\n"
        "while not one.exists() or Path('/proc', one.read_text()).exists(): time.sleep(0.01)\n"
        "sys.exit('Connection closed by peer [127.0.0.1]')"
    )
    start = time.monotonic()
    with pytest.raises(RunError, match=r"process 1 ended with exit code 1\n  the disk is on fire"):
        run(code, 3)
    assert time.monotonic() - start < 30
    assert none_left(mark)


@pytest.mark.real
def test_a_killed_process_is_told_by_its_signal(mark: str) -> None:
    with pytest.raises(RunError, match=r"process 0 was killed by signal 9 \(Killed\)"):
        run("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 1)
    assert none_left(mark)


@pytest.mark.real
def test_time_is_up(mark: str) -> None:
    words = ["sh", "-c", '[ "$RANK" = 0 ] || sleep 60']  # a shell is there and gone at once
    said = "time was up and process 1 still ran"
    with run_folder() as folder, pytest.raises(RunError, match=said):
        launched(words, 2, folder=folder, timeout=2.0)
    assert none_left(mark)


@pytest.mark.real
def test_what_a_process_has_started_goes_with_it(mark: str) -> None:
    code = (
        "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', "
        "'import time; time.sleep(60)']); time.sleep(60)"
    )
    with pytest.raises(RunError, match="time was up"):
        run(code, 1, timeout=1.5)
    assert none_left(mark)


@pytest.mark.real
def test_a_process_that_does_not_heed_is_killed(mark: str) -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    with pytest.raises(RunError, match="time was up"):
        run(code, 1, timeout=1.5)
    assert none_left(mark)


@pytest.mark.real
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_when_the_one_that_started_them_ends(
    number: signal.Signals, mark: str, tmp_path: Path
) -> None:
    inner = WATCH + "print('there', flush=True); import time; time.sleep(60)"
    code = (
        "from artery.runner.launch import *; import sys\n"
        "with run_folder() as folder:\n"
        f"    launched([sys.executable, '-c', {inner!r}], 2, folder=folder, timeout=60,"
        " heard=lambda line: print(line, flush=True))"
    )
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([PYTHON, "-c", code], stdout=subprocess.PIPE, env=environ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"there\n"
        assert len(marked(mark)) == 3
        assert folders(tmp_path)
        parent.send_signal(number)
    assert none_left(mark)
    assert folders(tmp_path) == []


@pytest.mark.real
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_guarded_command_ends_with_its_starter_too(
    number: signal.Signals, mark: str, tmp_path: Path
) -> None:
    """A launcher that keeps its own input, as mpirun does, and is slow to end."""
    inner = (
        "import os, signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (child.terminate(), child.wait(), sys.exit(1)))\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print('there', flush=True)\n"
        "time.sleep(60)"
    )
    code = (
        "from artery.runner.launch import *; import os, sys\n"
        "with run_folder() as folder:\n"
        f"    inner = [sys.executable, '-c', {inner!r}]\n"
        "    command = [sys.executable, '-m', 'artery.runner.guard', *inner]\n"
        "    started([(command, {**os.environ, FOLDER: str(folder)})], folder=folder, timeout=60,"
        " heard=lambda line: print(line, flush=True))"
    )
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([PYTHON, "-c", code], stdout=subprocess.PIPE, env=environ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"there\n"
        assert len(marked(mark)) == 4
        parent.send_signal(number)
    assert none_left(mark)
    assert folders(tmp_path) == []


@pytest.mark.real
@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; sys.exit(7)", "exit code 7"),
        ("import os; os.kill(os.getpid(), 9)", "code 137"),
    ],
)
def test_a_guard_passes_on_how_its_command_ended(code: str, message: str, mark: str) -> None:
    command = [PYTHON, "-m", "artery.runner.guard", PYTHON, "-c", code]
    with run_folder() as folder, pytest.raises(RunError, match=message):
        started([(command, dict(os.environ))], folder=folder, timeout=120)
    assert none_left(mark)


@pytest.mark.real
def test_commands_may_differ(mark: str) -> None:
    heard: list[str] = []
    with run_folder() as folder:
        commands = [([PYTHON, "-c", f"print({number})"], dict(os.environ)) for number in (7, 8)]
        started(commands, folder=folder, timeout=120, heard=heard.append)
        assert (folder / "1.out").read_text() == "8\n"
    assert heard == ["7"]
    assert none_left(mark)


def test_alone_there_is_no_world() -> None:
    assert world({}) is None
    # A batch script of Slurm is no step of srun.
    assert world({"SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_JOB_ID": "7"}) is None


def test_torchruns_world() -> None:
    told = {
        "RANK": "5",
        "WORLD_SIZE": "16",
        "LOCAL_RANK": "1",
        "LOCAL_WORLD_SIZE": "4",
        "MASTER_ADDR": "head",
        "MASTER_PORT": "29500",
    }
    here = world(told)
    assert here is not None
    assert (here.rank, here.size, here.local_rank, here.local_size) == (5, 16, 1, 4)
    assert (here.meeting, here.origin, here.hosts) == ("env://", "torchrun", 4)


def test_srun_meets_on_the_first_host_at_a_port_of_the_job() -> None:
    told = {
        "SLURM_PROCID": "3",
        "SLURM_LOCALID": "1",
        "SLURM_STEP_NUM_TASKS": "4",
        "SLURM_STEP_NUM_NODES": "2",
        "SLURM_STEP_NODELIST": "gpu[07-08]",
        "SLURM_JOB_ID": "4711",
        "SLURM_STEP_ID": "0",
    }
    here = world(told)
    assert here is not None
    assert (here.rank, here.size, here.local_rank, here.hosts) == (3, 4, 1, 2)
    assert here.meeting.startswith("tcp://gpu07:2")
    other = world({**told, "SLURM_PROCID": "0", "SLURM_LOCALID": "0"})
    assert other is not None
    assert other.meeting == here.meeting
    again = world({**told, "SLURM_STEP_ID": "1"})
    assert again is not None
    assert again.meeting != here.meeting
    named = world({**told, "MASTER_ADDR": "head", "MASTER_PORT": "29511"})
    assert named is not None
    assert named.meeting == "tcp://head:29511"


def test_mpiruns_world() -> None:
    told = {
        "OMPI_COMM_WORLD_RANK": "2",
        "OMPI_COMM_WORLD_SIZE": "6",
        "OMPI_COMM_WORLD_LOCAL_RANK": "0",
        "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
        "PMIX_NAMESPACE": "prterun-vm-77@1",
    }
    here = world(told)
    assert here is not None
    assert (here.rank, here.size, here.local_size, here.hosts, here.origin) == (2, 6, 2, 3, "mpi")
    short = world({"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANK": "1"})
    assert short is not None
    assert (short.rank, short.size) == (1, 2)


@pytest.mark.parametrize(
    "told",
    [
        {"RANK": "first", "WORLD_SIZE": "2"},
        {"RANK": "0", "WORLD_SIZE": ""},
        {"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "x"},
    ],
)
def test_an_environment_without_sense_is_refused(told: dict[str, str]) -> None:
    with pytest.raises(InputError, match="must be a whole number"):
        world(told)
