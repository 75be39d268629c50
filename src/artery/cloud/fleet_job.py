"""``FleetJob``: one job of a cluster as a scheduler sees it."""

from __future__ import annotations

from typing import NamedTuple


class FleetJob(NamedTuple):
    """A gang of ``chips``, asked for at ``submit`` (s), that runs ``run`` seconds on them.

    ``run`` is the time at the asked size, well placed, without failures. ``limit`` is the user's
    own estimate of it in seconds. A higher ``priority`` goes first. ``sizes`` are the chips that
    an elastic job can run on, rising, its own among them; one size is a rigid job. ``kind`` is the
    index of its workload in whatever prices speeds. ``state`` is how it ended where it really ran.
    ``service`` marks a replica that serves: it is neither resized nor preempted.
    """

    id: str
    submit: float
    run: float
    chips: int
    limit: float | None = None
    priority: int = 0
    tenant: str = ""
    sizes: tuple[int, ...] = ()
    kind: int = 0
    state: str | None = None
    service: bool = False
