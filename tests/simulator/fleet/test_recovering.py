"""The fleet and the recovery state machine do the same about the same events."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from artery.cloud.machine import actions, events
from artery.cloud.machine.machine import Machine
from artery.cloud.machine.policy import Policy
from artery.simulator.fleet.failing import strike
from artery.simulator.fleet.fleet import Fleet
from artery.simulator.fleet.job import Job
from artery.simulator.fleet.recovering import Decision, decide
from tests.simulator.fleet.fleets import Watched, costs, failing, job, setting


@pytest.mark.parametrize(
    ("what", "replaced", "elastic", "nodes", "back"),
    [
        ("process", False, False, "same", True),
        ("node", True, False, "same", True),
        ("node", True, True, "same", True),
        ("node", False, True, "fewer", True),
        ("node", False, False, "none", True),
        ("leaving", True, False, "same", False),
        ("leaving", False, True, "fewer", False),
        ("leaving", False, False, "none", False),
        ("preempted", False, True, "none", False),
        ("joined", False, True, "more", False),
        ("joined", False, False, "none", False),
    ],
)
def test_what_the_machine_decides(
    what: Any, replaced: bool, elastic: bool, nodes: Any, back: bool
) -> None:
    """By its rules: a lost member breaks the attempt, a notice only pauses it."""
    assert decide(what, replaced=replaced, elastic=elastic) == Decision(nodes, back)


STEP = 10.0
"""Seconds of a step; a state is saved every 10 steps."""


class Real:
    """A whole-size machine: one host and one member per node that the job has."""

    def __init__(self, nodes: int, *, elastic: bool) -> None:
        least = 1 if elastic else nodes
        policy = Policy(min_ranks=least, max_ranks=nodes, store=False, start=1e9)
        self.machine, self.now = Machine(policy), 0.0
        self.starting: list[str] = []
        self.attempts: dict[str, int] = {}
        self.world, self.begun = 0, 0
        for node in range(nodes):
            self.tell(events.HostJoined(0.0, f"n{node}", 1))
        self.settle(0.0)

    def lose(self, event: events.HostLost | events.Lost) -> None:
        """A host or member of the attempt is gone, and the attempt with it."""
        self.world = 0
        gone = event.member if isinstance(event, events.Lost) else f"{event.host}."
        self.attempts = {m: of for m, of in self.attempts.items() if not m.startswith(gone)}
        self.tell(event)

    def tell(self, event: events.Event) -> None:
        for action in self.machine.handle(event):
            match action:
                case actions.Start(_, members):
                    self.starting += members
                case actions.Begin(attempt, members, step, _):
                    self.world, self.begun = len(members), step
                    self.attempts = dict.fromkeys(members, attempt)
                    self.tell(events.Resumed(self.now, attempt, step))
                    self.tell(events.Stepped(self.now, attempt, step + 1))
                case actions.Stop(attempt) | actions.Pause(attempt):
                    for member in [m for m, of in self.attempts.items() if of == attempt]:
                        self.tell(events.Left(self.now, member, attempt, self.machine.reached))

    def settle(self, at: float) -> None:
        """Everything started is ready, everything due is done."""
        self.now = max(self.now, at)
        for _ in range(6):
            ready, self.starting = self.starting, []
            for member in ready:
                self.tell(events.Ready(self.now, member))
            if self.machine.deadline > self.now + 1e6:
                return
            self.now = self.machine.deadline
            self.tell(events.Tick(self.now))


@pytest.mark.parametrize("elastic", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_one_list_of_events_ends_in_the_same_worlds_and_steps(seed: int, elastic: bool) -> None:
    """A job on six of eight nodes, two of them spare; what is lost does not come back.

    After each process that dies and each node that is lost the machine begins with as many members
    as the fleet gives the job nodes, from the step that the fleet goes back to; or both wait.
    """
    one = setting(
        8, 8, "elastic" if elastic else "fifo", spares=2, repair=1e9, until=100_000.0,
        costs=lambda _, __: costs(0.0, 10 * STEP),
    )  # fmt: skip
    sizes = tuple(8 * n for n in range(1, 7)) if elastic else (48,)
    watched = Watched(one, [job("a", 0, 1e8, 48, sizes=sizes)])
    real, draw = Real(6, elastic=elastic), Random(seed)
    hosts = {node: f"n{node}" for node in range(6)}
    worlds: list[int] = []

    def hit(fleet: Fleet, now: int, what: Any, _: int) -> None:
        it = fleet.jobs[0]
        if not it.size:
            return
        before = set(_nodes(it))
        steps = round((it.done / 1e6 + (now - it.since) / 1e6) / STEP)
        for saved in range(10 * (real.begun // 10), steps + 1, 10):
            real.tell(events.Saved(now / 1e6, saved))
        node = draw.choice(sorted(before))
        if what == "node" and fleet.cluster.free_nodes:
            real.tell(events.HostJoined(now / 1e6, f"spare{now}", 1))
            real.settle(now / 1e6)
        strike(fleet, failing(1.0, what).classes[0], node, now)
        if what == "node":
            real.lose(events.HostLost(now / 1e6, hosts.pop(node), "failed", step=steps))
        else:
            member = next(m for m in real.attempts if m.rpartition(".")[0] == hosts[node])
            real.lose(events.Lost(now / 1e6, member, "died", step=steps))
        real.settle(now / 1e6)
        for new in set(_nodes(it)) - before:
            hosts[new] = f"spare{now}"
        worlds.append(len(_nodes(it)))
        assert real.world == len(_nodes(it))
        if it.size:
            assert real.begun == round(it.done / 1e6 / STEP)

    for when in sorted(draw.sample(range(20, 9000), 14)):
        watched.fleet.at(round(when * STEP * 1e6), hit, draw.choice(["process", "node", "node"]))
    watched.play()
    assert worlds[0] == 6
    if not elastic:
        assert worlds[-1] == 0
    assert len(set(worlds)) > (3 if elastic else 1)


def _nodes(it: Job) -> list[int]:
    return [node for ids in it.held.leaves.values() for node in ids]
