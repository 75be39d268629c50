"""Who is where: hosts, the members on them, and which states can be gone on from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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

    def ranked(self, count: int, holder: str | None = None) -> tuple[Member, ...]:
        """Choose ``count`` members, one on the host ``holder`` if it has any; order them by rank.

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


class States:
    """The saved states that are known: steps in the shared store, one per host in memory."""

    def __init__(self, steps: Iterable[int] = ()) -> None:
        self._shared = set(steps)
        self._memory: dict[str, int] = {}

    def saved(self, step: int, host: str | None) -> None:
        """A state was saved."""
        if host is None:
            self._shared.add(step)
        else:
            self._memory[host] = step

    def torn(self, step: int, host: str | None) -> None:
        """A state is of no use."""
        if host is None:
            self._shared.discard(step)
        elif self._memory.get(host) == step:
            del self._memory[host]

    def host_lost(self, host: str) -> None:
        """Its memory went with it."""
        self._memory.pop(host, None)

    @property
    def holders(self) -> tuple[str, ...]:
        """The hosts that have a state in memory."""
        return tuple(self._memory)

    def best(self, hosts: Iterable[str]) -> tuple[int, str | None]:
        """The furthest state in the store or in the memory of ``hosts``; (0, None) for none."""
        shared = max(self._shared, default=0)
        in_memory = list(self._in_memory(hosts))
        step, host = max(in_memory, default=(0, ""))
        return (step, host) if step > shared else (shared, None)

    def _in_memory(self, hosts: Iterable[str]) -> Iterator[tuple[int, str]]:
        for host in dict.fromkeys(hosts):
            if host in self._memory:
                yield self._memory[host], host
