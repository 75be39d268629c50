"""``sacct`` against a real accounting database: MariaDB, slurmdbd and a cluster of our own."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from artery.formats.reading import Reading
from artery.formats.recognise import read
from tests.formats.slurm.slurm_cluster import Cluster, cluster, free, stop, wait_for

pytestmark = pytest.mark.real

PATIENCE = 120.0
"""Seconds until the database answers."""

DATABASE, KEEPER = shutil.which("mariadbd") or "/usr/sbin/mariadbd", "/usr/sbin/slurmdbd"


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    for program in (DATABASE, KEEPER):
        if not Path(program).exists():
            pytest.skip(f"no {program}: apt-get install slurmdbd mariadb-server-core")
    storage = free(2, 19_000)  # beyond those of the cluster, which are not taken yet
    keeper = storage + 1
    folder = tmp_path_factory.mktemp("slurm") / "kept"
    more = (
        "AccountingStorageType=accounting_storage/slurmdbd\n"
        f"AccountingStorageHost=127.0.0.1\nAccountingStoragePort={keeper}\n"
        f"AccountingStoragePass={folder}/munge.sock\nAccountingStorageTRES=gres/gpu\n"
    )

    def beside(found: Cluster, daemons: ExitStack) -> None:
        _database(found, daemons, storage)
        _keeper(found, daemons, storage, keeper)

    with cluster(folder, more, beside) as found:
        yield found


def _database(found: Cluster, daemons: ExitStack, port: int) -> None:
    """Start an empty MariaDB of our own, in which anybody on this machine may do anything."""
    data = found.folder / "database"
    data.mkdir()
    daemon = found.start(
        DATABASE, "--no-defaults", "--user=root", f"--datadir={data}", f"--port={port}",
        "--bind-address=127.0.0.1", f"--socket={found.folder}/database.sock",
        f"--pid-file={found.folder}/database.pid", "--innodb-buffer-pool-size=64M",
        "--skip-grant-tables",
    )  # fmt: skip
    daemons.callback(stop, daemon)
    wait_for(found.folder / "database.sock")


def _keeper(found: Cluster, daemons: ExitStack, storage: int, port: int) -> None:
    """Start slurmdbd, and add the cluster to its database."""
    conf = found.folder / "slurmdbd.conf"
    conf.write_text(
        f"AuthType=auth/munge\nAuthInfo=socket={found.folder}/munge.sock\nDbdHost=localhost\n"
        f"DbdPort={port}\nSlurmUser=root\nStorageType=accounting_storage/mysql\n"
        f"StorageHost=127.0.0.1\nStoragePort={storage}\nStorageUser=root\nStorageLoc=accounts\n"
        f"LogFile={found.folder}/log/slurmdbd.log\nPidFile={found.folder}/slurmdbd.pid\n",
        encoding="utf-8",
    )
    conf.chmod(0o600)
    daemons.callback(stop, found.start(KEEPER, "-D"))
    until = time.monotonic() + PATIENCE
    added = False
    while not added:
        try:
            found.run("sacctmgr", "-i", "add", "cluster", "artery")
            added = True
        except RuntimeError:
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


@pytest.fixture(scope="module")
def jobs(slurm: Cluster) -> Cluster:
    """One job that ends well, one that fails, and one that is cancelled."""
    slurm.run("srun", "-N4", "-n4", "--gres=gpu:2", "--job-name=pretrain", "hostname")
    for name, ends in (("broken", "exit 3"), ("stopped", "sleep 60")):
        sent = ("sbatch", "--parsable", "-N2", "--gres=gpu:1", "--output=/dev/null")
        number = slurm.run(*sent, f"--job-name={name}", "--wrap", f"hostname; {ends}").strip()
        if name == "stopped":
            _until(slurm, "RUNNING", number)
            slurm.run("scancel", number)
    _until(slurm, "", "")
    until = time.monotonic() + PATIENCE
    while slurm.run("sacct", "-a", "-X", "-n", "-P", "-o", "State").count("\n") < 3 or (
        "RUNNING" in slurm.run("sacct", "-a", "-X", "-n", "-P", "-o", "State")
    ):
        assert time.monotonic() < until, slurm.run("sacct", "-a", "-P")
        time.sleep(0.5)
    return slurm


def _until(slurm: Cluster, state: str, number: str) -> None:
    """Wait until the queue shows that state of the job, or of all jobs if none is named."""
    asked = ("squeue", "-h", "-o", "%T", *(("-j", number) if number else ()))
    until = time.monotonic() + PATIENCE
    while slurm.run(*asked).strip() != state:
        assert time.monotonic() < until, slurm.logs()
        time.sleep(0.3)


def reading(folder: Path, text: str) -> Reading:
    file = folder / "sacct.txt"
    file.write_text(text, "utf-8")
    return read(str(file))


STATES = {"pretrain": "COMPLETED", "broken": "FAILED", "stopped": "CANCELLED"}
FIELDS = "JobID,JobName,State,ExitCode,NNodes,NodeList,AllocTRES,Submit,Start,End,Elapsed"


@pytest.mark.parametrize("form", ["-P", "-p"])
def test_jobs_with_their_gpus_and_steps_are_told_apart(
    form: str, jobs: Cluster, tmp_path: Path
) -> None:
    printed = jobs.run("sacct", "-a", form, f"--format={FIELDS}")
    assert ".0" in printed
    assert ".batch" in printed
    found = reading(tmp_path, printed)
    assert (found.format, found.kind) == ("slurm-sacct", "jobs")
    told = {one["name"]: one for one in found.fields["jobs"]}
    assert set(told) == set(STATES), "steps are no jobs"
    for name, state in STATES.items():
        assert str(told[name]["state"]).startswith(state)
    assert {name: one["gpus"] for name, one in told.items()} == {
        "pretrain": 8, "broken": 2, "stopped": 2,
    }  # fmt: skip


def test_the_usual_columns_are_read(jobs: Cluster, tmp_path: Path) -> None:
    found = reading(tmp_path, jobs.run("sacct", "-a"))
    assert found.format == "slurm-sacct"
    told = {one["name"]: str(one["state"]) for one in found.fields["jobs"]}
    assert set(told) == set(STATES)
    for name, state in STATES.items():
        assert told[name].startswith(state)
