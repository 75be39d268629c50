"""Cablings from whatever file describes one: ``ibnetdiscover``, LLDP, a plan, Slurm's topology."""

from __future__ import annotations

from artery.core.cabling import Cabling
from artery.errors import InputError, Problem
from artery.formats.cabling import cable_plan
from artery.formats.recognise import recognise
from artery.formats.text import read_text


def read_cabling(path: str) -> Cabling:
    """Return the cabling in the file at ``path`` (``-``: standard input), known by its content.

    Raises :class:`artery.errors.InputError` if it is none of the formats, or has faults.
    """
    text = read_text(path)
    found = next(iter(recognise(text)), None)
    reading = None if found is None else found.read(text)
    if reading is not None and reading.cabling is not None:
        return reading.cabling
    first = next((line.strip() for line in text.lines if line.strip()), "nothing")
    raise InputError(
        Problem(
            file=path,
            line=1,
            found=f'"{first[:60]}"' if found is None else f"{found.name}, without switches",
            rule="a cabling is ibnetdiscover, iblinkinfo, LLDP, a cable plan (CSV), or the tree of "
            "Slurm or Kubernetes",
            fix=f"a plan begins with the columns {','.join(cable_plan.NEEDED)}",
        )
    )
