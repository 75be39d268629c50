"""Sizes change while it runs; the consistent mode gives the same bits at any size."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path

import pytest

from tests.runner.conftest import Ran, fleet, policy, run
from tests.runner.hurry import HURRY

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("nothing_left", "in_repository")]


def test_consistent_runs_are_the_same_bit_for_bit_on_one_to_four_ranks(tmp_path: Path) -> None:
    asked = {"consistent": 4, "data": "digits", "steps": 30, "save_every": 10}
    digests = {
        ranks: run(tmp_path / str(ranks), ranks, **asked).result.digest for ranks in (1, 2, 3, 4)
    }
    killed = run(tmp_path / "killed", 3, "kill:rank=2,step=8", "kill:rank=0,step=22", **asked)
    assert killed.faults == 2
    shrunk = run(
        tmp_path / "shrunk", 3, "kill:agent=1,step=15",
        fleet=fleet(agents=3, places=1, replace_agents=False),
        policy=policy(1, 3, first=3, spares=0), **asked,
    )  # fmt: skip
    assert shrunk.result.worlds == (3, 2)
    assert len({*digests.values(), killed.result.digest, shrunk.result.digest}) == 1
    assert None not in digests.values()


def test_a_run_grows_from_two_hosts_to_three_and_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The pace holds it long enough for a third host to import torch and join; then it may hurry.
    monkeypatch.setenv(HURRY, str(tmp_path / "back"))

    def hears(note: str) -> None:
        if "2 ranks go on" in note and "from step 0 " not in note:
            (tmp_path / "back").touch()

    ran = run(
        tmp_path, 2, "join:run,step=5", "term:agent=2,attempt=2,step=20",
        consistent=4, steps=1500, save_every=500, copies=False,
        fleet=fleet(agents=2, places=1), policy=policy(1, 3, first=2, spares=0), hears=hears,
    )  # fmt: skip
    assert (tmp_path / "back").exists()
    assert ran.result.outcome == "finished"
    assert ran.result.worlds == (2, 3, 2)
    assert ran.result.resizes == 2
    assert ran.result.lost_steps == 0
    # The batch of a step is held: each step was done once, in order.
    steps = [row["step"] for row in ran.rows if row["rank"] == 0 and "step" in row["phase"]]
    done = [step for step in steps if step is not None]
    assert all(after - before in (0, 1) for before, after in pairwise(done))
    assert done[-1] == 1500
    assert ran.account.share("unexplained") <= 0.01


def test_a_slow_rank_is_named_and_makes_way_if_asked_to(tmp_path: Path) -> None:
    asked = {"steps": 400, "save_every": 400}
    ran = run(
        tmp_path, 2, "slow:rank=1,step=3,factor=6", policy=policy(2, replace_slow=True), **asked
    )
    # On a busy machine others may seem slow as well, later.
    rank, factor = ran.result.slow[0]
    assert rank == 1
    assert factor > 2.0
    assert ran.result.resizes >= 1
    assert ran.result.lost_steps == 0


def test_a_warm_spare_takes_the_place_and_nobody_has_to_be_started(tmp_path: Path) -> None:
    """A cold restart beside it waits for a new process; the split and the load are printed."""

    def back(*, warm: bool) -> Ran:
        return run(
            tmp_path / f"warm-{warm}", 2, "kill:rank=1,step=33",
            fleet=fleet(warm=warm), policy=policy(2, spares=int(warm), begin=60.0),
        )  # fmt: skip

    cold, warm = back(warm=False), back(warm=True)
    for ran in (cold, warm):
        found = ran.result.recoveries[0]
        print(  # noqa: T201
            f"\nload {os.getloadavg()[0]:.1f}; notice {found.detect:.3f} s, leave "
            f"{found.teardown:.3f} s, gather {found.reform:.3f} s, meet and load "
            f"{found.rejoin:.3f} s, first step {found.first_step:.3f} s"
        )
    assert waited_for(warm) == []
    assert waited_for(cold) == ["h0.2"]


def waited_for(ran: Ran) -> list[str]:
    """Return who was ready only after a member was lost, and before the others went on."""
    lines = (ran.folder / "recovery.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    kinds = [row.get("event") or row.get("action") for row in rows]
    lost = kinds.index("Lost")
    again = kinds.index("Begin", lost)
    return [row["member"] for row in rows[lost:again] if row.get("event") == "Ready"]
