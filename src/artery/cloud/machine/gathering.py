"""How long a job waits for members: for enough to begin, and for more than just enough."""

from __future__ import annotations

from math import inf

from artery.cloud.machine.members import Roster
from artery.cloud.machine.policy import Policy


class Gathering:
    """The time since members are gathered, under a policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._since = -inf
        self._enough = inf

    @property
    def end(self) -> float:
        """When there must be enough."""
        return self._since + self._policy.start

    def begin(self, at: float) -> None:
        """Gather anew from ``at`` on."""
        self._since, self._enough = at, inf

    def begun(self, at: float) -> None:
        """Something happened at ``at``: the first time, gathering begins."""
        if self._since == -inf:
            self._since = at

    def until(self, at: float, roster: Roster, *, first: bool) -> float | None:
        """Return until when to wait for more members; ``None`` if an attempt can begin.

        The ``first`` attempt waits longer: for all that it was asked to begin with.
        """
        usable, policy = roster.usable, self._policy
        if usable < policy.min_ranks:
            self._enough = inf
            return self.end
        wanted = min(policy.first, policy.max_ranks) if first else 0
        if usable < wanted and at < self.end:
            return self.end
        self._enough = min(self._enough, at)
        settled = self._enough + policy.settle
        more_may_come = usable < policy.max_ranks and roster.starting
        return settled if more_may_come and at < settled else None

    def patient(self, at: float) -> float | None:
        """Return until when enough members wait for one with a further state; ``None``: no more."""
        end = min(self._enough + self._policy.begin, self.end)
        return end if at < end else None

    def too_late(self, at: float, roster: Roster) -> str:
        """Return why the time for gathering is up at ``at``, empty if it is not."""
        if at < self.end:
            return ""
        usable, policy = roster.usable, self._policy
        if usable < policy.min_ranks:
            return f"{usable} of at least {policy.min_ranks} ranks after {policy.start:g} s"
        return "no store stands"
