"""What the supervisor saw, as phases in the log and as recoveries, part by part."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from artery.cloud.machine import events
from artery.cloud.machine.machine import Machine
from artery.runner.phases import PhaseLog
from artery.runner.supervisor.result import Recovery


class Story:
    """Follows the machine: when it changes its phase, the phase before goes into the log."""

    def __init__(self, log: PhaseLog, machine: Machine) -> None:
        self._log = log
        self._machine = machine
        self._since = time.time()
        self._last_step = 0.0
        self._awaiting = ""
        self._lost = 0
        self.recoveries: list[Recovery] = []
        self.worlds: list[int] = []

    def stepped_at(self, at: float) -> None:
        """Somebody did a step at ``at``."""
        self._last_step = max(self._last_step, at)

    @contextmanager
    def told(self, event: events.Event) -> Iterator[None]:
        """Compare the machine before and after ``event``."""
        phase, attempt = self._machine.phase, self._machine.counts.attempts
        restarts = self._machine.counts.restarts
        lost = self._machine.counts.lost_steps
        yield
        now = time.time()
        after, counts = self._machine.phase, self._machine.counts
        self._log.attempt = counts.attempts
        begun = counts.attempts != attempt
        failed = phase in {"running", "pausing"} and (
            after == "stopping" or (counts.restarts != restarts) or (after == "forming")
        )
        if failed and not (phase == "pausing" and after == "forming"):
            self._failed(now)
        elif phase == "pausing" and (after != "pausing" or begun):
            self._close("pause", now)
        if phase == "stopping" and (after != "stopping" or begun):
            self._part("teardown", self._close("teardown", now))
        if begun:
            first = counts.attempts == 1
            seconds = self._close("start" if first else "reform", now)
            if not first:
                self._part("reform", seconds)
            self._awaiting = "rejoin"
            self.worlds.append(len(self._machine.world))
            if self.recoveries and counts.restarts != restarts:
                self.recoveries[-1].ranks = len(self._machine.world)
                self.recoveries[-1].reason = self._machine.reason
        elif after == "pausing" and phase == "running":
            self._since = now
        self._came_back(event, now, counts.lost_steps - lost)

    def _failed(self, now: float) -> None:
        """An attempt has failed: what passed since the last step was lost before it was noticed."""
        begun = min(now, max(self._since, self._last_step))
        self._log.write("detect", begun, now - begun)
        attempt = self._machine.counts.attempts
        self.recoveries.append(Recovery(attempt, self._machine.reason, now - begun))
        self._since = now

    def _came_back(self, event: events.Event, now: float, lost: int) -> None:
        if isinstance(event, events.Resumed) and self._awaiting == "rejoin":
            self._part("rejoin", self._close("rendezvous", now))
            self._awaiting = "first_step"
            if lost and self.recoveries:
                self.recoveries[-1].lost_steps = lost
        elif isinstance(event, events.Stepped) and self._awaiting == "first_step":
            self._part("first_step", self._close("first_step", now, event.step))
            self._awaiting = ""
        if lost:
            self._log.write("lost_work", now, 0.0, self._machine.reached, steps=lost)

    def _close(self, phase: str, now: float, step: int | None = None) -> float:
        """Log the phase that ends now; return its seconds."""
        seconds = now - self._since
        self._log.write(phase, self._since, seconds, step)
        self._since = now
        return seconds

    def _part(self, name: str, seconds: float) -> None:
        """Add to the recovery that is under way."""
        if self.recoveries and self._machine.counts.restarts and not self._complete():
            setattr(self.recoveries[-1], name, getattr(self.recoveries[-1], name) + seconds)

    def _complete(self) -> bool:
        return self.recoveries[-1].first_step > 0.0

    @contextmanager
    def finishing(self) -> Iterator[None]:
        """Log how long it takes to end everything."""
        begun = time.time()
        yield
        self._log.write("finish", begun, time.time() - begun)
