"""The supervisor: feeds what happens to the recovery machine, and does what it says."""

from __future__ import annotations

import os
import secrets
import selectors
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final

from artery.cloud.machine import actions, events
from artery.cloud.machine.machine import Machine
from artery.cloud.machine.policy import Policy
from artery.cloud.machine.record import line, opening
from artery.cloud.machine.watch import Watch
from artery.errors import InputError, Problem
from artery.runner.checkpoint.folder import Folder
from artery.runner.faults import read_faults
from artery.runner.phases import PhaseLog
from artery.runner.settings import Settings
from artery.runner.supervisor.drills import drill
from artery.runner.supervisor.fleet import UNBORN, Fleet
from artery.runner.supervisor.home import described
from artery.runner.supervisor.hosts import Host, Hosts
from artery.runner.supervisor.journal import Journal
from artery.runner.supervisor.orders import Orders
from artery.runner.supervisor.repeats import Repeats
from artery.runner.supervisor.result import RunResult
from artery.runner.supervisor.signals import Told
from artery.runner.supervisor.story import Story
from artery.runner.supervisor.watching import Attempt
from artery.runner.worker.link import PEER
from artery.runner.worker.progress import Mark

LOOK: Final = 0.1
"""Seconds between two looks at progress (assumed)."""

LATELY: Final = 1.0
"""Seconds after which a silent host's members are not judged any more (assumed)."""


