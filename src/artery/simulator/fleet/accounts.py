"""Chip-time by state, in whole chip-microseconds, so that the states add up exactly."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final


@dataclass(slots=True)
class Accounts:
    """Chip-microseconds: of jobs (``useful`` to ``unused``) and of nobody (``idle`` to ``absent``).

    ``useful`` work was kept. ``saving`` wrote checkpoints; ``redone`` was lost in failures;
    ``restarting`` and ``resizing`` passed until work went on; ``stalled`` waited for a slow node
    or a flapping link; ``unused`` lay beside a job on nodes that it holds whole. ``idle`` chips
    had no job waiting, ``blocked`` ones had; ``spare`` were kept for failures; ``down`` were in
    repair, ``maintenance`` in planned work, ``absent`` taken away by the provider.
    """

    useful: int = 0
    saving: int = 0
    redone: int = 0
    restarting: int = 0
    resizing: int = 0
    stalled: int = 0
    unused: int = 0
    idle: int = 0
    blocked: int = 0
    spare: int = 0
    down: int = 0
    maintenance: int = 0
    absent: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return sum(getattr(self, name) for name in STATES)

    @property
    def allocated(self) -> int:
        """What jobs held."""
        return sum(getattr(self, name) for name in HELD)


STATES: Final = tuple(field.name for field in fields(Accounts))
HELD: Final = STATES[: STATES.index("unused") + 1]
