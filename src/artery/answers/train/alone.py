"""What a rank that torchrun, mpirun or srun started can heed: how to train and what to keep.

There are no other hosts, spares or drills of hosts then, and no answer but one line.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from artery.errors import UsageError
from artery.runner.settings import Settings

HEARD: Final = frozenset(
    {each.name for each in fields(Settings)} - {"copies"} | {"directory", "signals"}
)
"""Options that such a rank goes by."""
_ANYWHERE: Final = HEARD | {"model", "ranks", "preempted_code", "lang"}


def check_of_use(flags: dict[str, str], size: int, ranks: int | None) -> None:
    """Raise ``UsageError`` for ``flags`` (spelled, by option) that one of ``size`` ranks ignores.

    ``ranks`` is what ``--ranks`` says; it may say what is so.
    """
    idle = sorted(flag for name, flag in flags.items() if name not in _ANYWHERE)
    if idle:
        raise UsageError(
            f"{', '.join(idle)}: not heard by one rank of torchrun, mpirun or srun: leave them "
            "out, or let artery train start the ranks itself"
        )
    if "ranks" in flags and ranks != size:
        raise UsageError(f"--ranks {ranks}, but {size} ranks were started: leave it out")
