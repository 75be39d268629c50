"""``fabric export``: a system's network written for Slurm, Graphviz, htsim, or as a cable plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, cast, get_args

from artery.answers.systems import file_and_chips, is_foreign
from artery.catalog import system as system_named
from artery.cluster.cables import NoFabricError, cabling_of
from artery.cluster.cabling import Network
from artery.cluster.cabling.regular import IrregularError, regular_tiers
from artery.core.system import System
from artery.errors import InputError, Problem, UnknownNameError
from artery.formats.cabling.written import HtsimTier, Parts, as_dot, as_htsim, as_plan, as_slurm

To = Literal["slurm", "dot", "htsim", "csv"]
MOST_CABLES: Final = 4_000_000
"""Assumed: a file with more lines is of no use to the tools that read it."""


@dataclass(frozen=True, slots=True)
class ExportAnswer:
    """The ``text`` of the file, and what was said of the system on the way."""

    system: str
    to: To
    text: str
    warnings: tuple[str, ...]


def fabric_export(on: str, to: str) -> ExportAnswer:
    """Return the network of the system ``on`` as a file for ``to``.

    ``slurm``: ``topology.conf``; ``dot``: Graphviz; ``htsim``: a topology of csg-htsim; ``csv``: a
    cable plan that :func:`artery.answers.fabric.check.fabric_check` reads. Raises
    :class:`artery.errors.InputError` for a system without a fabric, or one that the format cannot
    express.
    """
    if to not in get_args(To):
        raise UnknownNameError("format", to, get_args(To))
    if is_foreign(file_and_chips(on)[0]):
        rule = "a network is written from a system of the catalog or a file of ours"
        fix = "artery fabric check reads the files of other tools"
        raise InputError(Problem(file=on, found="a file of another tool", rule=rule, fix=fix))
    found = system_named(on)
    if found.chips > MOST_CABLES // 4:
        rule = f"a file is written for at most {MOST_CABLES // 4:,} chips"
        fix = "name fewer chips"
        raise InputError(Problem(field="SYSTEM", found=f"{found.chips:,}", rule=rule, fix=fix))
    try:
        cabling = cabling_of(found)
    except NoFabricError:
        raise InputError(
            Problem(
                field="SYSTEM",
                found=f'"{on}"',
                rule="there are no switches between its nodes",
                fix="name more chips than one node has, for example dgx-h100:256",
            )
        ) from None
    writers = {"csv": as_plan, "dot": as_dot}
    if to in writers:
        text = writers[to](cabling)
    elif to == "slurm":
        network = Network(cabling)
        text = as_slurm(_parts(network), network.is_host)
    else:
        text = _htsim(found, Network(cabling))
    return ExportAnswer(on, cast("To", to), text, found.warnings)


def _parts(network: Network) -> Parts:
    """Return, by tier from the leaves up, the parts that switches up to that tier join."""
    return [network.joined(tier) for tier in range(1, network.tiers + 1)]


def _htsim(system: System, network: Network) -> str:
    """Return the topology of a regular tree of two or three tiers."""
    try:
        tiers = regular_tiers(network)
    except IrregularError as error:
        raise _refused(system, str(error)) from None
    if len(tiers) not in (2, 3):
        raise _refused(system, f"{len(tiers)} tier")
    odd = [tier for tier in tiers if tier.up and tier.down % tier.up]
    if odd:
        raise _refused(system, f"{odd[0].down} ports down to {odd[0].up} up")
    cards = tiers[0].switches * tiers[0].down
    pods = len(network.pods(1)) if len(tiers) > 2 else 1
    fabric = [tier for tier in system.tiers if tier.chips > system.chips_per_node]
    leaf = fabric[0].latency
    # One more tier is two more switches with their cables; the leaf has a cable at each side.
    hop = (fabric[1].latency - leaf) / 2 if len(fabric) > 1 else leaf / 2
    described = [
        HtsimTier(
            down=tier.down,
            up=tier.up,
            bundle=tier.bundle,
            rate=tier.rate,
            latency=leaf / 2 if index == 0 else hop,
        )
        for index, tier in enumerate(tiers)
    ]
    return as_htsim(described, cards, cards // pods)


def _refused(system: System, found: str) -> InputError:
    return InputError(
        Problem(
            field="SYSTEM",
            found=f"{system.name}: {found}",
            rule="htsim takes one regular fat tree of two or three tiers, whole-number tapers",
            fix="name a number of chips that fills the tree, or take --to csv",
        )
    )
