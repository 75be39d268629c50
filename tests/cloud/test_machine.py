"""The recovery machine in a simulated run: every job ends, little is lost, nothing is odd."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.cloud.machine import actions, events
from artery.cloud.machine.machine import Machine
from artery.cloud.machine.policy import Policy
from artery.cloud.machine.record import line, opening, played_again
from tests.cloud.simulated_run import Fault, Run

FIXED = Policy(min_ranks=2, max_ranks=2, spares=1)
ELASTIC = Policy(min_ranks=2, max_ranks=6)


def finished(run: Run) -> Run:
    assert run.outcome is not None
    assert run.outcome.outcome == "finished", run.outcome
    assert run.done[-1] == run.steps
    return run


def test_nothing_happens_and_the_job_is_done_once() -> None:
    run = finished(Run(FIXED).play(1))
    assert run.done == list(range(1, 101))
    counts = run.machine.counts
    assert (counts.attempts, counts.restarts, counts.lost_steps) == (1, 0, 0)


def test_a_killed_rank_is_replaced_by_the_spare_and_the_lost_steps_are_done_again() -> None:
    # 2 s start + 0.5 s + 37 steps: killed after step 37, resumed from 30.
    run = finished(Run(FIXED).play(1, ((2.5 + 3.75, "kill", 1),)))
    begins = [a for a in run.wanted if isinstance(a, actions.Begin)]
    assert [(b.members, b.step) for b in begins] == [
        (("h0.0", "h0.1"), 0),
        (("h0.0", "h0.2"), 30),
    ]
    assert run.machine.counts.lost_steps == 7
    assert run.done == [*range(1, 38), *range(31, 101)]
    # The spare's place is filled again, but only once the job steps.
    kinds = [type(a).__name__ for a in run.wanted]
    assert kinds[kinds.index("Stop") :][:3] == ["Stop", "Begin", "Start"]


def test_steps_of_an_earlier_run_whose_states_prove_torn_are_lost() -> None:
    """Saved after 20, 40 and 60 steps by the run before; 60 and 40 are torn, so 40 are lost."""
    machine = Machine(Policy(min_ranks=1, max_ranks=1, store=False), (20, 40, 60))
    assert machine.reached == 60
    started = machine.handle(events.HostJoined(0.0, "h0", 1))
    assert started == (actions.Start("h0", ("h0.0",)),)
    assert machine.handle(events.Ready(1.0, "h0.0")) == (actions.Begin(1, ("h0.0",), 60, None),)
    machine.handle(events.Torn(2.0, 60))
    machine.handle(events.Torn(2.0, 40))
    machine.handle(events.Resumed(3.0, 1, 20))
    assert machine.counts.lost_steps == 40
    assert machine.reached == 20


def test_a_store_that_says_nothing_is_started_again() -> None:
    machine = Machine(Policy(min_ranks=1, max_ranks=1, begin=60.0, start=300.0))
    assert actions.StartStore("h0") in machine.handle(events.HostJoined(0.0, "h0", 1))
    assert machine.handle(events.Ready(1.0, "h0.0")) == ()
    assert machine.deadline == 60.0
    assert machine.handle(events.Tick(60.0)) == (actions.StartStore("h0"),)
    assert machine.deadline == 120.0
    begun = machine.handle(events.StoreReady(61.0, "h0"))
    assert begun == (actions.Begin(1, ("h0.0",), 0, None),)


def test_without_any_store_the_job_is_given_up_in_time() -> None:
    machine = Machine(Policy(min_ranks=1, max_ranks=1, begin=60.0, start=100.0))
    machine.handle(events.HostJoined(0.0, "h0", 1))
    machine.handle(events.Ready(1.0, "h0.0"))
    machine.handle(events.Tick(60.0))
    assert machine.deadline == 100.0
    (end,) = machine.handle(events.Tick(100.0))
    assert end == actions.End("failed", "no store stands")


def test_with_copies_in_memory_nothing_is_lost_between_steps() -> None:
    run = finished(Run(FIXED, copies=True).play(1, ((6.25, "kill", 0),)))
    assert run.machine.counts.lost_steps == 0
    begin = [a for a in run.wanted if isinstance(a, actions.Begin)][-1]
    assert (begin.step, begin.host) == (37, "h0")


def test_the_memory_of_a_lost_host_is_lost_with_it() -> None:
    policy = Policy(min_ranks=2, max_ranks=2)
    run = Run(policy, copies=True, places=2).play(1, ((6.25, "host", 0), (7.0, "join", 2)))
    begin = [a for a in finished(run).wanted if isinstance(a, actions.Begin)][-1]
    assert (begin.step, begin.host) == (30, None)


def test_a_host_joins_and_goes_and_no_step_is_lost() -> None:
    run = finished(Run(ELASTIC, steps=200).play(2, ((5.0, "join", 2), (15.0, "leave", 1))))
    assert run.worlds == [4, 6, 4]
    assert run.machine.counts.lost_steps == 0
    assert run.done == list(range(1, 201))
    assert run.machine.counts.resizes == 2
    assert actions.Dismiss("h1") in run.wanted


def test_a_job_shrinks_to_what_is_left_and_grows_back() -> None:
    run = finished(Run(ELASTIC, steps=200).play(3, ((8.0, "host", 2), (14.0, "join", 2))))
    assert run.worlds == [6, 4, 6]


def test_below_the_least_it_waits_and_then_says_why() -> None:
    run = Run(Policy(min_ranks=4, max_ranks=4, start=30.0)).play(2, ((8.0, "host", 0),))
    assert run.outcome is not None
    assert run.outcome.outcome == "failed"
    assert run.outcome.reason.startswith("2 of at least 4 ranks after 30 s; host h0: killed")


def test_a_hanging_rank_is_killed_once_it_is_named() -> None:
    run = finished(Run(FIXED).play(1, ((6.25, "hang", 1),)))
    assert actions.Kill("h0.1", "hangs") in run.wanted
    assert run.machine.counts.killed == 1


def test_who_does_not_leave_a_broken_attempt_is_killed_after_the_grace() -> None:
    policy = Policy(min_ranks=3, max_ranks=3, spares=2, grace=4.0)
    run = Run(policy, places=3).play(1, ((6.25, "hang", 2), (6.26, "kill", 1)))
    assert actions.Kill("h0.2", "did not leave in time") in finished(run).wanted


def test_preemption_saves_and_ends() -> None:
    run = Run(FIXED).play(1, ((6.27, "preempt", 0),))
    assert run.outcome == actions.End("preempted", "told to go")
    assert run.saved[-1] == run.done[-1] == 38


def test_the_store_is_started_elsewhere_and_a_running_job_goes_on() -> None:
    run = finished(Run(ELASTIC).play(2, ((6.0, "store", 0),)))
    assert run.worlds == [4]
    assert [a for a in run.wanted if isinstance(a, actions.StartStore)] == [
        actions.StartStore("h0"),
        actions.StartStore("h0"),
    ]
    # Lost while they meet: they meet again at the new one.
    assert finished(Run(ELASTIC).play(2, ((2.2, "store", 0),))).worlds == [4, 4]


def test_a_slow_rank_makes_way_for_a_spare_if_asked_to() -> None:
    asked = Policy(min_ranks=2, max_ranks=2, spares=1, replace_slow=True)
    run = finished(Run(asked).play(1, ((6.0, "slow", 0),)))
    assert actions.Kill("h0.0", "it makes way") in run.wanted
    assert run.machine.counts.lost_steps == 0
    assert finished(Run(FIXED).play(1, ((6.0, "slow", 0),))).worlds == [2]


def test_attempts_in_vain_are_counted_and_end_the_job() -> None:
    machine = Machine(Policy(min_ranks=1, max_ranks=1, store=False, fruitless=3))
    acts = list(machine.handle(events.HostJoined(0.0, "h", 1)))
    for at in range(1, 20):
        match acts[-1]:
            case actions.Start(_, (member,)):
                acts += machine.handle(events.Ready(at, member))
            case actions.Begin(_, (member,)):
                acts += machine.handle(events.Lost(at, member, "exit 1"))
    end = acts[-1]
    assert isinstance(end, actions.End)
    assert end.outcome == "failed"
    assert "exit 1" in end.reason
    assert sum(isinstance(a, actions.Begin) for a in acts) == 4


def alone_at(step: int, most: int = 2) -> Machine:
    """Return a job of one rank, on h1, after ``step`` steps: h0 came late and is still starting."""
    machine = Machine(Policy(min_ranks=1, max_ranks=most, store=False, settle=1.0, begin=30.0))
    machine.handle(events.HostJoined(0.0, "h1", 1))
    begun = machine.handle(events.Ready(1.0, "h1.0"))
    assert begun == (actions.Begin(1, ("h1.0",), 0, None),)
    machine.handle(events.Resumed(1.5, 1, 0))
    machine.handle(events.Stepped(1.6, 1, 1))
    machine.handle(events.HostJoined(8.0, "h0", 1))
    machine.handle(events.Saved(9.0, step, "h1"))
    machine.handle(events.Lost(9.0, "h1.0", "killed", step=step))
    return machine


def test_the_host_that_has_the_furthest_state_is_waited_for() -> None:
    """Enough others are ready, but to begin without it would lose all its steps."""
    machine = alone_at(500)
    assert machine.handle(events.Ready(9.5, "h0.0")) == ()
    assert machine.handle(events.Tick(10.5)) == ()
    begun = machine.handle(events.Ready(20.0, "h1.1"))
    assert begun == (actions.Begin(2, ("h1.1", "h0.0"), 500, "h1"),)


def test_one_step_or_a_member_that_never_comes_are_not_waited_for() -> None:
    machine = alone_at(1)
    machine.handle(events.Ready(9.5, "h0.0"))
    assert machine.handle(events.Tick(10.5)) == (actions.Begin(2, ("h0.0",), 0, None),)
    machine = alone_at(500)
    machine.handle(events.Ready(9.5, "h0.0"))
    machine.handle(events.Tick(10.5))
    assert machine.deadline == 39.5
    assert machine.handle(events.Tick(39.5)) == (actions.Begin(2, ("h0.0",), 0, None),)


def test_who_has_the_furthest_state_gets_a_rank_before_others() -> None:
    machine = alone_at(500, most=1)
    machine.handle(events.Ready(9.5, "h0.0"))
    begun = machine.handle(events.Ready(9.6, "h1.1"))
    assert begun == (actions.Begin(2, ("h1.1",), 500, "h1"),)


def tries(starts: list[int], reached: int) -> actions.Action:
    """Return the last of what a job wants that came to ``reached`` steps and lost its host.

    It then goes on from each of ``starts`` in turn, and is lost at once.
    """
    machine = Machine(Policy(min_ranks=1, max_ranks=1, store=False, fruitless=3))
    machine.handle(events.HostJoined(0.0, "h", 1))
    machine.handle(events.Ready(0.0, "h.0"))
    machine.handle(events.Resumed(0.0, 1, 0))
    machine.handle(events.Lost(0.0, "h.0", "killed", step=reached))
    wanted: list[actions.Action] = []
    for number, start in enumerate(starts, 1):
        machine.handle(events.Saved(0.0, start, "h"))
        wanted += machine.handle(events.Ready(0.0, f"h.{number}"))
        machine.handle(events.Resumed(0.0, number + 1, start))
        wanted += machine.handle(events.Lost(0.0, f"h.{number}", "killed", step=start))
    return [one for one in wanted if not isinstance(one, actions.Start)][-1]


def test_a_job_that_was_set_back_and_goes_on_bit_by_bit_is_not_given_up() -> None:
    assert isinstance(tries([*range(10, 100, 10)], 1000), actions.Begin)
    assert isinstance(tries([10, 20, 30, 10, 20, 30, 10, 20, 30], 1000), actions.Begin)
    # It goes round in circles.
    assert isinstance(tries([10, 20, 10, 20, 10, 20, 10, 20, 10, 20], 1000), actions.End)


@pytest.mark.parametrize("leaves", [(6.0,), (6.0, 6.02)], ids=["one of one", "both of two"])
def test_when_all_hosts_are_told_to_go_the_state_is_saved_on_disk(
    leaves: tuple[float, ...],
) -> None:
    hosts = len(leaves)
    faults = [(at, "leave", host) for host, at in enumerate(leaves)]
    run = Run(Policy(min_ranks=2, max_ranks=4)).play(hosts, (*faults, (20.0, "join", 2)))
    assert finished(run).machine.counts.lost_steps == 0
    assert run.done == list(range(1, 101))
    assert [one.save for one in run.wanted if isinstance(one, actions.Pause)][-1]


def test_a_torn_state_is_not_gone_on_from() -> None:
    machine = Machine(Policy(min_ranks=1, max_ranks=1, store=False), saved=(10, 20))
    machine.handle(events.Torn(0.0, 20))
    machine.handle(events.HostJoined(0.0, "h", 1))
    assert machine.handle(events.Ready(1.0, "h.0")) == (actions.Begin(1, ("h.0",), 10, None),)


FAULTS = st.lists(
    st.tuples(
        st.floats(0.0, 60.0),
        st.sampled_from(["kill", "kill", "hang", "store", "host", "join", "leave", "slow"]),
        st.integers(0, 5),
    ),
    max_size=12,
)


@given(FAULTS, st.booleans())
def test_whatever_happens_the_job_ends_and_loses_little(faults: list[Fault], copies: bool) -> None:
    policy = Policy(min_ranks=2, max_ranks=4, spares=1, replace_slow=True, fruitless=30)
    placed = [(at, what, 2 if what == "join" else which) for at, what, which in faults]
    # Whatever was lost, hosts come back in the end.
    back = [(100.0, "join", 2), (101.0, "join", 2)]
    run = finished(Run(policy, copies=copies).play(2, (*placed, *back)))
    counts = run.machine.counts
    interval = run.every  # a host may go with all memory
    assert counts.lost_steps <= counts.restarts * interval
    assert len(run.done) == run.steps + counts.lost_steps
    assert all(2 <= world <= 4 for world in run.worlds)


@given(FAULTS)
def test_the_same_events_give_the_same_actions(faults: list[Fault]) -> None:
    record: list[str] = []

    class Recorded(Machine):
        def handle(self, event: events.Event) -> tuple[actions.Action, ...]:
            wanted = super().handle(event)
            record.extend(line(thing) for thing in (event, *wanted))
            return wanted

    policy = Policy(min_ranks=2, max_ranks=4, spares=1)
    run = Run(policy)
    run.machine = Recorded(policy)
    run.play(2, tuple((at, what, 2 if what == "join" else n) for at, what, n in faults))
    again = list(played_again([opening(policy, ()), *record]))
    assert again
    assert all(recorded == wanted for _, recorded, wanted in again)


def test_a_job_of_12500_nodes_forms_and_replaces_one() -> None:
    nodes = 12_500
    machine = Machine(Policy(min_ranks=nodes, max_ranks=nodes, store=False))
    for number in range(nodes + 1):
        machine.handle(events.HostJoined(0.0, f"n{number}", 1))
    acts: tuple[actions.Action, ...] = ()
    for number in range(nodes):
        acts = machine.handle(events.Ready(1.0, f"n{number}.0"))
    assert isinstance(acts[-1], actions.Begin)
    assert len(acts[-1].members) == nodes
    machine.handle(events.Resumed(2.0, 1, 0))
    machine.handle(events.Ready(2.0, f"n{nodes}.0"))
    assert machine.handle(events.HostLost(3.0, "n7", "power")) == (
        actions.Expel("n7", "power"),
        actions.Stop(1),
    )
    for number in range(nodes):
        if number != 7:
            acts = machine.handle(events.Left(4.0, f"n{number}.0", 1, 0))
    begin = acts[-1]
    assert isinstance(begin, actions.Begin)
    assert begin.members[7] == f"n{nodes}.0"
    assert begin.members[6:9:2] == ("n6.0", "n8.0")


def test_the_first_attempt_waits_for_those_who_are_expected() -> None:
    late = ((4.0, "join", 2),)
    assert Run(ELASTIC).play(1, late).worlds[0] == 2
    expecting = Policy(min_ranks=2, max_ranks=6, first=4, start=20.0)
    assert Run(expecting).play(1, late).worlds[0] == 4
    assert finished(Run(expecting).play(1)).worlds == [2]
