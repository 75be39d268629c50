"""The store where ranks meet: on which host it is, and whether it stands."""

from __future__ import annotations

from collections.abc import Iterable

from artery.cloud.machine.members import Host


class Meeting:
    """Where ranks meet. ``needed``: there must be a store; without, it always stands."""

    def __init__(self, *, needed: bool) -> None:
        self._needed = needed
        self.host: str | None = None
        self.stands = not needed

    @property
    def place(self) -> str | None:
        """The host where the store stands, if it stands."""
        return self.host if self.stands else None

    def wanted(self, hosts: Iterable[Host]) -> str | None:
        """Choose one of ``hosts`` for a store if there is none; return it, to have it started."""
        if not self._needed or self.host is not None:
            return None
        self.host = next((host.name for host in hosts if not host.leaving), None)
        return self.host

    def ready(self, host: str) -> bool:
        """A store stands on ``host``; return whether it is the one that was wanted."""
        mine = self.host == host
        self.stands = self.stands or mine
        return mine

    def lost(self) -> None:
        """The store is gone, or is to be counted so."""
        self.host, self.stands = None, not self._needed

    def host_lost(self, host: str) -> bool:
        """``host`` goes; return whether the store goes with it."""
        if self.host != host:
            return False
        self.lost()
        return True
