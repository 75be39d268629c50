"""A long run with processes killed at random: ``python -m checks.soak [--kills 200] [--seed 0]``.

Workers, spares, agents and the store are killed from outside, one after the other, while a small
model trains on two simulated hosts with copies in memory. The run must end with the weights of an
undisturbed one, and nothing may be left behind. Figures go to standard output.
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

SMALLEST: Final = 0.1
LARGEST: Final = 0.7
"""Seconds between two kills: between these, at random."""

AGENTS: Final = 0.06
"""The share of kills that take a whole host: its agent imports torch anew."""


def main(arguments: list[str] | None = None) -> int:
    """Kill, compare, report; return 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=0, help="default: enough for all kills")
    asked = parser.parse_args(arguments)
    steps = asked.steps or 80 * asked.kills
    with tempfile.TemporaryDirectory() as folder:
        calm = _ended(_started(Path(folder) / "calm", steps))
        wild = _started(Path(folder) / "wild", steps)
        killed = _killing(wild, Path(folder) / "wild", asked.kills, random.Random(asked.seed))  # noqa: S311
        found = _ended(wild)
    same = found["final_digest"] == calm["final_digest"] and found["final_digest"] is not None
    _report(calm, found, killed, same=same)
    return 0 if same and found["restarts"] and sum(killed.values()) == asked.kills else 1


def _started(folder: Path, steps: int) -> subprocess.Popen[str]:
    words = [
        sys.executable, "-m", "artery", "train", "tests.runner.tiny:mlp", "--size", "8",
        "--steps", str(steps), "--ranks", "3", "--min-ranks", "1", "--agents", "3",
        "--consistent", "3", "--global-batch", "12", "--copies", "memory", "--save-every", "200",
        "--hang-after", "10s", "--dir", str(folder), "--json",
    ]  # fmt: skip
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _ended(run: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = run.communicate(timeout=3600)
    if run.returncode != 0:
        raise SystemExit(f"the run ended with {run.returncode}:\n{err[-3000:]}")
    answer: dict[str, Any] = json.loads(out)
    return answer


def _killing(
    run: subprocess.Popen[str], folder: Path, kills: int, chance: random.Random
) -> Counter[str]:
    """Kill processes of ``run`` at random until there were ``kills``, or the run has ended."""
    done: Counter[str] = Counter()
    log = folder / "phases.jsonl"
    while run.poll() is None and not (log.exists() and '"first_step"' in log.read_text("utf-8")):
        time.sleep(0.1)
    while sum(done.values()) < kills and run.poll() is None:
        time.sleep(chance.uniform(SMALLEST, LARGEST))
        agents = _children(run.pid)
        below = [child for agent in agents for child in _children(agent)]
        kind, pids = ("agent", agents) if chance.random() < AGENTS else ("worker", below)
        if pids:
            with suppress(ProcessLookupError):
                os.kill(chance.choice(sorted(pids)), signal.SIGKILL)
                done[kind] += 1
    return done


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
    print(f"steps done again      {found['lost_steps']}")
    print(f"back at work          {middle:.2f} s in the middle, {slowest:.2f} s at most")
    print(f"whole run             {found['seconds']:.1f} s, undisturbed {calm['seconds']:.1f} s")
    print(f"unexplained           {found['unexplained_share']:.3%}")
    print(f"load average          {os.getloadavg()[0]:.1f}")
    print(f"weights               {'the same bit for bit' if same else 'DIFFER'}")


if __name__ == "__main__":
    sys.exit(main())
