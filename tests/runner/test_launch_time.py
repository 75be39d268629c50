"""A run that is not done in its time ends with the exit code of a limit that is broken."""

from __future__ import annotations

import sys

import pytest

from artery.runner.launch import TimeUpError, launched, run_folder


def test_time_that_is_up_is_a_broken_limit() -> None:
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    with run_folder() as folder, pytest.raises(TimeUpError, match="time was up") as error:
        launched(command, 1, folder=folder, timeout=0.5)
    assert error.value.exit_code == 5
