"""What ``train`` refuses before it starts, and what does not end a run that has begun."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from artery.answers import train as answers
from artery.answers.lab.bench import lab_bench
from artery.answers.train.request import read_request
from artery.cli import main
from artery.errors import InputError
from artery.formats.own.phases import read_rows
from artery.report.writing.files import write_or_print, write_whole
from artery.runner.phases import PhaseLog
from artery.runner.supervisor import control, lifeline
from artery.runner.supervisor.channel import Channel
from artery.runner.supervisor.home import check
from artery.runner.supervisor.hosts import Host, Hosts
from artery.runner.supervisor.journal import Journal
from tests.runner.conftest import TINY, fleet, policy


def full(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_ends_the_log_of_phases_and_not_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    log = PhaseLog(tmp_path / "phases.jsonl", rank=1, warn=said.append)
    log.write("step", 1.0, 0.5, 1)
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        log.write("step", 2.0, 0.5, 2)
    with log.timed("save", 3):
        pass
    log.close()
    assert said == ["the log of phases is not written any more by rank 1: No space left on device"]
    assert [row["step"] for row in read_rows(tmp_path / "phases.jsonl")] == [1]


def test_a_log_that_cannot_be_opened_or_cuts_a_line_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    PhaseLog(tmp_path / "none" / "phases.jsonl", warn=said.append).write("step", 1.0, 0.5)
    assert "No such file" in said[0]
    log = PhaseLog(tmp_path / "phases.jsonl", warn=said.append)
    monkeypatch.setattr(os, "write", lambda _, text: len(text) - 1)
    log.write("step", 1.0, 0.5)
    log.write("step", 1.0, 0.5)
    assert len(said) == 2
    assert "cut off" in said[1]


def test_a_full_disk_ends_the_journal_and_not_the_run() -> None:
    said: list[str] = []
    journal = Journal(Path("/dev/full"), said.append)
    journal.write(["one"])
    journal.write(["two"])
    journal.close()
    assert said == ["recovery.jsonl is not written any more: No space left on device"]


def refused(**options: Any) -> str:
    with pytest.raises(InputError) as error:
        read_request("resnet18", options)
    return str(error.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lr": float("nan")}, "--lr  nan, must be a finite number"),
        ({"lr": float("inf")}, "--lr  inf, must be a finite number"),
        ({"signals": ("SIGKILL",)}, "--signals  SIGKILL, no process can catch it"),
        ({"log": "/none/of/it/log"}, "--log  there is no folder /none/of/it"),
        ({"log": "/"}, "--log  / is a folder"),
        ({"log": ""}, '--log  "", the copy needs a file'),
        ({"directory": ""}, '--dir  "", a run needs a folder'),
        ({"seed": 2**63}, "--seed  9223372036854775808, must be at most 9223372036854775807"),
        ({"faults": ("kill:rank=2,step=5",)}, "kill:rank=2,step=5: rank 2, ranks are 0 to 1"),
        ({"faults": ("kill:agent=1,step=5",)}, "agent 1, agents are 0 to 0"),
        ({"faults": ("kill:rank=0,step=101",)}, "step 101, the run has 100 steps"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(options: dict[str, Any], words: str) -> None:
    assert words in refused(**options)


def test_ranks_and_agents_that_may_come_can_be_named_in_drills() -> None:
    read_request("resnet18", {"faults": ("kill:rank=3,step=100",), "max_ranks": 4})
    read_request("resnet18", {"faults": ("join:run,step=2", "kill:agent=1,step=5")})


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(InputError, match=r"--listen  192.0.2.1:80: .*free port of this machine"):
        Hosts(("192.0.2.1", 80), "token")


def checkpoint(run: Path, step: int, manifest: object) -> None:
    place = run / "checkpoints" / f"step-{step:08d}"
    place.mkdir(parents=True)
    (place / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def test_a_run_does_not_go_back(tmp_path: Path) -> None:
    checkpoint(tmp_path, 50, {"run": TINY.identity()})
    check(tmp_path, replace(TINY, steps=50))
    with pytest.raises(InputError, match="--steps  49, and the newest checkpoint is of step 50"):
        check(tmp_path, replace(TINY, steps=49))


@pytest.mark.parametrize("manifest", [[], {"run": []}, 7, None])
def test_a_manifest_that_is_none_leaves_it_to_the_checkpoint_before(
    tmp_path: Path, manifest: object
) -> None:
    checkpoint(tmp_path, 50, {"run": {**TINY.identity(), "lr": 0.5}})
    checkpoint(tmp_path, 60, manifest)
    with pytest.raises(InputError, match=r"lr was 0.5, now it is 0.1.*checkpoint of step 50"):
        check(tmp_path, TINY)


def test_files_and_folders_in_the_way_are_all_named(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").touch()
    (tmp_path / "phases.jsonl").mkdir()
    with pytest.raises(InputError) as error:
        check(tmp_path, TINY)
    assert [problem.found for problem in error.value.problems] == ["is a file", "is a folder"]


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setenv("WORLD_SIZE", "1")
    for call in (
        lambda: answers.train("resnet18"),
        lambda: answers.joined("127.0.0.1:9", 1),
        lambda: lab_bench("lab-switch"),
    ):
        with pytest.raises(InputError, match=r"pip install 'artery\[train\]'"):
            call()


class Unsaved(control.Supervisor):
    """A run that was told to go and could not save."""

    def run(self) -> Any:
        self._log.close()
        self._told.close()
        self._selector.close()
        self._record.close()
        self.hosts.end()
        return SimpleNamespace(outcome="preempted", reason="SIGTERM", steps=7)


def test_steps_that_were_not_saved_are_not_called_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "Supervisor", Unsaved)
    words = "7 steps done, but not saved: there is no checkpoint"
    with pytest.raises(answers.RunFailedError, match=words) as error:
        answers.train("resnet18", directory=str(tmp_path))
    assert error.value.exit_code == 4


def test_agents_that_never_call_are_ended_and_the_run_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mute = tmp_path / "mute"  # runs, and never calls
    mute.write_text("#!/bin/sh\nexec sleep 60\n", "utf-8")
    mute.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(mute))
    notes: list[str] = []
    supervisor = control.Supervisor(TINY, fleet(join=0.2), policy(2), tmp_path, note=notes.append)
    result = supervisor.run()
    assert result.outcome == "failed"
    assert notes == ["an agent has not called within 0.2 s"] * 3


def test_folders_of_the_dead_are_swept_and_those_of_the_living_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever holds the lock lives, whatever its number: it may be one of another namespace."""
    monkeypatch.setattr(lifeline, "_SHARED_MEMORY", tmp_path)
    kept = lifeline.new_memory()
    stranger = kept.rename(tmp_path / f"{lifeline.PREFIX}{2**22 + 1}-x")  # no process has it
    dead = tmp_path / f"{lifeline.PREFIX}{os.getpid()}-y"
    dead.mkdir()
    (dead / lifeline.LOCK).touch()
    other = tmp_path / f"{lifeline.PREFIX}z"  # of a version that locked nothing
    other.mkdir()
    lifeline.new_memory()
    assert stranger.exists()
    assert other.exists()
    assert not dead.exists()


