"""The fault matrix: whatever happens, training ends with the weights of an undisturbed run."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from artery.runner.supervisor.control import Supervisor
from artery.runner.supervisor.hosts import Host, Hosts
from tests.runner.conftest import TINY, fleet, policy, run
from tests.runner.hurry import HURRY

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("nothing_left", "in_repository")]

WORKERS = [
    # Killed, at every place of an attempt.
    ("kill:rank=1,step=33",),
    ("kill:rank=0,step=33",),
    ("kill:rank=1,step=1",),
    ("kill:rank=0,phase=rendezvous",),
    ("kill:rank=1,phase=rendezvous,attempt=2,step=20", "kill:rank=0,step=30"),
    ("kill:rank=1,phase=load",),
    ("kill:rank=1,step=27,phase=exchange",),
    ("kill:rank=0,step=40,phase=save",),
    ("kill:rank=0,phase=evaluate",),
    ("kill:spare,step=12",),
    # Two at once; one after the other.
    ("kill:rank=0,step=31", "kill:rank=1,step=31"),
    ("kill:rank=1,step=10", "kill:rank=1,step=30", "kill:rank=0,step=50"),
    # Hung.
    ("stop:rank=0,step=25",),
    ("hang:rank=1,step=25",),
    ("stop:rank=1,phase=rendezvous",),
    # An exception in the user's code, once.
    ("error:rank=1,step=24",),
    # The network of one rank vanishes.
    ("partition:rank=1,step=25",),
    # Told to go: it makes way.
    ("term:rank=0,step=22",),
    # The store where ranks meet.
    ("kill:store,step=5",),
    ("kill:store,step=5", "kill:rank=1,step=30"),
    ("kill:store,phase=rendezvous",),
    ("stop:store,step=5", "kill:rank=1,step=30"),
    # Disks.
    ("disk-full:step=40", "kill:rank=1,step=45"),
    ("torn:step=40,how=truncate", "kill:rank=1,step=45"),
    ("torn:step=40,how=flip", "kill:rank=0,step=45"),
]
"""With two ranks on one host and one warm spare."""

HOSTS = [
    ("kill:agent=1,step=33",),
    ("kill:agent=0,step=33",),  # the one with the store
    ("kill:agent=1,phase=import",),
    ("stop:agent=1,step=33",),
    ("partition:agent=1,step=33",),
    ("term:agent=1,step=33",),
]
"""With two ranks on two hosts; a third stands by for one that is told to go."""


def two_intervals(faults: tuple[str, ...]) -> bool:
    """Whether the newest checkpoint is of no use, so that the one before it counts."""
    return any(fault.startswith(("disk-full", "torn")) for fault in faults)


@pytest.mark.parametrize("faults", WORKERS, ids=" ".join)
def test_a_run_survives_on_one_host(
    faults: tuple[str, ...], tmp_path: Path, undisturbed: Callable[..., str]
) -> None:
    ran = run(tmp_path, 2, *faults)
    assert ran.faults == len(faults)
    assert ran.result.outcome == "finished"
    assert ran.result.steps == 60
    assert ran.result.digest == undisturbed()
    allowed = TINY.save_every * (2 if two_intervals(faults) else 1)
    assert all(each.lost_steps <= allowed for each in ran.result.recoveries)
    assert ran.account.share("unexplained") <= 0.01


@pytest.mark.parametrize("faults", HOSTS, ids=" ".join)
def test_a_run_survives_the_loss_of_a_host(
    faults: tuple[str, ...], tmp_path: Path, undisturbed: Callable[..., str]
) -> None:
    hosts = fleet(agents=3 if faults[0].startswith("term") else 2, places=1)
    ran = run(tmp_path, 2, *faults, fleet=hosts, policy=policy(2, spares=0))
    assert ran.faults == len(faults)
    assert ran.result.outcome == "finished", ran.result.reason
    assert ran.result.digest == undisturbed()
    assert all(each.lost_steps <= TINY.save_every for each in ran.result.recoveries)
    assert ran.account.share("unexplained") <= 0.01


@pytest.mark.parametrize(
    "faults",
    [("kill:rank=0,step=33",), ("stop:rank=1,step=33",), ("partition:rank=1,step=33",)],
    ids=" ".join,
)
def test_with_copies_in_memory_at_most_one_step_is_lost(
    faults: tuple[str, ...], tmp_path: Path, undisturbed: Callable[..., str]
) -> None:
    ran = run(tmp_path, 2, *faults, copies=True, save_every=1000)
    assert ran.result.digest == undisturbed()
    assert ran.result.restarts == 1
    assert ran.result.lost_steps <= 1


def test_who_hangs_alone_goes_on_from_the_copy_that_nobody_told_of(tmp_path: Path) -> None:
    """It is killed, so it says no last word about what lies in its host's memory."""
    ran = run(
        tmp_path, 1, "hang:rank=0,step=33", copies=True, save_every=1000,
        fleet=fleet(places=1, hang=1.0),
    )  # fmt: skip
    assert (ran.result.restarts, ran.result.lost_steps) == (1, 0)
    assert "1 ranks go on from step 32 (the memory of h0)" in ran.notes


def test_a_copy_outlives_its_host_in_the_memory_of_another(
    tmp_path: Path, undisturbed: Callable[..., str]
) -> None:
    ran = run(
        tmp_path, 2, "kill:agent=1,step=33", copies=True, save_every=1000,
        fleet=fleet(agents=2, places=1), policy=policy(2, spares=0),
    )  # fmt: skip
    assert ran.result.digest == undisturbed()
    assert ran.result.lost_steps <= 1


def test_a_memory_that_the_system_clears_away_costs_a_restart(
    tmp_path: Path, undisturbed: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As systemd does with the shared memory of a user who logs out."""
    calm = undisturbed(steps=800, save_every=50)
    accept, known, cleared = Hosts.accept, list[Path](), list[Path]()

    def heard(hosts: Hosts) -> Host | None:
        host = accept(hosts)
        known.extend([host.memory] if host is not None else [])
        return host

    saved_before = Supervisor._worker_saved

    def saved(supervisor: Supervisor, host: Host, member: str, said: dict[str, Any]) -> None:
        saved_before(supervisor, host, member, said)
        while known:  # at the first save, long before the end
            shutil.rmtree(known[-1])
            cleared.append(known.pop())

    def hears(note: str) -> None:
        if "ranks go on" in note and cleared:
            (tmp_path / "again").touch()

    monkeypatch.setenv(HURRY, str(tmp_path / "again"))
    monkeypatch.setattr(Hosts, "accept", heard)
    monkeypatch.setattr(Supervisor, "_worker_saved", saved)
    ran = run(tmp_path, 2, steps=800, save_every=50, hears=hears)
    assert cleared
    assert ran.result.outcome == "finished"
    assert ran.result.restarts == 1
    assert ran.result.digest == calm
