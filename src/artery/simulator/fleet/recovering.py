"""What a job does after something happened to it, asked of the recovery state machine.

The machine (:mod:`artery.cloud.machine`) is played through one small case of every kind, a member
for a node, and what it does is kept: a fleet with thousands of events a day only looks it up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Final, Literal

from artery.cloud.machine import actions, events
from artery.cloud.machine.machine import Machine
from artery.cloud.machine.policy import Policy

What = Literal["process", "node", "leaving", "preempted", "joined"]
"""A process died; a node is lost; a node was told to go; the job was; a node came."""

Nodes = Literal["same", "fewer", "more", "none"]

NODES: Final = 4
SAVED: Final = 30
REACHED: Final = 37
"""The small case: four nodes, a state saved after step 30, something happens after step 37."""


@dataclass(frozen=True, slots=True)
class Decision:
    """On how many ``nodes`` the job goes on (none: it waits, or is over).

    ``back`` says that it goes back to the last saved state, so that work is lost.
    """

    nodes: Nodes
    back: bool


@cache
def decide(what: What, *, replaced: bool, elastic: bool) -> Decision:
    """Return what the machine does about ``what``.

    ``replaced``: another node is there for the one that goes. ``elastic``: the job may run on
    fewer nodes than it has, and on more.
    """
    more = what == "joined" and elastic
    policy = Policy(
        min_ranks=1 if elastic else NODES,
        max_ranks=NODES + 1 if more else NODES,
        store=False,
        grow=more,
    )
    return _Case(policy).decided(what, replaced)


class _Case:
    """A machine with hosts that do as they are told, at once."""

    def __init__(self, policy: Policy) -> None:
        self.machine = Machine(policy)
        self.now = 0.0
        self.step = 0
        self.begun: list[actions.Begin] = []
        self.over = False
        self.members: dict[str, int] = {}
        self.starting: list[str] = []
        for number in range(NODES):
            self.tell(events.HostJoined(self.now, f"h{number}", 1))
        self.wait()
        self.tell(events.Saved(self.now, SAVED))
        self.step = REACHED

    def decided(self, what: What, replaced: bool) -> Decision:
        """Let it happen, and see what comes of it."""
        last = self.begun[-1].members[-1]
        self.begun = []
        if replaced:
            self.tell(events.HostJoined(self.now, "other", 1))
            self.wait()
        match what:
            case "process":
                self.members.pop(last)
                self.tell(events.Lost(self.now, last, "died", step=self.step))
            case "node":
                self.members.pop(last)
                self.tell(events.HostLost(self.now, f"h{NODES - 1}", "gone", step=self.step))
            case "leaving":
                self.tell(events.HostLeaving(self.now, f"h{NODES - 1}"))
            case "preempted":
                self.tell(events.Preempted(self.now, "told to go"))
            case "joined":
                self.tell(events.HostJoined(self.now, "new", 1))
        self.wait()
        if self.over or not self.begun:
            return Decision("none", what in {"process", "node"})
        count = len(self.begun[-1].members)
        nodes: Nodes = "same" if count == NODES else "fewer" if count < NODES else "more"
        return Decision(nodes, any(begin.step < REACHED for begin in self.begun))

    def tell(self, event: events.Event) -> None:
        """Feed an event, and do what is wanted."""
        self.do(self.machine.handle(event))

    def do(self, wanted: Iterable[actions.Action]) -> None:
        """Do what the machine wants."""
        for action in wanted:
            match action:
                case actions.Start(_, members):
                    self.starting += members
                case actions.Begin(attempt, members, step, _):
                    self.begun.append(action)
                    self.members = dict.fromkeys((*self.members, *members), attempt)
                    self.tell(events.Resumed(self.now, attempt, step))
                    self.tell(events.Stepped(self.now, attempt, step + 1))
                case actions.Stop(attempt) | actions.Pause(attempt):
                    self._leave(attempt, keep=isinstance(action, actions.Pause))
                case actions.End():
                    self.over = True

    def _leave(self, attempt: int, *, keep: bool) -> None:
        """All leave the attempt; what is kept in memory is that of the step reached."""
        for member in [m for m, of in self.members.items() if of == attempt]:
            if keep:
                self.tell(events.Saved(self.now, self.step, member.rpartition(".")[0]))
            self.tell(events.Left(self.now, member, attempt, self.step))

    def wait(self) -> None:
        """Let what was started be ready, and time pass until nothing is due or all is over."""
        for _ in range(10):
            ready, self.starting = self.starting, []
            for member in ready:
                self.members[member] = 0
                self.tell(events.Ready(self.now, member))
            if self.machine.deadline == inf or self.over:
                return
            self.now = self.machine.deadline
            self.tell(events.Tick(self.now))
