"""Real runs in tests: one small task, and proof that nothing is left behind."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from artery.cloud.accounting import Account, account
from artery.cloud.machine.policy import Policy
from artery.cloud.machine.record import played_again
from artery.formats.own.phases import read_rows, spans_of
from artery.runner.settings import Settings
from artery.runner.supervisor.control import Supervisor
from artery.runner.supervisor.fleet import Fleet
from artery.runner.supervisor.lifeline import PREFIX
from artery.runner.supervisor.result import RunResult
from tests.runner.hurry import HURRY

TINY = Settings(
    model="tests.runner.tiny:mlp",
    data="synthetic",
    size=8,
    steps=60,
    save_every=20,
    blocking_save=True,
)


@dataclass
class Ran:
    """A run, what its logs say, and which faults happened."""

    result: RunResult
    account: Account
    rows: list[dict[str, Any]]
    notes: list[str]
    faults: int
    folder: Path

    def assert_the_machine_repeats_itself(self) -> None:
        """Play the recorded events through a new machine: it wants what it wanted."""
        text = (self.folder / "recovery.jsonl").read_text("utf-8")
        again = list(played_again(text.splitlines()))
        assert again
        for event, recorded, wanted in again:
            assert recorded == wanted, event


def policy(least: int, most: int | None = None, **more: Any) -> Policy:
    """Return a policy with the patience of a test."""
    given = {"spares": 1, "grace": 3.0, "begin": 6.0, "start": 240.0, "settle": 1.0, **more}
    return Policy(min_ranks=least, max_ranks=most or least, **given)


def fleet(agents: int = 1, places: int = 2, **more: Any) -> Fleet:
    """Return a fleet with the patience of a test."""
    return Fleet(agents=agents, places=places, **{"hang": 3.0, "beat": 4.0, **more})


Runs = Callable[..., Ran]


def run(folder: Path, ranks: int = 2, *faults: str, **more: Any) -> Ran:
    """Run the small task in ``folder``.

    ``more`` are a policy, a fleet, who hears the notes as well, and fields of Settings.
    """
    hears = more.pop("hears", str)
    asked_policy = more.pop("policy", None) or policy(ranks)
    asked_fleet = more.pop("fleet", None) or fleet(places=ranks)
    settings = replace(TINY, faults=faults, **more)
    notes: list[str] = []

    def note(text: str) -> None:
        notes.append(text)
        hears(text)

    supervisor = Supervisor(settings, asked_fleet, asked_policy, folder, note=note)
    result = supervisor.run()
    rows = read_rows(folder / "phases.jsonl")
    happened = len(list((folder / "faults").glob("*"))) if (folder / "faults").is_dir() else 0
    ran = Ran(result, account(spans_of(rows)), rows, notes, happened, folder)
    ran.assert_the_machine_repeats_itself()
    return ran


def processes() -> set[str]:
    """Return the processes that belong to a run."""
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        ours = "artery.runner.supervisor" in words or "artery.runner.worker" in words
        if ours and (parent in (1, os.getpid()) or str(os.getpid()) in _environ(place)):
            found.add(f"{place.name} {words}")
    return found


def _environ(place: Path) -> list[str]:
    try:
        text = (place / "environ").read_bytes().decode(errors="replace")
    except OSError:
        return []
    return [item.partition("=")[2] for item in text.split("\0") if item.startswith("ARTERY_PARENT")]


def memories() -> set[Path]:
    """Return the folders in memory that belong to a process that is no more."""
    found = set()
    for root in (Path("/dev/shm"), Path(tempfile.gettempdir())):  # noqa: S108
        for place in root.glob(f"{PREFIX}*"):
            owner = place.name.removeprefix(PREFIX).partition("-")[0]
            if not Path(f"/proc/{owner}").exists():
                found.add(place)
    return found


def open_sockets() -> int:
    """Return how many sockets this process has open."""
    count = 0
    for entry in Path("/proc/self/fd").iterdir():
        try:
            count += str(entry.readlink()).startswith("socket:")
        except OSError:
            continue
    return count


@pytest.fixture
def nothing_left(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Fail if a process, a folder in memory, a temporary file or an open socket is left."""
    temporary = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    before = processes(), memories(), open_sockets()
    yield
    assert processes() <= before[0]
    assert memories() <= before[1]
    assert open_sockets() <= before[2]
    # Torch makes its compiler's folder when it is imported, torchrun one for logs: not ours.
    torchs = ("torchinductor_", "torchelastic_")
    left = [one.name for one in temporary.iterdir() if not one.name.startswith(torchs)]
    assert left == []


@pytest.fixture
def in_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have agents find the tests' own model."""
    root = str(Path(__file__).parents[2])
    monkeypatch.chdir(root)
    monkeypatch.setenv("PYTHONPATH", root)


@pytest.fixture
def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as end:
        return int(end.getsockname()[1])


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Return the digest of a run without faults; each kind is run once."""
    known: dict[Any, str] = {}

    def digest(ranks: int = 2, **more: Any) -> str:
        key = ranks, tuple(sorted(more.items()))
        if key not in known:
            patient = fleet(places=ranks, hang=60.0, beat=60.0)
            folder = tmp_path_factory.mktemp("undisturbed")
            with pytest.MonkeyPatch.context() as patched:
                patched.setenv(HURRY, str(folder))
                ran = run(folder, ranks, fleet=patient, policy=policy(ranks, begin=60.0), **more)
            assert ran.result.outcome == "finished"
            assert ran.result.restarts == 0
            assert ran.result.digest is not None
            known[key] = ran.result.digest
        return known[key]

    return digest
