"""The short form of ``make soak``: ten random kills, nothing lost."""

from __future__ import annotations

import pytest

from checks import soak

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("nothing_left", "in_repository")]


def test_ten_random_kills_cost_time_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert soak.main(["--kills", "10", "--seed", "3"]) == 0
    told = capsys.readouterr().out
    assert "the same bit for bit" in told
    print(told)  # noqa: T201
