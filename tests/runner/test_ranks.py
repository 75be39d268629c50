"""A process with gloo's threads in it ends with its own exit code.

In each of these processes, one rank alone, a thread of gloo is inside a Python function when the
main thread is done. The interpreter's end would stop that thread when it comes back, and the
process with it, by SIGABRT or SIGSEGV: so it goes without :mod:`artery.runner.ranks`, in all three.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.real

SRC = Path(__file__).parents[2] / "src"

BEGUN = """
import sys, threading, time
import torch
import torch.distributed as dist
from artery.runner.ranks import end, gather

inside = threading.Event()

def called_back(_):
    if threading.current_thread() is not threading.main_thread():
        inside.set()
        time.sleep(2.0)
        print("came back", flush=True)

def begun():
    gather("gloo", init_method=sys.argv[1], rank=0, world_size=1)
    layer = torch.nn.Linear(2, 2)
    layer(torch.ones(2)).sum().backward()
    torch.optim.SGD(layer.parameters()).step()  # imports more of torch
    while not inside.is_set():  # what is done already calls back in this thread
        work = dist.all_reduce(torch.ones(2**20), async_op=True)
        work.get_future().add_done_callback(called_back)
        inside.wait(0.1)
    return work
"""


def ended(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BEGUN + code, (folder / "store").as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


def test_the_threads_end_with_the_group_although_an_optimizer_has_run(tmp_path: Path) -> None:
    done = ended("begun()\ndist.destroy_process_group()", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "came back" in done.stdout


def test_a_process_ends_with_its_code_although_somebody_holds_the_group(tmp_path: Path) -> None:
    code = "def part():\n    global held\n    held = begun()\n    return 7\nend(part)"
    done = ended(code, tmp_path)
    assert (done.returncode, done.stderr) == (7, "")


def test_an_error_is_told_with_its_traceback_while_an_exchange_is_pending(tmp_path: Path) -> None:
    code = "def part():\n    work = begun()\n    raise ValueError('the disk is on fire')\nend(part)"
    done = ended(code, tmp_path)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert done.stderr.endswith("ValueError: the disk is on fire\n")


def test_the_group_is_made_in_one_place() -> None:
    files = [
        file
        for file in SRC.rglob("*.py")
        if re.search(r"\binit_process_group\(", file.read_text("utf-8"))
    ]
    assert [file.relative_to(SRC).as_posix() for file in files] == ["artery/runner/ranks.py"]
