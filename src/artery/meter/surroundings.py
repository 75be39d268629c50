"""Where something was measured: without it a number can be compared with nothing."""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from artery import units
from artery.errors import InputError

_CPU: Final = Path("/sys/devices/system/cpu/cpu0")
_PACKAGES: Final = ("torch", "mpi4py", "numpy")

Surroundings = Mapping[str, str | int | float | None]


def surroundings() -> Surroundings:
    """Return host, processor, cores, kernel, load, governor, threads and packages; null: unknown.

    ``load_average_1min`` above the number of cores means that others were computing too.
    """
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "host": socket.gethostname(),
        "processor": _processor(),
        "cores": cores(),
        "last_level_cache_bytes": last_level_cache(),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load_average_1min": load,
        "governor": _text(_CPU / "cpufreq/scaling_governor"),
        "threads": _threads(),
        **{package: _version(package) for package in _PACKAGES},
    }


def cores() -> int:
    """Return the cores that this process may use, which in a container are fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def last_level_cache() -> int | None:
    """Return the size of the largest cache of the first core in bytes, as Linux reports it."""
    sizes = []
    for folder in sorted(_CPU.glob("cache/index*")):
        text = _text(folder / "size")
        if text is not None:
            try:
                sizes.append(int(units.size(text)))  # 266240K: binary, as in nccl-tests
            except InputError:
                continue
    return max(sizes, default=None)


def free_memory() -> int | None:
    """Return the bytes that programs may still take without swapping, as Linux reckons them."""
    text = _text(Path("/proc/meminfo")) or ""
    for line in text.splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _threads() -> int | None:
    """Return how many threads an operation may use, from OMP_NUM_THREADS."""
    text = os.environ.get("OMP_NUM_THREADS", "")
    return int(text) if text.isascii() and text.isdigit() else None


def _processor() -> str | None:
    text = _text(Path("/proc/cpuinfo")) or ""
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in {"model name", "Model"}:
            return value.strip()
    return platform.processor() or None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", errors="replace").strip()
    except OSError:
        return None
