"""Which states can be gone on from, and whether a further one is coming."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from artery.cloud.machine.members import Host


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

    def at_hand(self, hosts: Mapping[str, Host]) -> tuple[int, str | None]:
        """The furthest state in the store or where a member is ready; (0, None) for none."""
        return self._furthest(host for host in self._holders(hosts) if host.usable())

    def further_comes(self, hosts: Mapping[str, Host]) -> bool:
        """Whether a host whose memory is further than all that is at hand has no member ready yet.

        A step further is not worth a wait: the hosts of one attempt differ by that.
        """
        holders = (host for host in self._holders(hosts) if not host.leaving)
        coming = [host for host in holders if not host.usable()]
        return bool(coming) and self._furthest(coming)[0] > self.at_hand(hosts)[0] + 1

    def _holders(self, hosts: Mapping[str, Host]) -> Iterator[Host]:
        """Yield those of ``hosts`` that have a state in memory."""
        return (hosts[name] for name in self._memory if name in hosts)

    def _furthest(self, holders: Iterable[Host]) -> tuple[int, str | None]:
        """Return the furthest state in the store or in the memory of ``holders``."""
        shared = max(self._shared, default=0)
        step, host = max(((self._memory[one.name], one.name) for one in holders), default=(0, ""))
        return (step, host) if step > shared else (shared, None)
