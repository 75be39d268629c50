"""The rules of recovery.

::

    forming ──Begin──> running ──Pause──> pausing ─┐
       ^                  │ Lost, Left, Stalled    │ all left
       │                  v                        │
       └── all left ── stopping <── Lost ──────────┤
                                                   v
       (any) ── too few, too often in vain, done, preempted ──> ended

``forming``: members are gathered until there are enough. ``running``: an attempt is under way.
``stopping``: it has failed, and everybody is to leave it within ``grace`` or be killed.
``pausing``: everybody finishes one and the same step, to make room for a newcomer or for who goes.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Literal

from artery.cloud.machine import actions, events
from artery.cloud.machine.attempt import Attempt
from artery.cloud.machine.crew import Crew
from artery.cloud.machine.gathering import Gathering
from artery.cloud.machine.meeting import Meeting
from artery.cloud.machine.members import Host, Member, Roster
from artery.cloud.machine.policy import Policy
from artery.cloud.machine.states import States
from artery.cloud.machine.tally import Counts, Tally

Phase = Literal["forming", "running", "pausing", "stopping", "ended"]


class Machine:
    """One job. :meth:`handle` takes the next event and returns what is to be done.

    ``deadline`` is when a ``Tick`` is due (infinite: none). ``saved`` are steps whose states lie in
    the shared store from an earlier run.
    """

    def __init__(self, policy: Policy, saved: tuple[int, ...] = ()) -> None:
        self.policy = policy
        self.phase: Phase = "forming"
        self.deadline = inf
        self.reason = ""
        self._roster = Roster()
        self._states = States(saved)
        self._crew = Crew(self._roster, self._states, policy.spares)
        self._attempt = Attempt()
        self._meeting = Meeting(needed=policy.store, patience=policy.begin)
        self._tally = Tally(saved)
        self._gathering = Gathering(policy)
        self._surmised = False
        self._preempted = ""
        self._saving = False
        self._failed = False

    @property
    def store(self) -> str | None:
        """The host where the store stands, if it stands."""
        return self._meeting.place

    @property
    def world(self) -> tuple[str, ...]:
        """The members of the last attempt, by rank."""
        return self._attempt.world

    @property
    def counts(self) -> Counts:
        """What happened so far."""
        return self._tally.counts

    @property
    def reached(self) -> int:
        """The steps that are done."""
        return self._tally.reached

    def handle(self, event: events.Event) -> tuple[actions.Action, ...]:
        """Return what is to be done after ``event``, in order."""
        if self.phase == "ended":
            return ()
        self._gathering.begun(event.at)
        return tuple(self._handled(event))

    def _handled(self, event: events.Event) -> Iterator[actions.Action]:
        match event:
            case events.HostJoined() | events.HostLeaving() | events.HostLost():
                yield from self._host(event)
            case events.Ready() | events.Lost() | events.Left() | events.Done():
                yield from self._member(event)
            case events.Slow() | events.Retiring():
                yield from self._retire(event)
            case events.Saved(_, step, host):
                self._states.saved(step, host)
                self._tally.came_to(step)
            case events.Torn(_, step, host):
                self._states.torn(step, host)
            case events.StoreReady() | events.StoreLost():
                yield from self._store_event(event)
            case events.Resumed() | events.Stepped() | events.Stalled():
                yield from self._progress(event)
            case events.Preempted(at, reason):
                yield from self._preempt(at, reason)
            case events.Tick(at) if at >= self.deadline:
                yield from self._due(at)

    # Hosts

    def _host(
        self, event: events.HostJoined | events.HostLeaving | events.HostLost
    ) -> Iterator[actions.Action]:
        match event:
            case events.HostJoined(at, name, places):
                if name not in self._roster.hosts:
                    host = Host(name, places)
                    self._roster.add(host)
                    yield from self._crew.stock(host, spares=True)
                    yield from self._need_store(at)
                    yield from self._form(at)
            case events.HostLost(at, name, reason, step):
                self._tally.came_to(step)
                yield from self._host_lost(at, name, reason)
            case events.HostLeaving(at, name):
                yield from self._host_leaving(at, name)

    def _host_lost(self, at: float, name: str, reason: str) -> Iterator[actions.Action]:
        host = self._roster.remove(name)
        if host is None:
            return
        yield actions.Expel(name, reason)
        self._states.host_lost(name)
        self._meeting.host_lost(name)
        gone = [member for member in host.members if self._attempt.loses(member)]
        yield from self._need_store(at)
        if gone:
            yield from self._broken(at, f"host {name}: {reason}")
        else:
            yield from self._form(at)

    def _host_leaving(self, at: float, name: str) -> Iterator[actions.Action]:
        host = self._roster.hosts.get(name)
        if host is None or host.leaving:
            return
        host.leaving = True
        self._roster.recount(host)
        if self._meeting.host_lost(name):
            yield from self._need_store(at)
        if not any(member in self._attempt for member in host.members):
            yield from self._crew.dismiss(name)
        elif self.phase in {"running", "pausing"}:
            # Where nobody stays who has the state in memory, it must be on disk.
            alone = self._attempt.leaving
            if alone or self.phase == "running":
                yield from self._pause(at, save=alone)

    # The store

    def _need_store(self, at: float) -> Iterator[actions.Action]:
        host = self._meeting.wanted(at, self._roster.hosts.values())
        if host is not None:
            yield actions.StartStore(host)

    def _store_event(self, event: events.StoreReady | events.StoreLost) -> Iterator[actions.Action]:
        if isinstance(event, events.StoreReady):
            if self._meeting.ready(event.host):
                yield from self._form(event.at)
            return
        self._meeting.lost()
        yield from self._need_store(event.at)
        if self.phase == "running" and not self._attempt.resumed:  # they were meeting there
            yield from self._broken(event.at, event.reason)

    # Members

    def _member(
        self, event: events.Ready | events.Lost | events.Left | events.Done
    ) -> Iterator[actions.Action]:
        member = self._roster.members.get(event.member)
        if member is None:
            return
        match event:
            case events.Ready(at):
                if member.standing == "starting":
                    member.standing = "idle"
                    self._roster.recount(member.host)
                    yield from self._form(at)
                    self._think_of_growing(at)
            case events.Lost():
                yield from self._lost(event, member)
            case events.Left():
                yield from self._left(event, member)
            case events.Done(at, name, attempt, step):
                if attempt == self.counts.attempts and name in self._attempt:
                    self._tally.came_to(step)
                    if self._attempt.all_done(name):
                        yield from self._end("finished", "all steps are done")

    def _lost(self, event: events.Lost, member: Member) -> Iterator[actions.Action]:
        self._tally.came_to(event.step)
        self._roster.drop(member)
        if not event.gone:
            self.counts.killed += 1
            yield actions.Kill(member.name, event.reason)
        if self._attempt.loses(member.name):
            if self.phase == "stopping" and self._surmised:  # who noticed did not know why
                self.reason, self._surmised = f"{member.name}: {event.reason}", False
            yield from self._broken(event.at, f"{member.name}: {event.reason}")
        else:
            self.reason = self.reason or f"{member.name}: {event.reason}"
            if self._since_start_failed():
                yield from self._end("failed", f"members do not start: {event.reason}")
                return
            yield from self._crew.stock(member.host, spares=self._attempt.stepped)
            yield from self._form(event.at)

    def _since_start_failed(self) -> bool:
        """Whether as many members in a row as attempts are allowed died before they were ready."""
        if self.phase != "forming" or self._roster.usable:
            return False
        self._tally.in_vain += 1
        return self._tally.in_vain > self.policy.fruitless * max(1, self.policy.max_ranks)

    def _left(self, event: events.Left, member: Member) -> Iterator[actions.Action]:
        self._tally.came_to(event.step)
        if event.attempt != self.counts.attempts or not self._attempt.loses(member.name):
            return
        member.standing = "idle"
        self._roster.recount(member.host)
        if self.phase == "running":
            yield from self._broken(event.at, f"{member.name}: {event.reason or 'left'}")
            self._surmised = True
        elif not self._attempt.active:
            yield from self._all_left(event.at)

    def _retire(self, event: events.Slow | events.Retiring) -> Iterator[actions.Action]:
        """Let a member make way for another: one that was told to go, or is slow if asked to."""
        member = self._roster.members.get(event.member)
        if member is None or member.retired:
            return
        if isinstance(event, events.Slow) and not self._replaceable(member):
            return
        member.retired = True
        self._roster.recount(member.host)
        if member.name in self._attempt:
            if self.phase == "running":
                yield from self._pause(event.at, save=False)
        else:
            yield from self._crew.kill(member, "told to go")
            yield from self._crew.stock(member.host, spares=self._attempt.stepped)

    def _replaceable(self, member: Member) -> bool:
        """Whether a slow member has a rank and its host a spare that may have it."""
        steady = self.phase == "running" and self._attempt.stepped
        ranked = member.name in self._attempt
        return self.policy.replace_slow and steady and ranked and member.host.has_spare

    # Attempts

    def _form(self, at: float) -> Iterator[actions.Action]:
        """Begin if there are enough members; say when to look again if not."""
        if self.phase != "forming":
            return
        wait: float | None = min(self._gathering.end, self._meeting.due)
        if self._meeting.stands:
            wait = self._gathering.until(at, self._roster, first=not self.counts.attempts)
            if wait is None and self._states.further_comes(self._roster.hosts):
                wait = self._gathering.patient(at)
        if wait is None:
            yield from self._begin(at)
        else:
            self.deadline = wait

    def _begin(self, at: float) -> Iterator[actions.Action]:
        self._tally.look_back()
        if self._tally.in_vain > self.policy.fruitless:
            why = f"{self._tally.in_vain} attempts in vain; {self.reason}"
            yield from self._end("failed", why)
            return
        step, host = self._states.at_hand(self._roster.hosts)
        chosen = self._roster.seated(min(self._roster.usable, self.policy.max_ranks), host)
        self._attempt = Attempt(chosen, from_memory=host is not None)
        self._tally.attempt(step, failed=self._failed)
        self._failed = False
        self.phase, self.deadline = "running", at + self.policy.begin
        yield actions.Begin(self.counts.attempts, self.world, step, host)

    def _progress(
        self, event: events.Resumed | events.Stepped | events.Stalled
    ) -> Iterator[actions.Action]:
        if event.attempt != self.counts.attempts:
            return
        match event:
            case events.Resumed(_, _, step):
                if not self._attempt.resumed:
                    self._attempt.resumed = True
                    self._tally.goes_on_from(step)
            case events.Stepped(at, _, step):
                self._tally.came_to(step)
                if self.phase == "pausing" and self._preempted:  # now there is a step to be saved
                    self.deadline = max(self.deadline, at + self.policy.pause)
                if self.phase == "running" and not self._attempt.stepped:
                    self._attempt.stepped = True
                    self.deadline, self.reason = inf, ""
                    yield from self._crew.stock_all()
                    self._think_of_growing(at)
                    if self._preempted:  # told while it paused for something else
                        yield from self._pause(at, save=True)
            case events.Stalled(at, _, reason):
                yield from self._broken(at, reason)

    def _broken(self, at: float, reason: str) -> Iterator[actions.Action]:
        """The attempt cannot go on: everybody leaves it."""
        if self.phase in {"running", "pausing"}:
            self.reason, self._surmised = reason, False
            self.phase, self.deadline = "stopping", at + self.policy.grace
            self._failed = True
            if self._attempt.active:
                yield actions.Stop(self.counts.attempts)
            if not self._attempt.resumed and self._meeting.host is not None:  # it may be what hangs
                self._meeting.lost()
                yield from self._need_store(at)
        if self.phase == "stopping" and not self._attempt.active:
            yield from self._all_left(at)

    def _all_left(self, at: float) -> Iterator[actions.Action]:
        """Nobody is in the attempt any more: go, or gather anew."""
        if self._preempted and (self._saving or self.phase == "stopping"):
            unsaved = "" if self.phase == "pausing" else f"; {self.reason}: the last save counts"
            yield from self._end("preempted", self._preempted + unsaved)
            return
        self.phase = "forming"
        self._gathering.begin(at)
        yield from self._crew.change()
        yield from self._need_store(at)
        yield from self._form(at)

    # Room for others

    def _think_of_growing(self, at: float) -> None:
        """Set a time for taking more ranks in, if there are more and they are wanted."""
        if self._can_grow() and self.deadline == inf:
            self.deadline = at + self.policy.settle

    def _can_grow(self) -> bool:
        more = min(self._roster.usable, self.policy.max_ranks) > len(self.world)
        return self.phase == "running" and self._attempt.stepped and self.policy.grow and more

    def _pause(self, at: float, *, save: bool) -> Iterator[actions.Action]:
        self.phase, self.deadline, self._saving = "pausing", at + self.policy.pause, save
        yield actions.Pause(self.counts.attempts, save)

    def _preempt(self, at: float, reason: str) -> Iterator[actions.Action]:
        if self._preempted:
            return
        self._preempted = reason
        if self.phase == "running":
            yield from self._pause(at, save=True)
            if not self._attempt.stepped and not self._attempt.from_memory:  # nothing would be lost
                self.deadline = at + self.policy.grace
        elif self.phase == "forming":
            yield from self._end("preempted", reason)

    # Time

    def _due(self, at: float) -> Iterator[actions.Action]:
        """The deadline of the phase has come."""
        self.deadline = inf
        match self.phase:
            case "forming":
                yield from self._waited(at)
            case "running" if not self._attempt.stepped:
                yield from self._broken(at, "no first step in time")
            case "running" if self._can_grow():
                yield from self._pause(at, save=False)
            case "pausing":
                yield from self._broken(at, "the step was not finished in time")
            case "stopping":
                yield from self._give_up_on_the_rest(at)

    def _waited(self, at: float) -> Iterator[actions.Action]:
        if at >= self._meeting.due:  # it was started and says nothing
            self._meeting.lost()
            yield from self._need_store(at)
        yield from self._form(at)
        why = self._gathering.too_late(at, self._roster)
        if self.phase == "forming" and why:
            yield from self._end("failed", f"{why}; {self.reason}" if self.reason else why)

    def _give_up_on_the_rest(self, at: float) -> Iterator[actions.Action]:
        for member in list(self._attempt.active.values()):
            self.counts.killed += 1
            yield from self._crew.kill(member, "did not leave in time")
        self._attempt.active.clear()
        yield from self._all_left(at)

    def _end(self, outcome: actions.Outcome, reason: str) -> Iterator[actions.Action]:
        self.phase, self.deadline, self.reason = "ended", inf, reason
        yield actions.End(outcome, reason)
