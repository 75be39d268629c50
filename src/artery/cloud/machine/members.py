"""Who is where: hosts, and the members on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Standing = Literal["starting", "idle", "active"]


@dataclass(slots=True)
class Member:
    """One process that may take a rank; ``retired`` ones get none any more."""

    name: str
    host: Host
    standing: Standing = "starting"
    rank: int = -1
    retired: bool = False


@dataclass(slots=True)
class Host:
    """Members on one host in the order they were started, and what it offers."""

    name: str
    places: int
    leaving: bool = False
    started: int = 0
    members: dict[str, Member] = field(default_factory=dict)

    def usable(self) -> list[Member]:
        """Members that may get a rank, those that have one first, no more than there are places."""
        if self.leaving:
            return []
        fit = [m for m in self.members.values() if m.standing != "starting" and not m.retired]
        fit.sort(key=lambda m: (m.standing != "active", m.rank < 0))
        return fit[: self.places]

    @property
    def has_spare(self) -> bool:
        """Whether a member is ready that has no rank."""
        return any(m.standing == "idle" and not m.retired for m in self.members.values())

    def missing(self, spares: int) -> int:
        """How many members are to be started until all places and ``spares`` are filled."""
        if self.leaving:
            return 0
        here = sum(not m.retired for m in self.members.values())
        return max(0, self.places + spares - here)

    def new_names(self, count: int) -> tuple[str, ...]:
        """Take ``count`` names for members that are to be started."""
        names = tuple(f"{self.name}.{self.started + i}" for i in range(count))
        self.started += count
        self.members.update((name, Member(name, self)) for name in names)
        return names


class Roster:
    """All hosts and members of a job; what the machine asks often is kept, not counted anew."""

    def __init__(self) -> None:
        self.hosts: dict[str, Host] = {}
        self.members: dict[str, Member] = {}
        self.usable = 0
        self.starting = 0
        self._of_host: dict[str, tuple[int, int]] = {}

    def add(self, host: Host) -> None:
        """A host came."""
        self.hosts[host.name] = host
        self.recount(host)

    def remove(self, name: str) -> Host | None:
        """A host went, and its members with it; ``None`` if it was not known."""
        host = self.hosts.pop(name, None)
        if host is not None:
            for member in host.members:
                self.members.pop(member, None)
            usable, starting = self._of_host.pop(name)
            self.usable -= usable
            self.starting -= starting
        return host

    def start(self, host: Host, count: int) -> tuple[str, ...]:
        """Return the names of ``count`` new members of ``host``."""
        names = host.new_names(count)
        self.members.update((name, host.members[name]) for name in names)
        self.recount(host)
        return names

    def drop(self, member: Member) -> None:
        """A member is gone."""
        self.members.pop(member.name, None)
        member.host.members.pop(member.name, None)
        if member.host.name in self.hosts:
            self.recount(member.host)

    def recount(self, host: Host) -> None:
        """Bring the sums up to date after a change on ``host``."""
        usable, starting = self._of_host.get(host.name, (0, 0))
        coming = sum(m.standing == "starting" for m in host.members.values())
        now = len(host.usable()), 0 if host.leaving else min(coming, host.places)
        self._of_host[host.name] = now
        self.usable += now[0] - usable
        self.starting += now[1] - starting

    def seated(self, count: int, holder: str | None = None) -> tuple[Member, ...]:
        """Give ranks to ``count`` members, one on the host ``holder`` if it has any; return them.

        They are in the order of their ranks; who is left out keeps none.
        """
        ranked = self._ranked(count, holder)
        for rank, member in enumerate(ranked):
            member.standing, member.rank = "active", rank
        for member in self.members.values():
            if member.standing == "idle":
                member.rank = -1
        return ranked

    def _ranked(self, count: int, holder: str | None) -> tuple[Member, ...]:
        """Choose ``count`` members; order them by rank.

        Who had a rank below ``count`` keeps it; the rest fill the gaps in the order in which their
        hosts came, so that the ranks of a host that joins are neighbours.
        """
        chosen = self._chosen(count, holder)
        ranks: dict[int, Member] = {}
        rest: list[Member] = []
        for member in chosen:
            free = 0 <= member.rank < count and member.rank not in ranks
            if free:
                ranks[member.rank] = member
            else:
                rest.append(member)
        gaps = (rank for rank in range(count) if rank not in ranks)
        ranks.update(zip(gaps, rest, strict=True))
        return tuple(ranks[rank] for rank in range(count))

    def _chosen(self, count: int, holder: str | None) -> list[Member]:
        """Up to ``count`` usable members: those that had a rank before those that are new."""
        all_usable = [m for host in self.hosts.values() for m in host.usable()]
        all_usable.sort(key=lambda m: m.rank < 0)
        chosen = all_usable[:count]
        left_out = (m for m in all_usable[count:] if m.host.name == holder)
        if not any(m.host.name == holder for m in chosen):
            chosen[-1] = next(left_out, chosen[-1])
        return chosen
