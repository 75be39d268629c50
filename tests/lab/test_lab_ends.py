"""Nothing of a lab is left behind, however it, its owner or a run in it ends."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from artery.answers.lab import lab_down, lab_run, lab_up
from artery.errors import InputError
from artery.runner.lab import client, door
from tests.lab.labs import ROOT, UNPRIVILEGED, artery, up

pytestmark = pytest.mark.real

NAME = f"ends-{os.getpid()}"


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    """End what a test that failed has left running."""
    yield
    while STARTED:
        process = STARTED.pop()
        if process.returncode is None:
            killed(process)
    for name in door.known():
        if name.startswith(NAME):
            lab_down(name)


STARTED: list[subprocess.Popen[str]] = []


def started(*arguments: str, before: Sequence[str] = ()) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [*before, sys.executable, "-m", "artery", "lab", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
    )
    STARTED.append(process)
    return process


def killed(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate(timeout=120)


def gone(name: str, seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while name in door.known():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


SLEEP = str(86_400 + os.getpid())
"""Seconds that a command in a lab sleeps: no other sleep of this machine is as long."""


def sleepers() -> list[int]:
    """Return the processes that are this module's own sleep."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                line = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if line == f"sleep\0{SLEEP}\0".encode():
                found.append(int(folder.name))
    return found


def seen(count: int, seconds: float = 60.0) -> bool:
    """Wait until so many sleeps are there."""
    end = time.monotonic() + seconds
    while len(sleepers()) != count:
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_a_killed_holder_takes_everything_with_it_and_the_name_is_free() -> None:
    artery("up", "lab-leaf-spine", "--name", NAME, "--json")
    run = started("run", "--name", NAME, "--", "sleep", SLEEP)
    assert seen(4)
    found = client.find(NAME)
    assert found is not None
    os.kill(found.process, signal.SIGKILL)
    assert gone(NAME)
    assert seen(0)
    assert run.wait(120) != 0
    killed(run)
    artery("up", "lab-switch", "--name", NAME, "--json")
    assert artery("down", "--name", NAME, "--json")["was_up"] is True
    assert artery("down", "--name", NAME, "--json")["was_up"] is False


def test_a_killed_run_leaves_the_lab_and_none_of_its_processes() -> None:
    with up("lab-switch") as name:
        run = started(
            "run", "--name", name, "--", "sh", "-c", f"setsid sleep {SLEEP} & sleep {SLEEP}"
        )
        assert seen(8)
        killed(run)
        assert seen(0)
        found = artery("status", "--name", name, "--json")
        assert found["lab"]["runs"] == 0


def test_an_up_that_is_killed_leaves_a_whole_lab_or_none() -> None:
    for moment in (0.02, 0.3, 0.5, 0.7):
        starting = started("up", "lab-fat-tree", "--name", NAME)
        time.sleep(moment)
        killed(starting)
        end = time.monotonic() + 60
        while NAME in door.known() and client.find(NAME) is None and time.monotonic() < end:
            time.sleep(0.05)
        if NAME in door.known():
            assert lab_down(NAME)
        assert gone(NAME)


def test_a_lab_of_a_bench_ends_with_it() -> None:
    bench = started("bench", "lab-switch", "--sizes", "16M", "--repeats", "100")
    name = f"bench-{bench.pid}"
    end = time.monotonic() + 120
    while client.find(name) is None and time.monotonic() < end:
        time.sleep(0.05)
    assert client.find(name) is not None
    killed(bench)
    assert gone(name)


def test_ctrl_c_ends_a_run_and_says_so() -> None:
    with up("lab-switch") as name:
        run = started("run", "--name", name, "--", "sleep", SLEEP)
        assert seen(4)
        run.send_signal(signal.SIGINT)
        said, _ = run.communicate(timeout=120)
        assert run.returncode == 130
        assert "interrupted" in said
        assert seen(0)


def test_a_run_without_root_is_killed_with_its_holder() -> None:
    name = f"{NAME}-user"
    artery("up", "lab-switch", "--name", name, "--json", before=UNPRIVILEGED)
    run = started("run", "--name", name, "--", "sleep", SLEEP, before=UNPRIVILEGED)
    assert seen(4)
    holder = max(
        pid
        for folder in Path("/proc").iterdir()
        if folder.name.isdecimal()
        and b"artery.runner.lab.holder" in (folder / "cmdline").read_bytes()
        and (pid := int(folder.name))
    )
    os.kill(holder, signal.SIGKILL)
    assert run.wait(120) != 0
    killed(run)
    assert seen(0)


def test_two_labs_of_one_name_are_one_too_many() -> None:
    with up("lab-switch") as name, pytest.raises(InputError, match="is up already"):
        lab_up("lab-switch", name=name)


