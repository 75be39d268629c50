"""A driver of the recovery machine with a clock of its own: no processes, no waiting.

Members start in 2 s, come back to a state in 0.5 s and step every 0.1 s. Faults are given as
(time, what, which): ``kill`` and ``hang`` take the rank, ``host`` the number of the host in the
order of arrival, ``join`` and ``leave`` hosts, ``store`` and ``preempt`` nothing.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import inf

from artery.cloud.machine import actions, events
from artery.cloud.machine.machine import Machine
from artery.cloud.machine.policy import Policy

STEP = 0.1
Fault = tuple[float, str, int]


@dataclass
class Run:
    """One simulated job of ``steps`` steps, saved every ``every`` steps, in memory every step."""

    policy: Policy
    steps: int = 100
    every: int = 10
    copies: bool = False
    places: int = 2
    machine: Machine = field(init=False)
    outcome: actions.End | None = None
    saved: list[int] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    worlds: list[int] = field(default_factory=list)
    wanted: list[actions.Action] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.machine = Machine(self.policy)
        self._agenda: list[tuple[float, int, Callable[[float], None]]] = []
        self._count = 0
        self._alive: dict[str, set[str]] = {}
        self._host_of: dict[str, str] = {}
        self._hung: set[str] = set()
        self._attempt = 0
        self._world: tuple[str, ...] = ()
        self._at_step = 0
        self._pausing: actions.Pause | None = None
        self.hosts: list[str] = []

    def play(self, hosts: int, faults: tuple[Fault, ...] = (), until: float = 3000.0) -> Run:
        """Run to the end; ``outcome`` stays empty if there is none before ``until``."""
        for _ in range(hosts):
            self._later(0.0, partial(self._do_join, self.places))
        for at, what, which in faults:
            self._later(at, partial(getattr(self, f"_do_{what}"), which))
        while self.outcome is None and (self._agenda or self.machine.deadline < inf):
            at = self._agenda[0][0] if self._agenda else inf
            if self.machine.deadline <= at:
                now = self.machine.deadline
                self._feed(events.Tick(now))
            else:
                now, _, call = heapq.heappop(self._agenda)
                call(now)
            if now > until:
                break
        return self

    def _later(self, at: float, call: Callable[[float], None]) -> None:
        self._count += 1
        heapq.heappush(self._agenda, (at, self._count, call))

    def _feed(self, event: events.Event) -> None:
        for action in self.machine.handle(event):
            self.wanted.append(action)
            self._carry_out(event.at, action)

    def _carry_out(self, at: float, action: actions.Action) -> None:
        match action:
            case actions.Start(host, members):
                for member in members:
                    self._later(at + 2.0, partial(self._ready, host, member))
            case actions.StartStore(host):
                self._later(at + 0.5, partial(self._store_ready, host))
            case actions.Begin():
                self._begin(at, action)
            case actions.Pause():
                self._pausing = action
            case actions.Stop():
                self._stop(at, action)
            case actions.Kill(member):
                self._remove(member)
            case actions.Expel(host) | actions.Dismiss(host):
                assert not [
                    m
                    for m in self._world
                    if self._host_of[m] == host and isinstance(action, actions.Dismiss)
                ]
                self._alive.pop(host, None)
            case actions.End():
                self.outcome = action

    def _begin(self, at: float, begin: actions.Begin) -> None:
        assert all(self._present(m) for m in begin.members), "a rank for one who is not there"
        assert len(set(begin.members)) == len(begin.members)
        assert begin.step == 0 or begin.host is not None or begin.step in self.saved
        self._attempt, self._world, self._pausing = begin.attempt, begin.members, None
        self.worlds.append(len(begin.members))
        self._later(at + 0.5, partial(self._resume, begin.attempt, begin.step))

    def _stop(self, at: float, stop: actions.Stop) -> None:
        for member in self._world:
            if self._present(member) and member not in self._hung:
                self._later(at + 0.01, partial(self._leave_one, stop.attempt, member))
        self._world = ()

    def _present(self, member: str) -> bool:
        return member in self._alive.get(self._host_of.get(member, ""), ())

    def _remove(self, member: str) -> None:
        self._alive.get(self._host_of.get(member, ""), set()).discard(member)

    def _do_join(self, places: int, at: float) -> None:
        host = f"h{len(self.hosts)}"
        self.hosts.append(host)
        self._alive[host] = set()
        self._feed(events.HostJoined(at, host, places))

    def _ready(self, host: str, member: str, at: float) -> None:
        if host in self._alive:
            self._alive[host].add(member)
            self._host_of[member] = host
            self._feed(events.Ready(at, member))

    def _store_ready(self, host: str, at: float) -> None:
        if host in self._alive:
            self._feed(events.StoreReady(at, host))

    def _resume(self, attempt: int, step: int, at: float) -> None:
        if attempt == self._attempt and self._world:
            self._at_step = step
            self._feed(events.Resumed(at, attempt, step))
            self._later(at + STEP, partial(self._step, attempt))

    def _step(self, attempt: int, at: float) -> None:
        if attempt != self._attempt or not self._world:
            return
        stuck = [m for m in self._world if m in self._hung or not self._present(m)]
        if stuck:
            self._later(at + 5.0, partial(self._notice, stuck[0], attempt))
            return
        self._at_step += 1
        self.done.append(self._at_step)
        if self._at_step % self.every == 0:
            self._save(at, None)
        if self.copies or self._pausing:
            for host in {self._host_of[m] for m in self._world}:
                self._save(at, host)
        self._feed(events.Stepped(at, self._attempt, self._at_step))
        if self._at_step >= self.steps:
            for member in self._world:
                self._feed(events.Done(at, member, self._attempt, self._at_step))
        elif self._pausing:
            self._leave(at)
        else:
            self._later(at + STEP, partial(self._step, attempt))

    def _leave(self, at: float) -> None:
        if self._pausing and self._pausing.save:
            self._save(at, None)
        world, self._world = self._world, ()
        for member in world:
            self._feed(events.Left(at, member, self._attempt, self._at_step))

    def _save(self, at: float, host: str | None) -> None:
        if host is None:
            self.saved.append(self._at_step)
        self._feed(events.Saved(at, self._at_step, host))

    def _notice(self, member: str, attempt: int, at: float) -> None:
        if attempt == self._attempt and self._world:
            self._feed(events.Lost(at, member, "hangs", gone=False, step=self._at_step))

    def _leave_one(self, attempt: int, member: str, at: float) -> None:
        if self._present(member):
            self._feed(events.Left(at, member, attempt, self._at_step))

    def _do_kill(self, rank: int, at: float) -> None:
        if self._world:
            member = self._world[rank % len(self._world)]
            self._remove(member)
            self._feed(events.Lost(at, member, "killed", step=self._at_step))

    def _do_hang(self, rank: int, _: float) -> None:
        if self._world:
            self._hung.add(self._world[rank % len(self._world)])

    def _do_slow(self, rank: int, at: float) -> None:
        if self._world:
            self._feed(events.Slow(at, self._world[rank % len(self._world)], 3.0))

    def _do_host(self, which: int, at: float) -> None:
        host = self.hosts[which % len(self.hosts)]
        if self._alive.pop(host, None) is not None:
            self._feed(events.HostLost(at, host, "killed"))

    def _do_leave(self, which: int, at: float) -> None:
        self._feed(events.HostLeaving(at, self.hosts[which % len(self.hosts)]))

    def _do_store(self, _: int, at: float) -> None:
        self._feed(events.StoreLost(at, "killed"))

    def _do_preempt(self, _: int, at: float) -> None:
        self._feed(events.Preempted(at, "told to go"))
