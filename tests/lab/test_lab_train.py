"""``artery train`` across the hosts of a lab: a link is lost, the network vanishes, all is well."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from artery.cloud.machine.record import played_again
from tests.lab.labs import ROOT, artery, up
from tests.runner.hurry import HURRY

pytestmark = pytest.mark.real

TRAIN: Final = (
    f"{sys.executable} -m artery train tests.runner.tiny:mlp --size 8 --consistent 3 "
    "--global-batch 12 --save-every 5000"
)

HOSTS: Final = """
unset WORLD_SIZE GLOO_SOCKET_IFNAME  # nobody says which interface reaches the others
first=$RANK; unset RANK
if [ $first = 0 ]; then
  exec {train} --ranks 1 --min-ranks 1 --max-ranks 3 --copies memory --lost-after 4s \\
    --steps 1000000 --listen {listen}:29400 --dir {run} --json
fi
tries=0
until {python} -m artery train --join $MASTER_ADDR:29400 --ranks 1 || [ $tries = 60 ]; do
  tries=$((tries + 1)); sleep 1
done
"""
"""The first host has the supervisor; the others join, and again when they were given up."""


def test_a_host_whose_link_is_lost_is_gone_without_and_comes_back(tmp_path: Path) -> None:
    run = tmp_path / "run"
    script = HOSTS.format(train=TRAIN, run=run, python=sys.executable, listen="0.0.0.0")  # noqa: S104
    with up("lab-switch") as name:
        ranks = subprocess.Popen(
            [sys.executable, "-m", "artery", "lab", "run", "--name", name, "--order", "0,1,2",
             "--timeout", "400s", "--", "sh", "-c", script],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT,
            env={**os.environ, "ARTERY_TOKEN": "of this test", "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        try:
            until(lambda: worlds(run)[-1:] == [3], ranks)
            artery("fail", "node0003-switch001", "--name", name, "--json")
            until(lambda: worlds(run)[-1:] == [2], ranks)
            artery("repair", "--name", name, "--json")
            until(lambda: worlds(run)[-1:] == [3], ranks)
            os.kill(supervisor(run), signal.SIGTERM)
            said, _ = ranks.communicate(timeout=120)
        finally:
            if ranks.poll() is None:
                ranks.kill()
                ranks.communicate()
    assert ranks.returncode == 75, said
    assert "is lost: silent for 4 s" in said
    found = finished(run, saved(run) + 20)
    assert found == finished(tmp_path / "calm", saved(run))
    assert list(played_again((run / "recovery.jsonl").read_text("utf-8").splitlines()))


def until(true: Callable[[], bool], ranks: subprocess.Popen[str], seconds: float = 150.0) -> None:
    limit = time.monotonic() + seconds
    while not true():
        if time.monotonic() > limit or ranks.poll() is not None:
            ranks.kill()
            raise AssertionError(ranks.communicate()[0])
        time.sleep(0.2)


def worlds(run: Path) -> list[int]:
    """Return with how many ranks attempts began that came to a step."""
    log = run / "recovery.jsonl"
    lines = log.read_text("utf-8").splitlines()[1:] if log.exists() else []
    sizes: dict[int, int] = {}
    found = []
    for row in (json.loads(line) for line in lines if line.endswith("}")):
        if row.get("action") == "Begin":
            sizes[row["attempt"]] = len(row["members"])
        if row.get("event") == "Stepped" and row["attempt"] in sizes:
            found.append(sizes.pop(row["attempt"]))
    return found


def supervisor(run: Path) -> int:
    """Return the process that runs ``run``, as this machine numbers it."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:1] == [sys.executable.encode()] and str(run).encode() in words:
            return int(place.name)
    raise AssertionError("there is no supervisor")


def saved(run: Path) -> int:
    return max(int(place.name[5:]) for place in (run / "checkpoints").glob("step-*"))


def finished(run: Path, steps: int) -> str:
    """Train on to ``steps`` here, and return the digest of the weights."""
    done = subprocess.run(
        [*TRAIN.split(), "--ranks", "1", "--steps", str(steps), "--dir", str(run), "--json"],
        capture_output=True, text=True, timeout=240, check=False, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), HURRY: str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["final_digest"])
