"""Logs written with known delays: every class of time comes back as it was put in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from artery.cloud.accounting import Account, account
from artery.formats.syntax.stamps import stamp, year
from artery.formats.training.run_spans import Report, program_spans

BEGIN = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)


class Log:
    """A log under way: lines with the time that has passed."""

    def __init__(self) -> None:
        self.now = 0.0
        self.lines: list[str] = []
        self.reports: list[Report] = []

    def say(self, text: str, after: float = 0.0) -> Log:
        self.now += after
        at = BEGIN + timedelta(seconds=self.now)
        self.lines.append(f"[{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}] {text}")
        return self

    def steps(self, first: int, last: int, each: float, extra: float = 0.0) -> Log:
        for number in range(first, last + 1):
            warm = extra if number == first else 0.0
            self.say(f"iteration {number}/ 1000 |", after=each + warm)
            self.reports.append(Report(len(self.lines), number, each + warm))
        return self

    def account(self) -> Account:
        return account(program_spans(self.lines, self.reports))


def test_a_run_under_torchrun_with_one_failure() -> None:
    log = Log().say("[default] Rendezvous'ing worker group")
    log.say("[default] Rendezvous complete for workers. Result:", after=5)
    log.say("[default] Starting worker group").steps(1, 20, 4.0, extra=16)
    log.say("saving checkpoint at iteration 20 to /c").say("successfully saved checkpoint", after=9)
    log.steps(21, 35, 4.0)
    log.say("failed (exitcode: -9) local_rank: 0 (pid: 1) of binary: python", after=15)
    log.say("[default] Worker group FAILED. 3/3 attempts left; will restart worker group")
    log.say("[default] Stopping worker group")
    log.say("[default] Rendezvous'ing worker group", after=30)
    log.say("[default] Rendezvous complete for workers. Result:", after=7)
    log.say("loading checkpoint from /c at iteration 20", after=40)
    log.say("successfully loaded checkpoint from /c", after=55).steps(21, 60, 4.0, extra=12)
    found = log.account()
    assert found.seconds == pytest.approx(
        {
            "rendezvous": 12, "start": 40, "first_step": 16 + 12, "step": 20 * 4 + 40 * 4,
            "redone": 15 * 4, "save": 9, "detect": 15, "teardown": 30, "load": 55,
        },
        rel=0.01,
    )  # fmt: skip
    assert (found.restarts, found.steps, found.redone_steps) == (1, 60, 15)
    assert found.seconds.get("unexplained", 0.0) < 0.01 * found.wall


def test_a_requeued_job_has_no_agent_to_tell() -> None:
    log = Log().say("using world size: 16").steps(1, 10, 2.0)
    log.say("using world size: 16", after=100).say("x", after=20).steps(6, 12, 2.0)
    found = log.account()
    assert found.seconds == pytest.approx(
        {"step": 5 * 2 + 7 * 2, "redone": 10, "reschedule": 100, "start": 20}, abs=0.01
    )
    assert found.restarts == 1


def test_a_time_that_megatron_prints_as_a_timer() -> None:
    log = Log().say("start").steps(1, 5, 1.0)
    log.lines.append("    save-checkpoint ................................: (1000.00, 2500.00)")
    log.now += 2.5
    log.steps(6, 10, 1.0)
    assert log.account().seconds == pytest.approx({"step": 10, "save": 2.5}, abs=0.01)


def test_reports_every_tenth_step() -> None:
    log = Log().say("start")
    for number in (10, 20, 30):
        log.say("r", after=50)
        log.reports.append(Report(len(log.lines), number, 5.0))
    found = log.account()
    assert found.seconds == pytest.approx({"step": 150})


def test_without_any_time_steps_are_laid_end_to_end() -> None:
    reports = [Report(n, n, 0.25) for n in range(1, 9)]
    found = account(program_spans([""] * 8, reports))
    assert found.seconds == pytest.approx({"step": 2.0})


def test_reports_that_say_no_duration_lie_between_their_times() -> None:
    log = Log().say("start")
    for number in (10, 20, 30):
        log.say("r", after=50)
        log.reports.append(Report(len(log.lines), number, None))
    assert log.account().seconds == pytest.approx({"start": 50, "step": 100})


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("[rank0]:2026-03-03 09:00:01,250 x", 1.25),
        ("  time : 2026-03-03_09:00:01", 1.0),
        ("2026-03-03T10:00:01+01:00", 1.0),
        ("2026-03-03T09:00:01Z", 1.0),
        ("I0303 09:00:01.250000 12 torch/x.py:1] y", 1.25),
        ("no time", None),
        ("2026-13-03 09:00:01", None),
    ],
)
def test_stamps(line: str, seconds: float | None) -> None:
    found = stamp(line, 2026)
    assert found == (None if seconds is None else BEGIN.timestamp() + seconds)


def test_a_year_is_borrowed_from_other_lines() -> None:
    assert year("a\n2025-01-01 00:00:00 b") == 2025
    assert year("I0303 09:00:01.250000") == 1970


def test_several_ranks_that_print_the_same_steps_are_one_job() -> None:
    log = Log().say("start")
    for number in range(1, 11):
        log.now += 2.0
        for rank in (0, 1):
            log.say("step")
            log.lines[-1] = f"[rank{rank}]:{log.lines[-1]}"
            log.reports.append(Report(len(log.lines), number, 2.0))
    found = log.account()
    assert found.seconds == pytest.approx({"step": 20})
    assert (found.restarts, found.steps) == (0, 10)


def test_a_year_that_ends_and_an_hour_that_comes_twice() -> None:
    lines = ["I1231 23:59:58.000000 1 a.py:1] x", "I0101 00:00:02.000000 1 a.py:1] y"]
    found = account(program_spans(lines, [Report(2, 1, 4.0)]))
    assert found.seconds == pytest.approx({"step": 4})
    lines = [f"2026-10-25 0{hour}:{minute:02d}:00 x" for hour, minute in
             ((2, 0), (2, 30), (2, 0), (2, 30), (3, 0))]  # fmt: skip
    found = account(program_spans(lines, [Report(n + 1, n, 1800.0) for n in range(1, 5)]))
    assert found.wall == 2 * 3600
    assert found.steps == 4


def test_a_step_that_was_held_up_is_a_stall() -> None:
    log = Log().say("start").steps(1, 50, 3.0).steps(51, 51, 60.0).steps(52, 100, 3.0)
    assert log.account().seconds == pytest.approx({"step": 300, "stall": 57})


def test_killed_while_saving_or_loading() -> None:
    log = Log().say("[default] Rendezvous'ing worker group").say("] Starting worker group")
    log.say("loading checkpoint from /c", after=5)
    log.say("failed (exitcode: -9) local_rank: 0 (pid: 1)", after=70)
    log.say("[default] Rendezvous'ing worker group", after=20).say("] Starting worker group")
    log.steps(1, 9, 2.0).say("saving checkpoint at iteration 9")
    log.say("failed (exitcode: -9) local_rank: 0 (pid: 1)", after=40)
    log.say("[default] Rendezvous'ing worker group", after=20).say("] Starting worker group")
    log.steps(10, 12, 2.0)
    found = log.account()
    assert found.seconds == pytest.approx(
        {"start": 5, "load": 70, "teardown": 40, "step": 24, "save": 40}
    )
    assert found.restarts == 2


def test_a_torn_timer_is_passed_over() -> None:
    log = Log().say("start").steps(1, 2, 1.0)
    log.lines.append("    save-checkpoint ....: (1.2.3, 4.5.6)")
    assert log.account().seconds == pytest.approx({"step": 2})
