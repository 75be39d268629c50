"""The article's training sample: it hangs as printed, and works once its faults are repaired."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from artery.runner.launch import launched, run_folder

pytestmark = pytest.mark.real

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


def test_as_printed_one_process_waits_and_the_other_fails() -> None:
    environ = {**os.environ, "ARTICLE_PORT": str(free_port()), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(EXAMPLES / "article_sample.py")]
    processes = [
        subprocess.Popen(
            command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    try:
        end = time.monotonic() + 90
        while all(one.poll() is None for one in processes) and time.monotonic() < end:
            time.sleep(0.1)
        failed = [one for one in processes if one.poll() is not None]
        assert len(failed) == 1
        said, why = failed[0].communicate()
        assert failed[0].returncode != 0
        assert said.splitlines() == ["rank 0"]
        assert "EADDRINUSE" in why
        (waiting,) = (one for one in processes if one is not failed[0])
        time.sleep(3)
        assert waiting.poll() is None
    finally:
        for one in processes:
            one.kill()
        rest = [one.communicate()[0] for one in processes if one.stdout and not one.stdout.closed]
    assert [text.splitlines() for text in rest] == [["rank 0"]]


def repaired(*words: str) -> list[str]:
    """Return what rank 0 of two prints."""
    heard: list[str] = []
    script = f"import runpy, sys, os; sys.argv = {['x', *words]!r}; "
    script += "os.environ.update(MASTER_ADDR='127.0.0.1'); "
    script += f"runpy.run_path({str(EXAMPLES / 'article_repaired.py')!r}, run_name='__main__')"
    environ = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "MASTER_PORT": str(free_port())}
    with run_folder() as folder:
        command = [sys.executable, "-c", script]
        launched(command, 2, folder=folder, timeout=120, environ=environ, heard=heard.append)
    return heard


def test_repaired_it_trains_on_samples_that_differ() -> None:
    said = repaired()
    losses = [float(found[1]) for line in said if (found := re.match(r"rank 0 loss (.*)", line))]
    (again,) = (float(line.split()[-1]) for line in said if "rank 0 first batch again" in line)
    assert len(losses) == 6
    assert again < losses[0]
    assert said[-1] == "trained on 192 samples, 192 of them distinct"


def test_without_a_sampler_two_processes_do_the_work_of_one() -> None:
    assert repaired("--no-sampler")[-1] == "trained on 192 samples, 96 of them distinct"
