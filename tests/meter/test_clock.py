from __future__ import annotations

import pytest

from artery.meter import clock
from artery.meter.clock import Times, repeated, slowest


class Hands:
    """A clock that moves when somebody works."""

    def __init__(self) -> None:
        self.now = 0.0
        self.log: list[str] = []

    def work(self, name: str, seconds: float) -> None:
        self.log.append(name)
        self.now += seconds

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    made = Hands()
    monkeypatch.setattr(clock, "time", made)
    return made


def test_least_median_most_and_shares() -> None:
    times = Times((5.0, 1.0, 3.0, 2.0))
    assert (times.least, times.median, times.most) == (1.0, 2.5, 5.0)
    assert [times.share(part) for part in (0.0, 0.5, 0.99, 1.0)] == [1.0, 3.0, 5.0, 5.0]


def test_warm_up_and_barriers_do_not_count_and_waits_do(hands: Hands) -> None:
    times = repeated(
        lambda: hands.work("run", 1.0),
        warmup=2,
        repeats=3,
        before=lambda: hands.work("meet", 10.0),
        after=lambda: hands.work("wait", 0.5),
    )
    assert times.seconds == (1.5, 1.5, 1.5)
    assert hands.log == ["meet", "run", "wait"] * 5


def test_no_repeat_is_begun_when_time_is_up_but_one_is_done(hands: Hands) -> None:
    times = repeated(lambda: hands.work("run", 1.0), warmup=0, repeats=100, most=3.5)
    assert len(times.seconds) == 4
    assert len(repeated(lambda: hands.work("run", 9.0), warmup=5, repeats=7, most=1).seconds) == 1


def test_the_slowest_rank_of_each_repeat() -> None:
    assert slowest([[1.0, 5.0], [2.0, 3.0]]).seconds == (2.0, 5.0)
    with pytest.raises(ValueError, match="longer"):
        slowest([[1.0], [2.0, 3.0]])