def test_what_a_killed_run_left_is_swept_unless_it_can_be_gone_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(answers, "Supervisor", Unsaved)
    useless, useful = tmp_path / "artery-train-a", tmp_path / "artery-train-b"
    for place in (useless, useful):
        place.mkdir()
        (place / "lock").touch()
    checkpoint(useful, 40, {})
    said: list[str] = []
    for _ in range(2):
        with pytest.raises(answers.RunFailedError):
            answers.train("resnet18", note=said.append)
    assert [place.name for place in tmp_path.iterdir()] == [useful.name]
    (about,) = [text for text in said if "left" in text]
    assert about.startswith(f"a run before this one left {useful} (step 40): go on from it with")


@pytest.mark.parametrize("out", ["/none/of/it/answer", "/"])
def test_an_answer_that_has_no_place_is_refused_before_the_run(out: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert main(["train", "resnet18", "--dir", str(folder), "-o", out]) == 3
    assert not folder.exists()


def test_an_answer_that_lost_its_place_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = str(tmp_path / "gone" / "answer")
    with pytest.raises(InputError, match="No such file"):
        write_or_print(lambda place: write_whole(place, "hours of work"), gone)
    assert capsys.readouterr().out == "hours of work\n"


def test_a_store_that_dies_before_it_told_its_port_is_replaced(tmp_path: Path) -> None:
    """What is said of a store before the last one is no news."""
    supervisor = control.Supervisor(TINY, fleet(), policy(2), tmp_path)
    ours, theirs = socket.socketpair()
    with theirs, closing(Channel(ours)) as channel:
        host = Host("h0", channel, "127.0.0.1", 2, 0, tmp_path)
        supervisor.hosts.by_name["h0"] = host
        supervisor._host_joined(host, {})
        assert host.stores == 1
        supervisor._host_store_lost(host, {"number": 1, "reason": "killed by SIGKILL"})
        assert host.stores == 2
        supervisor._host_store_lost(host, {"number": 1, "reason": "killed by SIGKILL"})
        supervisor._host_store(host, {"number": 1, "port": 1, "pid": 1})
        assert host.stores == 2
        assert supervisor.machine.store != "h0"
        supervisor._host_store(host, {"number": 2, "port": 2, "pid": 2})
        assert supervisor.machine.store == "h0"
        assert host.store_port == 2
        supervisor.hosts.end()
    supervisor._told.close()
    supervisor._selector.close()
    supervisor._record.close()
    supervisor._log.close()


@pytest.mark.real
@pytest.mark.usefixtures("nothing_left", "in_repository")
def test_a_stopped_agent_dies_with_the_supervisor(tmp_path: Path) -> None:
    """The agent has called and is stopped; its starter is killed: it goes, and so do its files."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        starter = subprocess.Popen([sys.executable, "-c", _STARTER, str(port)])
        door.settimeout(200.0)
        end, _ = door.accept()
        hello = json.loads(end.recv(65536))
        os.kill(hello["pid"], signal.SIGSTOP)
        starter.kill()
        starter.wait()
        end.close()
    limit = time.monotonic() + 120.0
    while time.monotonic() < limit and _runs(hello["pid"]):
        time.sleep(0.1)
    assert not _runs(hello["pid"])
    assert not Path(hello["memory"]).exists()


@pytest.mark.real
@pytest.mark.usefixtures("nothing_left", "in_repository")
def test_an_agent_that_imports_dies_with_the_supervisor(tmp_path: Path) -> None:
    """It hears nothing meanwhile, and would go only once it has imported everything."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        starter = subprocess.Popen([sys.executable, "-c", _STARTER, str(port)])
        door.settimeout(200.0)
        end, _ = door.accept()
        channel = Channel(end)
        hello = json.loads(end.recv(65536))
        settings = replace(TINY, model="tests.runner.sleeping:mlp").document()
        channel.send("welcome", name="h0", settings=settings, run=str(tmp_path), warm=True)
        maps, limit = Path(f"/proc/{hello['pid']}/maps"), time.monotonic() + 200.0
        while "libtorch_cpu" not in maps.read_text() and time.monotonic() < limit:
            time.sleep(0.05)
        starter.kill()
        starter.wait()
        end.close()
    limit = time.monotonic() + 120.0
    while time.monotonic() < limit and _runs(hello["pid"]):
        time.sleep(0.1)
    assert not _runs(hello["pid"])
    assert not Path(hello["memory"]).exists()


def test_an_interrupt_inside_of_executed_text_ends_with_130_as_well() -> None:
    """CPython would end by the signal, though it was caught, if nothing was executed after it."""
    text = (
        "import artery.cli as c\n"
        "def stop(*_): exec('raise KeyboardInterrupt')\n"
        "c.commands.root.invoke = stop\n"
        "import sys; sys.exit(c.main([]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


def _runs(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not reaped yet has no command line."""
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


_STARTER = """
import os, subprocess, sys
surroundings = {**os.environ, "ARTERY_PARENT": str(os.getpid()), "ARTERY_TOKEN": "t"}
words = [sys.executable, "-m", "artery.runner.supervisor.agent", "127.0.0.1", sys.argv[1], "1"]
subprocess.run(words, env=surroundings)
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--json", "--log", "x"), "--json, --log: not heard by one rank of torchrun, mpirun"),
        (("--agents", "2", "--copies", "memory"), "--agents, --copies: not heard"),
        (("--ranks", "4"), "--ranks 4, but 2 ranks were started: leave it out"),
        (("--lang", "zh", "--predict"), "--predict：由 torchrun"),
    ],
)
def test_a_rank_that_something_else_started_refuses_what_it_would_ignore(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert main(["train", "resnet18", *words]) == 2
    assert said in capsys.readouterr().err