def test_every_rank_has_its_environment_and_the_first_failure_is_the_exit_code() -> None:
    with up("lab-leaf-spine") as name:
        words = "echo $RANK of $WORLD_SIZE at $MASTER_ADDR on $ARTERY_HOST; exit $((RANK * 7))"
        found = artery("run", "--name", name, "--order", "interleaved", "--json", "--", "sh", "-c",
                       words, code=7)  # fmt: skip
        assert [one["output"] for one in found["ended"]] == [
            f"{rank} of 4 at 10.77.0.2 on node000{host}\n" for rank, host in enumerate((1, 3, 2, 4))
        ]
        assert [one["exit_code"] for one in found["ended"]] == [0, 7, 14, 21]


def test_a_run_is_over_when_its_time_is() -> None:
    with up("lab-switch") as name:
        begun = time.monotonic()
        found = artery("run", "--name", name, "--timeout", "1s", "--json", "--", "sleep", SLEEP,
                       code=124)  # fmt: skip
        assert {one["exit_code"] for one in found["ended"]} == {124}
        assert time.monotonic() - begun < 30
        assert seen(0)


def test_a_hung_rank_is_ended_when_another_has_failed() -> None:
    with up("lab-switch") as name:
        answer = lab_run(
            ["sh", "-c", f"[ $RANK = 2 ] && exit 3; sleep {SLEEP}"], name=name, timeout="60s"
        )
        assert answer.code == 3
        assert [one.exit_code for one in answer.ended] == [-9, -9, 3, -9]
        assert seen(0)


REACH = """
import os, socket, sys, threading
ports = [("10.77.0.%d" % (n + 2), 7000) for n in range(int(sys.argv[1]))]
mine = socket.create_server(("0.0.0.0", 7000), backlog=64)
def answer():
    for _ in ports:
        line, _ = mine.accept()
        line.sendall(os.environ["RANK"].encode()); line.close()
answering = threading.Thread(target=answer, daemon=True)
answering.start()
import time
for place, port in enumerate(ports):
    for attempt in range(2000):
        try:
            with socket.create_connection(port, timeout=60) as line:
                print(line.recv(9).decode(), end=" ")
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    else:
        sys.exit(f"{port} was not reached")
answering.join()  # until everyone has been here
"""


@pytest.mark.parametrize("options", [(), ("--engine", "tap")], ids=["kernel", "tap"])
def test_every_host_of_a_fat_tree_reaches_every_other(options: tuple[str, ...]) -> None:
    with up("lab-fat-tree", *options) as name:
        found = artery("run", "--name", name, "--timeout", "200s", "--json", "--", sys.executable,
                       "-c", REACH, "16")  # fmt: skip
        everyone = "".join(f"{rank} " for rank in range(16))
        assert {one["output"] for one in found["ended"]} == {everyone}


def test_failed_ways_are_gone_around_until_there_is_none() -> None:
    with up("lab-leaf-spine") as name:

        def reaches() -> bool:
            script = (
                "import socket,sys\n"
                "try: socket.create_connection(('10.77.0.4', 9), timeout=2)\n"
                "except ConnectionRefusedError: sys.exit(0)\n"
                "except OSError: sys.exit(1)\n"
            )
            words = [sys.executable, "-c", script]
            return lab_run(words, name=name, order="0", timeout="20s").code == 0

        assert reaches()
        artery("fail", "leaf001 - spine001", "--name", name, "--json")
        assert reaches()
        state = artery("fail", "leaf001 - spine002", "--name", name, "--json")
        assert [one["share"] for one in state["lab"]["wires"]] == [1, 1, 1, 1, 0, 0, 1, 1]
        assert not reaches()
        artery("repair", "--name", name, "--json")
        assert reaches()


def test_another_user_is_not_let_in() -> None:
    # The address has the user's number in it; a lab of root is asked by nobody at that address.
    with up("lab-switch") as name:
        script = (
            "import os, socket\n"
            f"line = socket.socket(socket.AF_UNIX); line.connect('\\0artery-lab-0-{name}')\n"
            'line.sendall(b\'{"do": "down"}\\n\')\n'
            "print(len(line.recv(100)))\n"
        )
        done = subprocess.run(
            [
                "setpriv",
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "python3",
                "-c",
                script,
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.stdout.strip() in {"0", ""}, done.stderr
        assert artery("status", "--name", name, "--json")["lab"]["name"] == name


def test_a_lab_that_is_waited_for_is_ready_when_it_is_told(tmp_path: Path) -> None:
    # Whoever reads the output of ``up`` to its end must not wait for the lab's end.
    process = started("up", "lab-switch", "--name", NAME)
    try:
        assert process.stdout is not None
        assert select.select([process.stdout], [], [], 30)[0]
        said, _ = process.communicate(timeout=120)
        assert "4 hosts" in said
    finally:
        lab_down(NAME)
