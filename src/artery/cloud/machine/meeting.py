"""The store where ranks meet: on which host it is, and whether it stands."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from artery.cloud.machine.members import Host


class Meeting:
    """Where ranks meet. ``needed``: there must be a store; without, it always stands.

    ``due`` is the time by which the store must stand that was asked for (infinite: none was).
    """

    def __init__(self, *, needed: bool, patience: float) -> None:
        self._needed = needed
        self._patience = patience
        self.due = inf
        self.host: str | None = None
        self.stands = not needed

    @property
    def place(self) -> str | None:
        """The host where the store stands, if it stands."""
        return self.host if self.stands else None

    def wanted(self, at: float, hosts: Iterable[Host]) -> str | None:
        """Choose one of ``hosts`` for a store if there is none; return it, to have it started."""
        if not self._needed or self.host is not None:
            return None
        self.host = next((host.name for host in hosts if not host.leaving), None)
        self.due = at + self._patience if self.host is not None else inf
        return self.host

    def ready(self, host: str) -> bool:
        """A store stands on ``host``; return whether it is the one that was wanted."""
        if self.host != host:
            return False
        self.stands, self.due = True, inf
        return True

    def lost(self) -> None:
        """The store is gone, or is to be counted so."""
        self.host, self.stands, self.due = None, not self._needed, inf

    def host_lost(self, host: str) -> bool:
        """``host`` goes; return whether the store goes with it."""
        if self.host != host:
            return False
        self.lost()
        return True
