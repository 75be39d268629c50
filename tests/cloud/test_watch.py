"""Who hangs and who lags, told from progress."""

from __future__ import annotations

from artery.cloud.machine.watch import Hung, Lagging, Progress, Watch


def watched(paces: dict[str, float], seconds: float, hang: float = 3.0) -> Watch:
    """Ranks that compute so long per step, and all wait for the slowest; looked at at 10 Hz."""
    watch = Watch(hang=hang, slow=2.0)
    step = max(paces.values())
    for look in range(int(seconds * 10)):
        at = look / 10
        done = int(at / step)
        for name, pace in paces.items():
            meeting = at - done * step >= pace
            computed = done * pace + min(pace, at - done * step)
            watch.observe(at, name, Progress(done, meeting, computed))
    return watch


def test_nobody_hangs_while_somebody_moves() -> None:
    watch = watched({"a": 0.5, "b": 0.5}, 10.0)
    assert watch.hung(10.0) is None
    assert watch.lagging() is None


def test_who_has_not_come_is_to_blame() -> None:
    watch = Watch(hang=3.0, slow=2.0)
    for name in "abc":
        watch.observe(0.0, name, Progress(7, meeting=name != "b", computed=1.0))
    assert watch.hung(2.9) is None
    assert watch.hung(3.0) == Hung(("b",), 3.0)


def test_where_all_wait_it_is_the_network() -> None:
    watch = Watch(hang=3.0, slow=2.0)
    for name in "ab":
        watch.observe(0.0, name, Progress(7, meeting=True, computed=1.0))
    assert watch.hung(4.0) == Hung((), 4.0)


def test_a_rank_alone_that_stands_still_hangs() -> None:
    watch = Watch(hang=3.0, slow=2.0)
    watch.observe(0.0, "a", Progress(7, meeting=False, computed=1.0))
    assert watch.hung(3.5) == Hung(("a",), 3.5)


def test_long_steps_are_given_time() -> None:
    watch = watched({"a": 2.0, "b": 2.0}, 20.0, hang=3.0)
    assert watch.hung(30.0) is None
    assert watch.hung(20.0 + 45.0) is not None


def test_who_computes_twice_as_long_is_named_once() -> None:
    watch = watched({"a": 0.2, "b": 0.5, "c": 0.2}, 10.0)
    found = watch.lagging()
    assert isinstance(found, Lagging)
    assert found.member == "b"
    assert abs(found.factor - 2.5) < 0.3
    assert watch.lagging() is None
