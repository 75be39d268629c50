from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from artery.meter import surroundings as module
from artery.meter.surroundings import free_memory, last_level_cache, surroundings


def test_what_is_recorded_is_what_this_machine_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    found = surroundings()
    assert found["host"] == socket.gethostname()
    assert found["cores"] == len(os.sched_getaffinity(0))
    assert found["threads"] == 3
    assert os.uname().release in str(found["kernel"])
    assert isinstance(found["load_average_1min"], float)
    json.dumps(found)


def test_what_is_unknown_is_null(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "_CPU", tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    found = surroundings()
    assert found["governor"] is None
    assert found["threads"] is None
    assert found["last_level_cache_bytes"] is None


def test_free_memory_is_what_linux_says_is_available() -> None:
    told = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    total = int(told["MemTotal"].split()[0]) * 1024
    free = free_memory()
    assert free is not None
    assert 0 < free < total


def test_the_largest_cache_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for index, size in enumerate(("48K", "2048K", "266240K", "no size")):
        folder = tmp_path / f"cache/index{index}"
        folder.mkdir(parents=True)
        (folder / "size").write_text(f"{size}\n")
    monkeypatch.setattr(module, "_CPU", tmp_path)
    assert last_level_cache() == 260 * 2**20
