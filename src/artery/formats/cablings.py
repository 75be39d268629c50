"""Cablings from whatever file describes one: ``ibnetdiscover``, LLDP, a plan, Slurm's topology."""

from __future__ import annotations

from artery.core.cabling import Cabling
from artery.errors import InputError, Problem
from artery.formats import cable_plan, ibnetdiscover, ibsim_net, lldp, slurm_topology
from artery.formats.text import read_text


def read_cabling(path: str) -> Cabling:
    """Return the cabling in the file at ``path`` (``-``: standard input), known by its content.

    Raises :class:`artery.errors.InputError` if it is none of the formats, or has faults.
    """
    text = read_text(path)
    if ibnetdiscover.is_ibnetdiscover(text):
        return ibnetdiscover.read_cabling(text)
    if ibsim_net.is_ibsim_net(text):
        return ibsim_net.read_cabling(text)
    if lldp.is_lldp(text):
        return lldp.read_cabling(text)
    if slurm_topology.is_topology(text):
        return slurm_topology.read_cabling(text)
    if cable_plan.is_cable_plan(text):
        return cable_plan.read_cabling(text)
    first = next((line.strip() for line in text.lines if line.strip()), "nothing")
    raise InputError(
        Problem(
            file=path,
            line=1,
            found=f'"{first[:60]}"',
            rule="a cabling is ibnetdiscover, a cable plan (CSV) or Slurm's topology",
            fix=f"a plan begins with the columns {','.join(cable_plan.NEEDED)}",
        )
    )
