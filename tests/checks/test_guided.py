"""The fuzzer that follows coverage: a short run ends without a failure, and follows coverage."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.real

INPUTS = 1_000
ROOT = Path(__file__).parents[2]


def test_a_thousand_guided_inputs(tmp_path: Path) -> None:
    if find_spec("atheris") is None:
        pytest.skip("no atheris: pip install atheris")
    command = [sys.executable, "-m", "checks.guided", f"--inputs={INPUTS}", f"--found={tmp_path}"]
    ended = subprocess.run(
        [*command, "-seed=1"], cwd=ROOT, capture_output=True, text=True, timeout=900, check=False
    )
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said[-4000:]
    assert not list(tmp_path.iterdir())
    assert f"fuzz: {INPUTS:,} inputs" in said
    assert "failures: 0" in said
    read = [int(count) for count in re.findall(r"^  \S+ +read +(\d+)", said, re.MULTILINE)]
    assert len([count for count in read if count]) > 30, "most readers read some"
    covered = [int(count) for count in re.findall(r"\bcov: (\d+)", said)]
    assert covered[-1] > 4_000, "the readers are instrumented, not the fuzzer alone"
