"""The fit of the speed law finds planted numbers; the written result is whole."""

from __future__ import annotations

import numpy as np
import pytest

from accuracy.speed import Scored, Steps, fit, kept, score
from artery.cloud.speed import JobSpeed, Links, Placement

PLANTED = [JobSpeed(0.05, 0.004, 0.3, 0.3), JobSpeed(0.02, 0.01, 0.6, 0.6)]
LINKS = Links(inside=0.15, sharing=0.25)


def _planted(job: str, speed: JobSpeed, noise: float) -> Steps:
    each = [(1,), (2,), (4,), (1, 1), (4, 4), (1, 1, 1), (2, 4), (3, 3, 3), (4, 4, 4, 4)]
    rows = [(len(p), sum(p), max(p), b) for p in each for b in (4, 8, 16, 32)]
    nodes, chips, most, batch = np.array(rows, dtype=np.float64).T
    where = Placement(nodes, chips, most)
    fitted = np.array([len(p) == 1 or p in ((1, 1), (4, 4)) for p in each for _ in range(4)])
    luck = np.random.default_rng(7).normal(0.0, noise, len(rows))
    seconds = speed.step(where, batch, LINKS) * np.exp(luck)
    return Steps(job, where, batch, seconds, fitted)


def test_planted_numbers_come_back() -> None:
    cluster = [_planted(str(i), speed, noise=0.0) for i, speed in enumerate(PLANTED)]
    speeds, links = fit(cluster, alike=False)
    assert links.inside == pytest.approx(0.15, rel=0.05)
    assert links.sharing == pytest.approx(0.25, rel=0.05)
    for found, planted in zip(speeds, PLANTED, strict=True):
        assert found.fixed == pytest.approx(planted.fixed, rel=0.02)
        assert found.exchange == pytest.approx(planted.exchange, rel=0.03)
        assert found.hidden == pytest.approx(planted.hidden, abs=0.03)


def test_noise_of_five_percent_leaves_few_percent_on_rows_not_fitted() -> None:
    cluster = [_planted(str(i), speed, noise=0.05) for i, speed in enumerate(PLANTED)]
    speeds, links = fit(cluster, alike=False)
    for steps, speed in zip(cluster, speeds, strict=True):
        assert score("planted", steps, speed, links).test < 0.06


def test_what_is_written_meets_ten_percent_over_each_cluster() -> None:
    whole: dict[str, Scored] = {each.cluster: each for each in kept() if each.job == "all"}
    assert set(whole) == {"a100", "t4"}
    for cluster, each in whole.items():
        parts = [one for one in kept() if one.cluster == cluster and one.job != "all"]
        assert each.test_rows == sum(one.test_rows for one in parts)
        assert each.test <= 0.10
