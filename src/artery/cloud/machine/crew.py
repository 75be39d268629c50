"""Who is started and who is sent away: the actions that change who is there."""

from __future__ import annotations

from collections.abc import Iterator

from artery.cloud.machine.actions import Action, Dismiss, Kill, Start
from artery.cloud.machine.members import Host, Member, Roster
from artery.cloud.machine.states import States


class Crew:
    """The members of a job on their hosts, and the ``states`` that these hold in memory."""

    def __init__(self, roster: Roster, states: States, spares: int) -> None:
        self._roster = roster
        self._states = states
        self._spares = spares

    def stock(self, host: Host, *, spares: bool) -> Iterator[Action]:
        """Start what a host lacks: members for its places, or spares too."""
        missing = host.missing(self._spares if spares else 0)
        if missing:
            yield Start(host.name, self._roster.start(host, missing))

    def stock_all(self) -> Iterator[Action]:
        """Start what every host lacks, spares too."""
        for host in list(self._roster.hosts.values()):
            yield from self.stock(host, spares=True)

    def kill(self, member: Member, reason: str) -> Iterator[Action]:
        """Send one member away."""
        self._roster.drop(member)
        yield Kill(member.name, reason)

    def dismiss(self, host: str) -> Iterator[Action]:
        """Let a host go, and its state with it."""
        self._states.host_lost(host)
        self._roster.remove(host)
        yield Dismiss(host)

    def change(self) -> Iterator[Action]:
        """Between attempts: who makes way goes, hosts that leave go, the others get members."""
        for member in [m for m in self._roster.members.values() if m.retired]:
            yield from self.kill(member, "it makes way")
        for host in list(self._roster.hosts.values()):
            if host.leaving:
                yield from self.dismiss(host.name)
            else:
                yield from self.stock(host, spares=False)
