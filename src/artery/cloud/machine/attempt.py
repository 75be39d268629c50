"""The attempt that is under way: who takes part, and how far it has come."""

from __future__ import annotations

from collections.abc import Iterable

from artery.cloud.machine.members import Member


class Attempt:
    """Members with ranks. ``world``: all that began, by rank; ``active``: who is still in it.

    ``resumed``: they have met, and have a state; ``from_memory``: it was in the memory of a host.
    ``stepped``: the first step is done.
    """

    def __init__(self, members: Iterable[Member] = (), *, from_memory: bool = False) -> None:
        self.active = {member.name: member for member in members}
        self.world = tuple(self.active)
        self.from_memory = from_memory
        self.resumed = False
        self.stepped = False
        self._done: set[str] = set()

    def __contains__(self, member: str) -> bool:
        return member in self.active

    def loses(self, member: str) -> bool:
        """A member is out of it; return whether it was in it."""
        return self.active.pop(member, None) is not None

    def all_done(self, member: str) -> bool:
        """A member has done all steps; return whether everybody has."""
        self._done.add(member)
        return self._done.issuperset(self.active)

    @property
    def leaving(self) -> bool:
        """Whether every host that is still in it is to go."""
        return all(member.host.leaving for member in self.active.values())
