"""``doctor`` looks at the machine; what it says is compared with how the machine is made."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from artery.answers import doctor as room
from artery.answers.doctor import Check, doctor

Install = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return a function that puts one tool, a shell script, on an otherwise empty PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def put(name: str, script: str) -> None:
        tool = tmp_path / name
        tool.write_text(f"#!/bin/sh\n{script}\n")
        tool.chmod(0o755)

    return put


def found(name: str) -> Check:
    return next(check for check in doctor().checks if check.name == name)


def test_python_and_cores_are_this_machines() -> None:
    assert found("python").detail.startswith(platform.python_version())
    assert found("cores").detail == str(len(os.sched_getaffinity(0)))
    assert found("memory").state == "ok"


def test_nothing_on_the_path_is_missing_and_says_what_for(install: Install) -> None:
    assert (found("compiler").state, found("ethtool").state) == ("missing", "missing")
    assert found("gpu").detail == "no nvidia-smi on PATH"
    assert found("compiler").needed_for == "the C loops"


def test_the_twins_are_named_where_they_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARTERY_NATIVE", "0")
    assert found("loops").state == "missing"
    assert found("loops").detail == "Python twins, as ARTERY_NATIVE=0 asks"


def test_a_tool_on_the_path_is_found(install: Install, tmp_path: Path) -> None:
    install("gcc", "exit 0")
    assert found("compiler") == Check(
        "machine", "compiler", "ok", str(tmp_path / "gcc"), "the C loops"
    )


def test_gpus_are_listed_as_the_driver_says(install: Install) -> None:
    install(
        "nvidia-smi", "echo 'NVIDIA H200, 143771 MiB, 570.1'; echo 'NVIDIA H200, 143771 MiB, 570.1'"
    )
    assert found("gpu").detail.count("NVIDIA H200") == 2
    assert found("gpu").state == "ok"


def test_a_driver_without_gpus_is_missing(install: Install) -> None:
    install("nvidia-smi", "exit 0")
    assert (found("gpu").state, found("gpu").detail) == ("missing", "nvidia-smi lists none")


def test_a_broken_driver_is_a_failure_not_a_crash(install: Install) -> None:
    install("nvidia-smi", "exit 9")
    assert found("gpu").state == "failed"


def test_a_hung_driver_does_not_hang_the_doctor(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("nvidia-smi", "exit 0")

    def hang(command: tuple[str, ...], *, timeout: float, **_: object) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", hang)
    assert found("gpu").state == "failed"


def test_a_missing_package_says_what_it_is_needed_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "_OPTIONAL_PACKAGES", ("no-such-package",))
    assert found("no-such-package") == Check(
        "python", "no-such-package", "missing", "not installed", "training and measuring"
    )


def test_ways_to_make_a_lab_are_tried_and_said(install: Install) -> None:
    assert found("root").detail == "not on PATH: unshare, nsenter, ip, tc"
    assert found("user").state == "missing"
    assert found("paced").state == "ok"
    assert found("ib").detail == "not on PATH: ibsim, opensm, ibnetdiscover"


def test_a_refused_user_namespace_is_said_in_the_kernels_words(install: Install) -> None:
    for tool in ("nsenter", "ip", "tc"):
        install(tool, "exit 0")
    install("unshare", "echo 'unshare: unshare failed: Operation not permitted' >&2; exit 1")
    assert found("user") == Check(
        "lab",
        "user",
        "missing",
        "unshare: unshare failed: Operation not permitted",
        "hosts as namespaces, without root",
    )
