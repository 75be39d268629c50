"""A long run with processes killed at random: ``python -m checks.soak [--kills 200] [--seed 0]``.

Workers, spares, agents and the store are killed from outside, one after the other, while a small
model trains on three simulated hosts with copies in memory. The run goes on until all kills are
done, then it is told to go, and goes on a little more when it is started again: its weights must
be those of an undisturbed run of as many steps. No steps may be done again that lay in the memory
of a host that was left. Figures go to standard output.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from artery.cli.train import PREEMPTED
from checks.set_backs import SetBack, set_backs

SMALLEST: Final = 0.1
LARGEST: Final = 0.7
"""Seconds between two kills: between these, at random."""

AGENTS: Final = 0.06
"""The share of kills that take a whole host: its agent imports torch anew."""


BREATH: Final = 5
"""Kills in a row between which nobody trained, until training is waited for: a run that is killed
faster than it can start goes nowhere, and says so."""

ENDLESS: Final = 10**9
"""Steps of the run that is told to go when all kills are done."""

MORE: Final = 100
"""Steps that it does when it is started again."""


def main(arguments: list[str] | None = None) -> int:
    """Kill, compare, report; return 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wild = _started(folder / "wild", ENDLESS)
        killed = _killing(wild, folder / "wild", asked.kills, random.Random(asked.seed))  # noqa: S311
        found = _ended(wild, PREEMPTED)
        record = (folder / "wild" / "recovery.jsonl").read_text("utf-8")
        backs = [*set_backs(record.splitlines())]
        steps = found["steps"] + MORE
        again = _ended(_started(folder / "wild", steps))
        calm = _ended(_started(folder / "calm", steps))
    same = again["final_digest"] == calm["final_digest"] and calm["final_digest"] is not None
    _report(calm, found, killed, same=same)
    _explain(backs, found["lost_steps"])
    kept = same and all(each.avoidable <= 1 for each in backs)
    return 0 if kept and found["restarts"] and sum(killed.values()) == asked.kills else 1


def _started(folder: Path, steps: int) -> subprocess.Popen[str]:
    words = [
        sys.executable, "-m", "artery", "train", "tests.runner.tiny:mlp", "--size", "8",
        "--steps", str(steps), "--ranks", "3", "--min-ranks", "1", "--agents", "3",
        "--consistent", "3", "--global-batch", "12", "--copies", "memory", "--save-every", "200",
        "--hang-after", "10s", "--dir", str(folder), "--json",
    ]  # fmt: skip
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _ended(run: subprocess.Popen[str], code: int = 0) -> dict[str, Any]:
    out, err = run.communicate(timeout=7200)
    if run.returncode != code:
        raise SystemExit(f"the run ended with {run.returncode}:\n{err[-3000:]}")
    answer: dict[str, Any] = json.loads(out)
    return answer


def _killing(
    run: subprocess.Popen[str], folder: Path, kills: int, chance: random.Random
) -> Counter[str]:
    """Kill processes of ``run`` at random until there were ``kills``, then tell it to go."""
    done: Counter[str] = Counter()
    _trains(run, folder / "phases.jsonl")
    last, in_a_row = 0.0, 0
    while sum(done.values()) < kills and run.poll() is None:
        time.sleep(chance.uniform(SMALLEST, LARGEST))
        stepped = _last_step(folder / "phases.jsonl")
        last, in_a_row = stepped, 0 if stepped > last else in_a_row + 1
        if in_a_row >= BREATH:
            _trains(run, folder / "phases.jsonl")
        agents = _children(run.pid)
        below = [child for agent in agents for child in _children(agent)]
        kind, pids = ("agent", agents) if chance.random() < AGENTS else ("worker", below)
        if pids:
            with suppress(ProcessLookupError):
                os.kill(chance.choice(sorted(pids)), signal.SIGKILL)
                done[kind] += 1
    _trains(run, folder / "phases.jsonl")
    run.terminate()
    return done


def _trains(run: subprocess.Popen[str], log: Path) -> None:
    """Wait until ``run`` has done a step that began after this moment, and one more second."""
    since = time.time() + 1.0
    while run.poll() is None:
        time.sleep(0.1)
        if _last_step(log) > since:
            return


def _last_step(log: Path) -> float:
    """Return when the last step began that is among the last rows of a log, 0 if none is."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 4096))
            lines = file.read().split(b"\n")[1:-1]  # the first and the last may be cut off
    except OSError:
        return 0.0
    rows = [json.loads(line) for line in lines]
    return max((row["ts"] for row in rows if row["phase"] == "step"), default=0.0)


def _children(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii")
    except OSError:
        return []
    return [int(word) for word in text.split()]


def _report(
    calm: dict[str, Any], found: dict[str, Any], killed: Counter[str], *, same: bool
) -> None:
    recoveries = [each["detect"] + each["total_s"] for each in found["recoveries"]]
    recoveries.sort()
    middle = recoveries[len(recoveries) // 2] if recoveries else 0.0
    slowest = recoveries[-1] if recoveries else 0.0
    print(f"killed                {dict(killed)}")
    print(f"steps                 {found['steps']}")
    print(f"restarts, resizes     {found['restarts']}, {found['resizes']}")
    print(f"back at work          {middle:.2f} s in the middle, {slowest:.2f} s at most")
    print(f"whole run             {found['seconds']:.1f} s, undisturbed {calm['seconds']:.1f} s")
    print(f"unexplained           {found['unexplained_share']:.3%}")
    print(f"load average          {os.getloadavg()[0]:.1f}")
    print(f"weights               {'the same bit for bit' if same else 'DIFFER'}")


def _explain(backs: list[SetBack], lost: int) -> None:
    """Print which restarts did steps again, and whether a copy of them was left."""
    over = [each for each in backs if each.steps > 1]
    rest = sum(each.steps for each in backs) - sum(each.steps for each in over)
    print(f"steps done again      {lost}: {rest} one by one, the others in {len(over)} restarts")
    for each in over:
        print(f"                      {each}")


if __name__ == "__main__":
    sys.exit(main())
