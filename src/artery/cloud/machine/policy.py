"""``Policy``: the bounds of a job and how long its supervisor waits for what."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Between how many ranks a job runs, and the times in seconds. All times are assumed.

    The first attempt waits for ``first`` ranks, if they come in time. ``spares`` warm members are
    kept per host beside its places. ``store``: ranks meet at a store that must stand before an
    attempt begins. ``grow``: more ranks are taken in while it runs. ``replace_slow``: a slow member
    makes way for a spare. ``grace``: from Stop or Kill to being given up. ``pause``: for a step to
    be finished and saved. ``start``: to wait for the fewest ranks. ``settle``: to wait for more
    than the fewest, and between a newcomer and the pause that takes it in. ``begin``: from Begin to
    the first step, for a store to stand, and for a member where the furthest state is.
    ``fruitless``: attempts that began no further than the one before, since the job last came
    further than ever, until it is given up.
    """

    min_ranks: int
    max_ranks: int
    first: int = 0
    spares: int = 0
    store: bool = True
    grow: bool = True
    replace_slow: bool = False
    grace: float = 5.0
    pause: float = 60.0
    start: float = 120.0
    settle: float = 2.0
    begin: float = 60.0
    fruitless: int = 10
