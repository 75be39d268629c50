"""``artery train`` as a user starts it: signals, exit codes, resuming, other launchers."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from artery.answers.goodput.log import measured_run
from artery.runner.faults import damage
from tests.runner.conftest import processes
from tests.runner.hurry import HURRY

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("nothing_left", "in_repository")]

TRAIN = [
    sys.executable, "-m", "artery", "train", "tests.runner.tiny:mlp", "--size", "8",
    "--save-every", "20",
]  # fmt: skip


def started(*words: str, **more: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*TRAIN, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
    )


def ended(child: subprocess.Popen[str], seconds: float = 400.0) -> tuple[int, str, str]:
    out, err = child.communicate(timeout=seconds)
    return child.returncode, out, err


def until_step(folder: Path, step: int, seconds: float = 300.0) -> None:
    """Wait until rank 0 has done so many steps."""
    limit = time.monotonic() + seconds
    log = folder / "phases.jsonl"
    while time.monotonic() < limit:
        rows = log.read_text("utf-8").splitlines() if log.exists() else []
        if any('"step"' in row and json.loads(row).get("step", 0) >= step for row in rows[-20:-1]):
            return
        time.sleep(0.05)
    raise AssertionError(f"step {step} was not reached")


def whole(folder: Path, steps: int) -> str:
    """Return the digest of an undisturbed run."""
    hurry = {**os.environ, HURRY: str(folder.parent)}
    words = ("--steps", str(steps), "--dir", str(folder), "--json")
    code, out, err = ended(started(*words, env=hurry))
    assert code == 0, err
    return str(json.loads(out)["final_digest"])


def test_a_signal_saves_and_the_run_goes_on_where_it_was(tmp_path: Path) -> None:
    first = started("--steps", "1000", "--dir", str(tmp_path / "a"), "--json")
    until_step(tmp_path / "a", 30)
    first.send_signal(signal.SIGUSR1)
    code, out, err = ended(first)
    assert code == 75, err
    told = json.loads(out)
    assert told["outcome"] == "preempted"
    assert told["final_digest"] is None
    done = told["steps"]
    assert done >= 30
    saved = sorted((tmp_path / "a" / "checkpoints").glob("step-*"))
    assert saved[-1].name == f"step-{done:08d}"
    code, out, err = ended(started("--steps", str(done + 40), "--dir", str(tmp_path / "a"),
                                   "--json"))  # fmt: skip
    assert code == 0, err
    resumed = json.loads(out)
    assert resumed["steps"] == done + 40
    assert f"from step {done} (disk)" in err
    assert resumed["final_digest"] == whole(tmp_path / "b", done + 40)


def test_ctrl_c_saves_and_ends_with_130(tmp_path: Path) -> None:
    run = started("--steps", "100000", "--dir", str(tmp_path), "--json")
    until_step(tmp_path, 5)
    run.send_signal(signal.SIGINT)
    code, out, err = ended(run)
    assert code == 130, err
    done = json.loads(out)["steps"]
    assert (tmp_path / "checkpoints" / f"step-{done:08d}" / "manifest.json").is_file()


def test_the_answer_of_the_run_and_of_its_log_are_one(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code, out, err = ended(started("--steps", "60", "--fault", "kill:rank=1,step=33",
                                   "--blocking-save", "--log", str(log), "--json"))  # fmt: skip
    assert code == 0, err
    told, found = json.loads(out), measured_run([str(log)]).account
    assert told["phases_s"] == pytest.approx(dict(found.seconds))
    assert told["lost_work_s"] == pytest.approx(found.seconds["redone"])
    assert told["lost_work_s"] > 0.0
    assert told["lost_steps"] == found.redone_steps
    assert told["unexplained_share"] == pytest.approx(found.share("unexplained"))


def test_torn_checkpoints_of_an_earlier_run_count_as_lost_steps(tmp_path: Path) -> None:
    whole(tmp_path, 60)
    for step in (40, 60):
        damage(tmp_path / "checkpoints" / f"step-{step:08d}" / "state.bin", "flip")
    code, out, err = ended(started("--steps", "80", "--dir", str(tmp_path), "--json"))
    assert code == 0, err
    told = json.loads(out)
    assert (told["steps"], told["lost_steps"], told["restarts"]) == (80, 40, 0)
    assert told["final_digest"] == whole(tmp_path / "b", 80)


def test_a_run_whose_files_cannot_grow_goes_on_and_says_at_its_end_what_is_not_kept(
    tmp_path: Path,
) -> None:
    """No file may be over 6 KiB, as on a full disk: neither logs nor checkpoints fit."""
    words = ("--steps", "100000", "--dir", str(tmp_path), "--json")
    copy = str(tmp_path / "copy")
    run = started(*words[:1], "200", *words[2:], "--log", copy, preexec_fn=_small_files)
    code, out, err = ended(run)
    assert code == 4, err
    assert "its last state is not saved: there is no checkpoint" in err
    assert f"the log in {copy} is not whole" in err
    told = json.loads(out)
    assert told["steps"] == 200
    for rank in range(2):
        said = f"the log of phases is not written any more by rank {rank}"
        assert sum(said in text for text in told["warnings"]) == 1
    assert any("was not written" in text for text in told["warnings"])
    assert (tmp_path / "phases.jsonl").stat().st_size <= 6144
    run = started(*words, preexec_fn=_small_files)
    heard(run, "was not written")
    run.send_signal(signal.SIGTERM)
    code, _, err = ended(run)
    assert code == 4, err
    assert "steps done, but not saved: there is no checkpoint" in err


def test_a_disk_that_fills_up_with_the_last_checkpoint_is_no_success(
    tmp_path: Path, free_port: int
) -> None:
    """The answer is given all the same, and the checkpoint before stays."""
    words = ("--steps", "40", "--ranks", "1", "--fault", "disk-full:step=40", "--dir")
    code, out, err = ended(started(*words, str(tmp_path / "a")))
    said = "the run is done, but its last state is not saved: the newest checkpoint is of step 20"
    assert code == 4, err
    assert f"{said} in {tmp_path / 'a'}" in err
    assert "40 steps on 1 ranks" in out
    alone = {
        **os.environ, "RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port), "GLOO_SOCKET_IFNAME": "lo",
    }  # fmt: skip
    code, _, err = ended(started(*words, str(tmp_path / "b"), env=alone))
    assert code == 4, err
    assert said in err


def test_without_a_folder_there_is_no_last_state_to_keep() -> None:
    code, _, err = ended(started("--steps", "20", "--ranks", "1", "--fault", "disk-full:step=20"))
    assert code == 0, err


def _small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (6144, 6144))


def test_killed_as_a_whole_it_leaves_nothing_and_goes_on_when_started_again(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "a"
    first = started("--steps", "100000", "--dir", str(folder))
    until_step(folder, 25)
    first.kill()
    ended(first)
    limit = time.monotonic() + 120.0
    while processes() and time.monotonic() < limit:
        time.sleep(0.1)
    assert not processes()
    code, out, err = ended(started("--steps", "80", "--dir", str(folder), "--json"))
    assert code == 0, err
    assert "(disk)" in err or json.loads(out)["steps"] == 80


def test_another_run_does_not_go_on_from_this_one_and_two_do_not_share_a_folder(
    tmp_path: Path,
) -> None:
    whole(tmp_path, 25)
    code, _, err = ended(started("--steps", "50", "--dir", str(tmp_path), "--lr", "0.2"))
    assert code == 3
    assert "lr was 0.1, now it is 0.2" in err
    busy = started("--steps", "100000", "--dir", str(tmp_path))
    until_step(tmp_path, 30)
    code, _, err = ended(started("--steps", "50", "--dir", str(tmp_path)))
    assert code == 3
    assert "another run is using it" in err
    busy.send_signal(signal.SIGTERM)
    assert ended(busy)[0] == 75


def test_what_cannot_be_is_said_before_or_instead_of_a_traceback() -> None:
    code, _, err = ended(started("--fault", "kil:rank=1", "--ranks", "4", "--global-batch", "2"))
    assert code == 3
    assert 'did you mean "kill"?' in err
    assert "each of 4 ranks needs a sample" in err
    missing = [*TRAIN[:4], "tests.runner.tiny:nothing"]
    found = subprocess.run(missing, capture_output=True, text=True, timeout=300, check=False)
    assert found.returncode == 3
    assert "is no function of module tests.runner.tiny" in found.stderr
    assert "Traceback" not in found.stderr


def test_an_error_that_always_comes_back_ends_the_run(tmp_path: Path) -> None:
    words = [*TRAIN[:4], "tests.runner.tiny:fussy", "--size", "8", "--dir", str(tmp_path), "--json"]
    found = subprocess.run(words, capture_output=True, text=True, timeout=200, check=False)
    assert found.returncode == 3
    assert "ValueError: it never learns; the same twice after step 0" in found.stderr
    assert "Traceback" not in found.stderr
    said = json.loads(found.stdout)
    assert (said["outcome"], said["attempts"], said["steps"]) == ("failed", 2, 0)
    assert "it never learns" in said["reason"]


def test_torchrun_starts_the_ranks_and_the_result_is_the_same(tmp_path: Path) -> None:
    words = [
        sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone",
        "-m", *TRAIN[2:], "--steps", "30", "--dir", str(tmp_path / "a"),
    ]  # fmt: skip
    found = subprocess.run(
        words, capture_output=True, text=True, timeout=180, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"},
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert f"weights {whole(tmp_path / 'b', 30)}" in found.stdout
    assert (tmp_path / "a" / "checkpoints" / "step-00000030" / "manifest.json").is_file()


def test_ranks_of_slurm_save_and_leave_on_a_signal(tmp_path: Path, free_port: int) -> None:
    surroundings = {
        **os.environ, "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_NODELIST": "127.0.0.1",
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port), "GLOO_SOCKET_IFNAME": "lo",
    }  # fmt: skip
    ranks = [
        started("--steps", "100000", "--dir", str(tmp_path),
                env={**surroundings, "SLURM_PROCID": str(rank)})
        for rank in range(2)
    ]  # fmt: skip
    until_step(tmp_path, 20)
    ranks[1].send_signal(signal.SIGTERM)
    assert [ended(rank)[0] for rank in ranks] == [75, 75]
    steps = sorted((tmp_path / "checkpoints").glob("step-*"))
    assert steps


def test_a_rank_that_finds_nobody_says_where_it_looked(tmp_path: Path, free_port: int) -> None:
    surroundings = {
        **os.environ, "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_NODELIST": "127.0.0.1",
        "SLURM_PROCID": "1", "MASTER_PORT": str(free_port), "GLOO_SOCKET_IFNAME": "lo",
    }  # fmt: skip
    words = ("--timeout", "2s", "--dir", str(tmp_path))
    code, _, err = ended(started(*words, env=surroundings))
    assert code == 4, err
    where = f"did not meet the others at tcp://127.0.0.1:{free_port} within 2 s"
    assert where in err
    assert "set MASTER_ADDR" in err


def test_a_signal_that_comes_while_torch_is_imported_is_kept(
    tmp_path: Path, free_port: int
) -> None:
    surroundings = {
        **os.environ, "RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port), "GLOO_SOCKET_IFNAME": "lo",
    }  # fmt: skip
    rank = started("--steps", "100000", "--dir", str(tmp_path), env=surroundings)
    maps = Path(f"/proc/{rank.pid}/maps")
    limit = time.monotonic() + 200.0
    while "libtorch_cpu" not in maps.read_text() and time.monotonic() < limit:
        time.sleep(0.01)
    rank.send_signal(signal.SIGUSR1)
    code, _, err = ended(rank)
    assert code == 75, err


def heard(run: subprocess.Popen[str], words: str) -> str:
    """Return the next line on stderr that says ``words``; others may come between."""
    assert run.stderr is not None
    limit = Timer(400.0, run.kill)
    limit.start()
    try:
        for line in run.stderr:
            if words in line:
                return line
    finally:
        limit.cancel()
    raise AssertionError(f'the run has ended and never said "{words}"')


def test_another_host_joins_with_the_command_that_the_run_prints(tmp_path: Path) -> None:
    run = started(
        "--steps", "1000000", "--ranks", "2", "--min-ranks", "1", "--max-ranks", "3",
        "--consistent", "3", "--listen", "127.0.0.1:0", "--dir", str(tmp_path),
    )  # fmt: skip
    other: subprocess.Popen[bytes] | None = None
    try:
        told = heard(run, "ARTERY_TOKEN=")
        token, address = told.split("ARTERY_TOKEN=")[1].split()[0], told.split()[-1]
        join = [sys.executable, "-m", "artery", "train", "--join", address, "--ranks", "1"]
        refused = subprocess.run(
            join, capture_output=True, text=True, timeout=200, check=False,
            env={**os.environ, "ARTERY_TOKEN": "wrong"},
        )  # fmt: skip
        assert refused.returncode == 3
        assert "did not take this host" in refused.stderr
        until_step(tmp_path, 5)
        other = subprocess.Popen(join, env={**os.environ, "ARTERY_TOKEN": token})
        heard(run, "3 ranks go on")
        other.send_signal(signal.SIGTERM)
        heard(run, "host h1 was told to go")
        heard(run, "2 ranks go on")
        assert other.wait(120) == 0
        run.send_signal(signal.SIGTERM)
        assert ended(run)[0] == 75
    finally:
        for child in (run, other):
            if child is not None:
                child.kill()
                child.wait()


def test_nobody_is_joined_where_nobody_listens(free_port: int) -> None:
    join = [sys.executable, "-m", "artery", "train", "--join", f"127.0.0.1:{free_port}"]
    found = subprocess.run(join, capture_output=True, text=True, timeout=200, check=False)
    assert found.returncode == 3
    assert "--join  Connection refused" in found.stderr
