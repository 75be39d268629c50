"""The attempt that is under way, as the supervisor sees it: who is how far, who hangs, who lags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from artery.cloud.machine import events
from artery.cloud.machine.watch import Hung, Progress, Watch
from artery.runner.supervisor.hosts import Host
from artery.runner.worker.progress import Mark, read_mark

BUSY: Final = 20.0
"""How many times longer than a step something that is no step may take (assumed)."""


@dataclass(slots=True)
class Attempt:
    """One attempt. It is watched once all have their state again."""

    number: int = 0
    members: tuple[str, ...] = ()
    watch: Watch | None = None
    marks: dict[str, Mark] = field(default_factory=dict)

    def name(self, member: str) -> str:
        """Return ``rank 1 (h0.1)``, or the member alone if it has no rank."""
        if member not in self.members:
            return member
        return f"rank {self.members.index(member)} ({member})"

    def observe(self, at: float, member: str, mark: Mark) -> bool:
        """Note where a member is; return whether that was of this attempt."""
        if mark.attempt != self.number or member not in self.members or self.watch is None:
            return False
        self.marks[member] = mark
        self.watch.observe(at, member, Progress(mark.step, mark.meeting, mark.computed))
        return True

    def furthest(self, host: Host) -> int:
        """Return how far the members on a host came, as far as can be told."""
        told = [mark.step for member, mark in self.marks.items() if member in host.pids]
        if host.pid:  # it was on this machine: what it last wrote can still be read
            written = (read_mark(host.memory / f"progress-{member}") for member in host.pids)
            told += [mark.step for mark in written if mark.attempt == self.number]
        return max(told, default=0)

    def verdicts(self, at: float, *, heard: bool) -> Iterator[tuple[events.Event, str]]:
        """Yield what the machine is to know at ``at``, with words for people.

        Unless all hosts were ``heard`` lately, nobody is said to hang: the host may be lost.
        """
        if self.watch is None:
            return
        hung = self.watch.hung(at)
        busy = any(mark.busy for mark in self.marks.values())
        if hung is not None and heard and (not busy or hung.seconds > BUSY * self.watch.patience):
            self.watch = None
            yield from self._hung(at, hung)
            return
        lagging = self.watch.lagging()
        if lagging is not None:
            factor = f"{lagging.factor:.1f}"
            text = f"{self.name(lagging.member)} is slow: it computes {factor} times as long"
            slow = events.Slow(at, lagging.member, lagging.factor)
            yield slow, f"{text} as the others"

    def _hung(self, at: float, hung: Hung) -> Iterator[tuple[events.Event, str]]:
        quiet = f"for {hung.seconds:.1f} s"
        if not hung.members:
            reason = f"all ranks wait for each other {quiet}"
            yield events.Stalled(at, self.number, reason), reason
        for member in hung.members:
            reason = f"no progress {quiet}"
            lost = events.Lost(at, member, reason, gone=False)
            yield lost, f"{self.name(member)} hangs: {reason}"
