"""The record of a run tells which steps were done again, and whether that could be avoided."""

from __future__ import annotations

from artery.cloud.machine import actions, events
from artery.cloud.machine.record import line
from checks.set_backs import SetBack, set_backs


def told(*things: events.Event | actions.Action) -> list[SetBack]:
    return list(set_backs(line(thing) for thing in things))


FIRST = (
    events.HostJoined(0.0, "h0", 1),
    events.HostJoined(0.0, "h1", 1),
    actions.Begin(1, ("h0.0", "h1.0"), 0, None),
    events.Resumed(1.0, 1, 0),
    events.Resumed(1.0, 1, 0),
    events.Stepped(1.1, 1, 1),
    events.Lost(2.0, "h0.0", "killed", step=50),
    events.Saved(2.0, 50, "h0"),
)


def test_steps_that_a_host_still_has_could_have_been_kept() -> None:
    (found,) = told(*FIRST, actions.Begin(2, ("h1.0",), 20, "h1"), events.Resumed(3.0, 2, 20))
    assert found == SetBack(2, 30, ("h0", "h1"), (), 30)
    assert "30 of them lay in the memory of a host that was left" in str(found)


def test_steps_that_went_with_the_last_host_could_not() -> None:
    begun = actions.Begin(2, ("h1.0",), 20, None)
    gone = events.HostLost(2.5, "h0", "its agent is gone")
    (found,) = told(*FIRST, gone, begun, events.Resumed(3.0, 2, 20))
    assert found == SetBack(2, 30, ("h0", "h1"), ("h0",), 0)


def test_who_goes_on_where_it_was_is_not_set_back() -> None:
    begun = actions.Begin(2, ("h0.1", "h1.0"), 50, "h0")
    later = events.Lost(4.0, "h0.1", "killed", step=51)
    again = actions.Begin(3, ("h0.2", "h1.0"), 50, "h0"), events.Resumed(5.0, 3, 50)
    found = told(*FIRST, begun, events.Resumed(3.0, 2, 50), later, *again)
    assert [(one.attempt, one.steps, one.avoidable) for one in found] == [(3, 1, 0)]
