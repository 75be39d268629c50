"""What this machine can do: the answer to ``artery doctor``.

It looks, it changes nothing and it needs no rights. Unrelated to ``diagnose``, which is about
measurements of a cluster.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Final, Literal

from artery.meter.surroundings import cores

State = Literal["ok", "missing", "failed"]

_COMPILERS: Final = ("cc", "gcc", "clang")
_OPTIONAL_PACKAGES: Final = ("torch", "mpi4py")
_NETWORK_TOOLS: Final = ("ip", "tc", "ping", "ethtool", "ibstat", "iperf3")
_GPU_QUERY: Final = (
    "nvidia-smi",
    "--query-gpu=name,memory.total,driver_version",
    "--format=csv,noheader",
)
_PATIENCE: Final = 10.0
"""Seconds to wait for one tool; a hung driver must not hang the doctor (assumed)."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at: ``detail`` is what was found, ``needed_for`` what it would allow."""

    group: str
    name: str
    state: State
    detail: str
    needed_for: str = ""


@dataclass(frozen=True, slots=True)
class DoctorAnswer:
    """Everything that was looked at, in order."""

    checks: tuple[Check, ...]


def doctor() -> DoctorAnswer:
    """Return what this machine has: Python, cores, memory, compiler, packages, GPUs, tools."""
    checks = [
        Check("python", "python", "ok", f"{platform.python_version()} ({sys.executable})"),
        Check("python", "artery", "ok", version("artery")),
        _package("numpy", "planning"),
        *(_package(name, "training and measuring") for name in _OPTIONAL_PACKAGES),
        Check("machine", "system", "ok", f"{platform.system()} {platform.machine()}"),
        Check("machine", "cores", "ok", str(cores())),
        _memory(),
        _first_tool("machine", "compiler", _COMPILERS, "the C loops"),
        _loops(),
        _gpus(),
        *(_first_tool("network", tool, (tool,), "network checks") for tool in _NETWORK_TOOLS),
        *_lab(),
    ]
    return DoctorAnswer(tuple(checks))


def _lab() -> list[Check]:
    """Return in which ways ``artery lab`` can make hosts and networks here; each is tried."""
    from artery.runner.lab.modes import modes, taps

    uses = {
        "root": "hosts as namespaces, as root",
        "user": "hosts as namespaces, without root",
        "paced": "a network's rates without namespaces",
    }
    able, detail = taps()
    fabric = [tool for tool in ("ibsim", "opensm", "ibnetdiscover") if shutil.which(tool) is None]
    return [
        *(
            Check("lab", one.mode, "ok" if one.able else "missing", one.detail, uses[one.mode])
            for one in modes()
        ),
        Check("lab", "tap", "ok" if able else "missing", detail, "delay, queues and loss"),
        Check(
            "lab",
            "ib",
            "missing" if fabric else "ok",
            f"not on PATH: {', '.join(fabric)}" if fabric else "ibsim, opensm, ibnetdiscover",
            "an InfiniBand fabric without hardware",
        ),
    ]


def _package(name: str, needed_for: str) -> Check:
    try:
        return Check("python", name, "ok", version(name), needed_for)
    except PackageNotFoundError:
        return Check("python", name, "missing", "not installed", needed_for)


def _loops() -> Check:
    """Return which inner loops are in use; both give the same numbers."""
    from artery.native import core

    found = core()
    state: State = "missing" if found.library is None else "ok"
    return Check("machine", "loops", state, found.detail, "simulations at full speed")


def _memory() -> Check:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return Check("machine", "memory", "failed", "this system does not say")
    from artery.units import show_bytes

    return Check("machine", "memory", "ok", show_bytes(size))


def _first_tool(group: str, name: str, tools: tuple[str, ...], needed_for: str) -> Check:
    """Return the first of ``tools`` found on PATH."""
    for tool in tools:
        path = shutil.which(tool)
        if path is not None:
            return Check(group, name, "ok", path, needed_for)
    return Check(group, name, "missing", "not on PATH", needed_for)


def _gpus() -> Check:
    """Ask nvidia-smi, if it is there, for the GPUs and their driver."""
    needed_for = "measuring chips"
    if shutil.which(_GPU_QUERY[0]) is None:
        return Check("gpu", "gpu", "missing", "no nvidia-smi on PATH", needed_for)
    try:
        done = subprocess.run(
            _GPU_QUERY, capture_output=True, check=True, text=True, timeout=_PATIENCE
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Check("gpu", "gpu", "failed", f"nvidia-smi: {error}", needed_for)
    found = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    if not found:
        return Check("gpu", "gpu", "missing", "nvidia-smi lists none", needed_for)
    return Check("gpu", "gpu", "ok", "; ".join(found), needed_for)
