"""Gets a job done: by processes started here, or by those that a launcher has started already."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from artery.answers.bench.job import Backend, Job, Report
from artery.answers.telling import Heard
from artery.errors import InputError, Problem, RunError
from artery.runner.launch import FOLDER, World, launched, run_folder, started, world

_WORKER: Final = "artery.answers.bench.worker"
_GUARD: Final = "artery.runner.guard"
_LOOPBACK: Final = {"linux": "lo", "darwin": "lo0"}


def require(backend: Backend) -> None:
    """Raise :class:`artery.errors.InputError` that names the extra if ``backend``'s is missing."""
    needs = {"mpi": ("mpi4py", "mpi")}
    package, extra = needs.get(backend, ("torch", "train"))
    if find_spec(package) is None:
        raise InputError(
            Problem(
                found=f"{package} is not installed",
                rule=f"measuring with {'torch' if extra == 'train' else 'MPI'} needs it",
                fix=f"install it: pip install 'artery[{extra}]'",
            )
        )


def stands_among(backend: Backend) -> World | None:
    """Return the world of processes that a launcher has started; ``None`` if this one is alone."""
    here = world()
    return None if here is None or (backend == "mpi" and here.origin == "artery") else here


def stands_behind() -> bool:
    """Return whether a launcher has started this process, and not as the first."""
    here = world()
    return here is not None and here.rank > 0


def reported(
    job: Job, processes: int, here: World | None, heard: Heard | None = None
) -> Report | None:
    """Return the report of ``job``; ``None`` on all but the first process of a launcher.

    Without a launcher (``here`` is ``None``) so many processes are started on this machine, and
    none is left. Raises :class:`artery.errors.RunError` if one of them fails or time is up.
    """
    if here is not None:
        from artery.answers.bench.worker import attend

        return attend(job, here, heard or (lambda _: None))
    with run_folder() as folder:
        if job.on is not None:
            job = replace(job, pace=str(folder / "pace"))
        file = folder / "job.json"
        file.write_text(job.text(), encoding="utf-8")
        command = [sys.executable, "-m", _WORKER, str(file)]
        if job.backend == "mpi":
            _by_mpirun(command, processes, folder, job.timeout, heard)
        else:
            launched(
                command, processes, folder=folder, timeout=job.timeout, heard=heard,
                environ=_surroundings(),
            )  # fmt: skip
        return _report(folder)


def _surroundings() -> dict[str, str]:
    """Return the environment of processes that share this machine: a core and the loopback each.

    What the caller has set stays. gloo otherwise asks for the address of the host's name, which
    a laptop or a container may not have.
    """
    usual = {"OMP_NUM_THREADS": "1"}
    if sys.platform in _LOOPBACK:
        usual["GLOO_SOCKET_IFNAME"] = _LOOPBACK[sys.platform]
    return {name: os.environ.get(name, value) for name, value in usual.items()}


def _report(folder: Path) -> Report:
    from artery.answers.bench.worker import REPORT

    file = folder / REPORT
    if not file.is_file():
        raise RunError("the processes ended without a report; run them again with --debug")
    return Report.of(file.read_text("utf-8"))


def _by_mpirun(
    command: list[str], processes: int, folder: Path, timeout: float, heard: Heard | None
) -> None:
    """Run the copies under mpirun; what Open MPI keeps in files lies in the folder too."""
    mpirun = _mpirun()
    flags = ["-n", str(processes)]
    if _is_open_mpi(mpirun):
        flags += ["--oversubscribe", "--bind-to", "none"]
        flags += ["--allow-run-as-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    environ = {
        **os.environ,
        **_surroundings(),
        FOLDER: str(folder),
        "TMPDIR": str(folder),
        "OMPI_MCA_btl_sm_backing_directory": str(folder),
    }
    guarded = [sys.executable, "-m", _GUARD, mpirun, *flags, *command]
    started([(guarded, environ)], folder=folder, timeout=timeout, heard=heard)


def _mpirun() -> str:
    """Return mpirun: of this Python's environment, where pip puts it, or on PATH."""
    beside = Path(sys.executable).parent / "mpirun"
    found = str(beside) if beside.is_file() else shutil.which("mpirun")
    if found is None:
        rule, fix = "MPI starts its processes with it", "install it: pip install 'artery[mpi]'"
        raise InputError(Problem(found="no mpirun on PATH", rule=rule, fix=fix))
    return found


def _is_open_mpi(mpirun: str) -> bool:
    try:
        done = subprocess.run(
            [mpirun, "--version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return "Open MPI" in done.stdout
