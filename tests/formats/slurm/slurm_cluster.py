"""A small Slurm cluster of our own on this machine: real daemons on private ports and folders.

Four nodes of two made-up GPUs under two leaves and a spine. Nothing of it outlives the block.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

NODES: Final = 4
GPUS: Final = 2
PATIENCE: Final = 120.0
"""Seconds until nodes must be idle; a quiet machine needs one."""

_CONF: Final = """\
ClusterName=artery
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/log/jobcomp.txt
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=2,batch_sched_delay=0,sched_min_interval=200000
TopologyPlugin=topology/tree
ReturnToService=2
SlurmdTimeout=30
SlurmctldTimeout=30
InactiveLimit=0
KillWait=3
MpiDefault=none
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=2 \
RealMemory=4000 Gres=gpu:{gpus} State=UNKNOWN
PartitionName=main Nodes=n[1-{nodes}] Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""

_TREE: Final = """\
SwitchName=leaf1 Nodes=n[1-2]
SwitchName=leaf2 Nodes=n[3-4]
SwitchName=spine Switches=leaf[1-2]
"""


class Cluster:
    """The running cluster; commands see no other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.topology = folder / "topology.conf"
        self._environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}

    def run(self, *command: str) -> str:
        """Return what a command prints; raises if it fails."""
        done = subprocess.run(
            command, env=self._environment, capture_output=True, text=True, timeout=60, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{command[0]}: {done.stderr.strip()}\n{self.logs()}")
        return done.stdout

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a daemon in the foreground, its output into the log folder."""
        name = Path(command[0]).name
        with (self.folder / "log" / f"{name}.out").open("ab") as log:
            return subprocess.Popen(command, env=self._environment, stdout=log, stderr=log)

    def logs(self) -> str:
        """Return the last lines of the controller's log."""
        file = self.folder / "log" / "slurmctld.log"
        return "\n".join(file.read_text("utf-8").splitlines()[-15:]) if file.exists() else ""

    def wait_idle(self) -> None:
        """Wait until all nodes are idle."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                rows = set(self.run("sinfo", "-h", "-N", "-o", "%N %T").splitlines())
            except RuntimeError:
                rows = set()
            # A node stands once in every partition that has it.
            if rows == {f"n{node} idle" for node in range(1, NODES + 1)}:
                return
            time.sleep(0.3)
        raise TimeoutError(self.logs())


def free(count: int, lowest: int = 17_800) -> int:
    """Return the first of ``count`` ports in a row that nobody listens on, from ``lowest`` up."""
    for first in range(lowest, lowest + 1000, count + 1):
        with ExitStack() as sockets:
            try:
                for port in range(first, first + count):
                    one = sockets.enter_context(socket.socket())
                    one.bind(("127.0.0.1", port))
            except OSError:
                continue
            return first
    raise RuntimeError("no free ports")


def stop(daemon: subprocess.Popen[bytes]) -> None:
    """End one daemon, the hard way if it does not go."""
    daemon.send_signal(signal.SIGTERM)
    try:
        daemon.wait(10)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait(10)


Beside = Callable[[Cluster, ExitStack], None]
"""Starts what the controller needs, once munge is there; the stack gets how it is ended."""


@contextmanager
def cluster(folder: Path, more: str = "", beside: Beside | None = None) -> Iterator[Cluster]:
    """Run a cluster in ``folder`` while the block runs; needs root and the Slurm packages.

    ``more`` are further lines of its configuration.
    """
    for name in ("state", "log", *(f"spool/n{node}" for node in range(1, NODES + 1))):
        (folder / name).mkdir(parents=True)
    port = free(NODES + 1)
    conf = _CONF.format(host=socket.gethostname().partition(".")[0], port=port, folder=folder,
                        nodes=NODES, gpus=GPUS, first=port + 1, last=port + NODES)  # fmt: skip
    (folder / "slurm.conf").write_text(conf + more, "utf-8")
    (folder / "topology.conf").write_text(_TREE, "utf-8")
    cards = [folder / f"gpu{card}" for card in range(GPUS)]
    for card in cards:
        card.touch()
    gres = f"NodeName=n[1-{NODES}] Name=gpu File={folder}/gpu[0-{GPUS - 1}]\n"
    (folder / "gres.conf").write_text(gres, "utf-8")
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    found = Cluster(folder)
    with ExitStack() as daemons:
        for command in _daemons(folder):
            daemon = found.start(*command)
            daemons.callback(stop, daemon)
            if command[0].endswith("munged"):
                wait_for(folder / "munge.sock")
                if beside is not None:
                    beside(found, daemons)
        found.wait_idle()
        yield found


def wait_for(file: Path) -> None:
    until = time.monotonic() + PATIENCE
    while not file.exists():
        if time.monotonic() > until:
            raise TimeoutError(str(file))
        time.sleep(0.05)


def _daemons(folder: Path) -> Iterator[tuple[str, ...]]:
    """Yield the command lines of munged, the controller and one daemon a node."""
    paths = {name: shutil.which(name) or f"/usr/sbin/{name}" for name in
             ("munged", "slurmctld", "slurmd")}  # fmt: skip
    yield (paths["munged"], "--foreground", "--force", f"--socket={folder}/munge.sock",
           f"--key-file={folder}/munge.key", f"--pid-file={folder}/munged.pid",
           f"--log-file={folder}/log/munged.log", f"--seed-file={folder}/munged.seed")  # fmt: skip
    yield (paths["slurmctld"], "-D", "-f", f"{folder}/slurm.conf", "-c")
    for node in range(1, NODES + 1):
        yield (paths["slurmd"], "-D", "-f", f"{folder}/slurm.conf", "-N", f"n{node}")