class Supervisor:
    """One run, in the folder ``run``.

    ``note`` is called with what a person should know, ``progress`` with the steps done. ``began``
    is when it began (seconds since 1970).

    What happened and what was done about it is recorded in ``recovery.jsonl`` there.
    """

    def __init__(
        self,
        settings: Settings,
        fleet: Fleet,
        policy: Policy,
        run: Path,
        *,
        note: Callable[[str], None] = lambda _: None,
        progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._settings, self._fleet, self._policy, self._run = settings, fleet, policy, run
        self._faults = {fault.index: fault for fault in read_faults(settings.faults)}
        self._note, self._progress = note, progress
        self._start, self.began = time.monotonic(), time.time()
        self._warnings: list[str] = []
        described(run, settings)
        known = Folder(run / "checkpoints", settings.keep).steps()
        self._saved = tuple(step for step in known if step <= settings.steps)
        self.machine = Machine(policy, self._saved)
        self.token = os.environ.get("ARTERY_TOKEN") or secrets.token_hex(16)
        self.hosts = Hosts(fleet.listen, self.token)
        self._selector = selectors.DefaultSelector()
        self._told = Told()
        self._log = PhaseLog(run / "phases.jsonl", warn=self._warned)
        self._story = Story(self._log, self.machine)
        self._record = Journal(run / "recovery.jsonl", self._warned)
        self._orders = Orders(self.hosts, forget=self._forget, note=note)
        self._unborn = [0, 0]
        self._leaving: set[str] = set()
        self._slow: dict[int, float] = {}
        self._last: dict[str, Any] = {}
        self._repeats = Repeats()
        self._frames = ""
        self._diverged = False
        self._wanted, self._joined = fleet.agents, 0
        self._invited = 0

    def run(self) -> RunResult:
        """Run to the end, whatever it is; nothing is left running."""
        with ExitStack() as closing:
            closing.callback(self._record.close)
            closing.callback(self._log.close)
            closing.callback(self._told.close)
            closing.callback(self._selector.close)
            closing.callback(self._end_all)
            closing.enter_context(self._told.listening(self._fleet.signals))
            self._record.write([opening(self._policy, self._saved)])
            self._selector.register(self.hosts, selectors.EVENT_READ, self.hosts)
            self._selector.register(self._told, selectors.EVENT_READ, self._told)
            for _ in range(self._fleet.agents):
                self.hosts.start(self._fleet.places)
            while self._orders.end is None:
                self._turn()
        return self._result(self._orders.end)

    def _end_all(self) -> None:
        with self._story.finishing():
            self.hosts.end()

    @property
    def _attempt(self) -> Attempt:
        return self._orders.attempt

    def _now(self) -> float:
        return time.monotonic() - self._start

    # What happens

    def _turn(self) -> None:
        """Wait for whatever happens next, and let the machine know."""
        due = self.machine.deadline - self._now()
        for key, _ in self._selector.select(max(0.0, min(LOOK, due))):
            if key.data is self.hosts:
                self._welcome(self.hosts.accept())
            elif isinstance(key.data, Host):
                self._listen(key.data)
            else:
                self._told.quiet()
        for number in self._told.numbers:
            self._feed(events.Preempted(self._now(), signal.Signals(number).name))
        self._look()
        if self.machine.deadline <= self._now():
            self._feed(events.Tick(self._now()))

    def _feed(self, event: events.Event) -> None:
        """Let the machine know, and do what it says."""
        if self._orders.end is not None:
            return
        with self._story.told(event):
            wanted = self.machine.handle(event)
        self._record.write(line(thing) for thing in (event, *wanted))
        for action in wanted:
            self._orders.carry_out(action, self.machine.store)

    def _look(self) -> None:
        """Look for who is silent, and who does not go on."""
        for host in list(self.hosts.by_name.values()):
            if host.joined and time.monotonic() - host.heard > self._fleet.beat:
                self._host_gone(host, f"silent for {self._fleet.beat:g} s")
            elif not host.joined and time.monotonic() - host.heard > self._fleet.join:
                self._note(f"host {host.name} has not joined within {self._fleet.join:g} s")
                self._host_gone(host, "it has not joined")
        for _ in range(self.hosts.end_mute(self._fleet.join)):
            self._note(f"an agent has not called within {self._fleet.join:g} s")
            self._unborn[0] += 1
            self._another_agent()
        for code in self.hosts.lost_before_joining():
            self._unborn[code < 0] += 1
            self._another_agent()
        if self.machine.phase in {"running", "pausing"}:
            for event, words in self._attempt.verdicts(self._now(), heard=self._all_heard()):
                self._warn(event, words)
                self._feed(event)

    def _all_heard(self) -> bool:
        """Whether all hosts told lately how far their members are."""
        names = {member.rpartition(".")[0] for member in self._attempt.members}
        hosts = [self.hosts.by_name[name] for name in names if name in self.hosts.by_name]
        return all(time.monotonic() - host.heard < LATELY for host in hosts)

    def _warn(self, event: events.Event, words: str) -> None:
        self._note(words)
        if isinstance(event, events.Slow):
            self._warnings.append(words)
            self._slow[self._attempt.members.index(event.member)] = event.factor

    # Hosts

    def _welcome(self, host: Host | None) -> None:
        if host is None:
            return
        self._selector.register(host.channel, selectors.EVENT_READ, host)
        host.channel.send(
            "welcome",
            name=host.name,
            settings=self._settings.document(),
            run=str(self._run),
            warm=self._fleet.warm,
        )

    def _listen(self, host: Host) -> None:
        """Hear what an agent says; its silence for good is the loss of the host."""
        for message in host.channel.receive():
            host.heard = time.monotonic()
            if message["kind"] == "worker":
                what, member = message.pop("what"), message.pop("member")
                getattr(self, f"_worker_{what}")(host, member, message)
            else:
                getattr(self, f"_host_{message['kind']}")(host, message)
        if not host.channel.open and host.name in self.hosts.by_name:
            self._host_gone(host, "its agent is gone")

    def _host_gone(self, host: Host, reason: str) -> None:
        self._forget(host)
        if host.joined:
            if host.name not in self._leaving:
                self._note(f"host {host.name} is lost: {reason}")
            step = self._attempt.furthest(host)
            self._feed(events.HostLost(self._now(), host.name, reason, step))
        else:
            self._unborn[self.hosts.ended_with(host) < 0] += 1
        self.hosts.expel(host.name)
        if host.pid and host.name not in self._leaving and self._fleet.replace_agents:
            self._another_agent()

    def _forget(self, host: Host) -> None:
        with suppress(KeyError, ValueError):
            self._selector.unregister(host.channel)

    def _another_agent(self) -> None:
        if any(count >= most for count, most in zip(self._unborn, UNBORN, strict=True)):
            self._orders.end = actions.End(
                "failed", "agents end before they have joined (see above)"
            )
        elif self._orders.end is None:
            self._wanted += 1
            self.hosts.start(self._fleet.places)

    def _host_joined(self, host: Host, _: dict[str, Any]) -> None:
        host.joined, self._unborn = True, [0, 0]
        self._joined += 1
        self._feed(events.HostJoined(self._now(), host.name, host.places))

    def _host_started(self, host: Host, said: dict[str, Any]) -> None:
        host.pids[said["member"]] = said["pid"]

    def _host_store(self, host: Host, said: dict[str, Any]) -> None:
        if said["number"] != host.stores:
            return
        host.store_port, host.pids["store"] = said["port"], said["pid"]
        self._feed(events.StoreReady(self._now(), host.name))

    def _host_store_lost(self, host: Host, said: dict[str, Any]) -> None:
        if said["number"] == host.stores:  # it may have ended before it told its port
            self._feed(events.StoreLost(self._now(), f"store: {said['reason']}"))

    def _host_leaving(self, host: Host, _: dict[str, Any]) -> None:
        if host.name not in self._leaving:
            self._leaving.add(host.name)
            self._note(f"host {host.name} was told to go")
            self._feed(events.HostLeaving(self._now(), host.name))

    def _host_beat(self, _: Host, said: dict[str, Any]) -> None:
        for member, *values in said["marks"]:
            mark = Mark(*values)
            if self._attempt.observe(self._now(), member, mark):
                self._story.stepped_at(mark.at)
                self._progress(mark.step)
                self._repeats.came_to(mark.step)

    def _host_lost(self, host: Host, said: dict[str, Any]) -> None:
        member, reason = said["member"], said["reason"]
        host.pids.pop(member, None)
        self._copied(host, said["copy"])
        current = said["attempt"] == self._attempt.number
        if current:
            self._story.stepped_at(said["at"])
        if member in self._attempt.members:
            self._note(f"{self._attempt.name(member)} is lost: {reason}")
        step = said["step"] if current else 0
        self._feed(events.Lost(self._now(), member, reason, step=step))

    def _copied(self, host: Host, step: int) -> None:
        if step >= 0:
            self._feed(events.Saved(self._now(), step, host.name))

    # Workers

    def _worker_ready(self, _: Host, member: str, __: dict[str, Any]) -> None:
        self._feed(events.Ready(self._now(), member))

    def _worker_left(self, host: Host, member: str, said: dict[str, Any]) -> None:
        self._copied(host, said["copy"])
        attempt, step, reason = said["attempt"], said["step"], said["reason"]
        if reason not in ("", PEER):
            self._note(f"{self._attempt.name(member)} left attempt {attempt}: {reason}")
        self._feed(events.Left(self._now(), member, attempt, step, reason))
        if reason not in ("", PEER) and self._repeats.again(reason, step, attempt):
            words = f"{reason}; the same twice after step {step}: to try again would not help"
            self._orders.end = self._orders.end or actions.End("failed", words)

    def _worker_resumed(self, _: Host, member: str, said: dict[str, Any]) -> None:
        attempt, step = said["attempt"], said["step"]
        if attempt == self._attempt.number:
            self._orders.resumed(member, step, memory=said["memory"])
        if attempt == self._attempt.number and self._attempt.watch is None:
            self._attempt.watch = Watch(self._fleet.hang, self._fleet.slow)
        self._feed(events.Resumed(self._now(), attempt, step))

    def _worker_stepped(self, _: Host, __: str, said: dict[str, Any]) -> None:
        self._feed(events.Stepped(self._now(), said["attempt"], said["step"]))

    def _worker_saved(self, _: Host, __: str, said: dict[str, Any]) -> None:
        self._feed(events.Saved(self._now(), said["step"]))

    def _worker_torn(self, host: Host, _: str, said: dict[str, Any]) -> None:
        where = host.name if said["memory"] else None
        self._feed(events.Torn(self._now(), said["step"], where))

    def _worker_done(self, _: Host, member: str, said: dict[str, Any]) -> None:
        if "digest" in said:
            self._last = said
        self._feed(events.Done(self._now(), member, said["attempt"], said["step"]))

    def _host_refused(self, _: Host, said: dict[str, Any]) -> None:
        """What was asked cannot be: a host found out once it had imported torch."""
        raise InputError([Problem(**problem) for problem in said["problems"]])

    def _worker_refused(self, host: Host, _: str, said: dict[str, Any]) -> None:
        self._host_refused(host, said)

    def _worker_frames(self, _: Host, __: str, said: dict[str, Any]) -> None:
        self._frames = said["text"]

    def _worker_diverged(self, _: Host, __: str, said: dict[str, Any]) -> None:
        if not self._diverged:  # each rank sees it, and again after a restart
            self._diverged = True
            self._warned(said["text"])

    def _worker_warning(self, _: Host, __: str, said: dict[str, Any]) -> None:
        self._warned(said["text"])

    def _warned(self, text: str) -> None:
        self._warnings.append(text)
        self._note(text)

    def _worker_term(self, _: Host, member: str, __: dict[str, Any]) -> None:
        self._note(f"{self._attempt.name(member)} was told to go")
        self._feed(events.Retiring(self._now(), member))

    def _worker_fault(self, _: Host, member: str, said: dict[str, Any]) -> None:
        drill(
            self._faults[said["index"]],
            self.hosts,
            self._attempt.members,
            join=self._invite,
            preempt=lambda: self._told.hear(signal.SIGTERM),
        )
        self.hosts.tell(member, "fault_done", index=said["index"])

    def _invite(self) -> None:
        self._invited, self._wanted = self._invited + 1, self._wanted + 1
        self.hosts.start(self._fleet.places)

    def _missing(self) -> int:
        """Return how many hosts that a drill had started have not joined."""
        return max(0, min(self._invited, self._wanted - self._joined))

    # The end

    def _result(self, end: actions.End) -> RunResult:
        if missing := self._missing():
            self._warned(f"the run ended before {missing} of the hosts of --fault join had joined")
        counts = self.machine.counts
        found = RunResult(
            end.outcome,
            end.reason,
            self.machine.reached,
            len(self.machine.world),
            counts.attempts,
            counts.restarts,
            counts.resizes,
            counts.lost_steps,
            seconds=time.monotonic() - self._start,
            recoveries=tuple(self._story.recoveries),
            worlds=tuple(self._story.worlds),
            slow=tuple(self._slow.items()),
            warnings=tuple(self._warnings),
            log=self._run / "phases.jsonl",
            repeated=self._repeats.found,
            frames=self._frames,
        )
        if end.outcome == "finished":
            said = self._last
            found.digest, found.score, found.loss = said["digest"], said["score"], said["loss"]
            found.figures, found.metric = said["figures"], said["metric"]
        return found
