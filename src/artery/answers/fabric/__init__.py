"""``fabric design``: the networks that join so many chips, what each needs and what it costs."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal

from artery.answers.fabric.parts import Medium, SwitchChoice, choose, media, switch_choices
from artery.catalog import switch as switch_named
from artery.cluster.design import Demand, Design, Rejected, designs
from artery.cluster.design.bill import Bill, Parts, bill, links_per_optic
from artery.cluster.design.blast import Blast, blasts
from artery.cluster.design.facts import (
    FACTS,
    LARGEST_SUBNET,
    LATENCIES,
    LEAF_FAILURES_PER_MONTH,
    LINK_FAILURES_PER_MONTH,
    MONTH,
    PLUGGABLE_SOURCE,
    Fact,
    Latency,
)
from artery.cluster.design.hall import Hall, Run, runs
from artery.core.parts import Switch
from artery.errors import InputError, Problem, Problems, UnknownNameError
from artery.units import parse

MOST_CHIPS: Final = 10_000_000
MOST_RADIX: Final = 4096
MOST_RAILS: Final = 64
MOST_TAPER: Final = 64
"""Assumed: beyond what anybody builds."""

Reason = Literal[
    "fewest_switches",
    "fewest_tiers",
    "least_power",
    "cheapest",
    "any_to_any",
    "one_switch_per_rail",
    "no_chip_cut",
    "through_the_node",
    "every_hop_crosses",
    "more_cables",
]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One design with its bill, its blast radii, and why it stands where it stands.

    ``latencies`` are one way at 64 B, under a leaf and over the top, by fabric, in seconds.
    ``link_failures`` and ``leaf_failures`` are to be expected per day; ``optic_source`` says where
    the optics' mean time between failures is from.
    """

    design: Design
    runs: tuple[Run, ...]
    bill: Bill
    blasts: tuple[Blast, ...]
    latencies: tuple[tuple[Latency, float], ...]
    optic_source: str | None
    link_failures: float
    leaf_failures: float
    reasons: tuple[Reason, ...]


MOST_CABLES: Final = 2_000_000
"""Assumed: a longer plan is read by nobody."""


@dataclass(frozen=True, slots=True)
class DesignAnswer:
    """The candidates, best first; what is out and why; and how parts and fabrics compare.

    ``media`` are those for the first candidate's cables, ``notes`` what was taken unasked.
    """

    demand: Demand
    parts: Parts
    candidates: tuple[Candidate, ...]
    rejected: tuple[Rejected, ...]
    switches: tuple[SwitchChoice, ...]
    media: tuple[Medium, ...]
    facts: tuple[Fact, ...]
    hall: Hall
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def cable_plan(answer: DesignAnswer, name: str) -> str:
    """Return every cable of the candidate called ``name`` (``"rail-2"``) as CSV.

    Each has its ends, rate, length and part. Raises :class:`artery.errors.InputError` for an
    unknown candidate, or one with more cables than anybody reads.
    """
    from artery.cluster.design.cables import cables
    from artery.formats.cabling.written import as_plan

    designs = {one.design.name: one.design for one in answer.candidates}
    if name not in designs:
        raise UnknownNameError("candidate", name, designs)
    count = sum(designs[name].links)
    if count > MOST_CABLES:
        rule = f"a plan is written for at most {MOST_CABLES:,} cables"
        fix = "ask for fewer chips"
        raise InputError(Problem(field="--cables", found=f"{count:,}", rule=rule, fix=fix))
    return as_plan(cables(designs[name], answer.hall, answer.parts))


def fabric_design(
    chips: int,
    *,
    radix: int | None = None,
    port: str | None = None,
    rails: int = 8,
    oversub: str = "1:1",
    planes: int = 2,
    switch: str | None = None,
    nic: str | None = None,
    optic: str | None = None,
    nodes_per_rack: int = 4,
) -> DesignAnswer:
    """Return the networks that join ``chips`` chips, best first.

    ``rails`` cards per node, one per chip; switches of ``radix`` ports (64) of ``port``
    (``"800G"``), or those of the named ``switch``; ``oversub`` is ``down:up`` at the leaves, with a
    comma also at the tier above (``"1:1,7:1"``); ``planes`` is for the dual-plane design. Parts
    that are not named are taken from the catalog, with a note. An answer without candidates is
    one that no three tiers can give. Raises :class:`artery.errors.InputError`.
    """
    box = switch_named(switch) if switch else None
    rate = box.port if port is None and box else _rate(port or "800G")
    if box is not None:
        _has_ports(box, radix, rate)
    ports = radix if radix is not None else (box.radix_at(rate) if box else 64)
    tapers = _tapers(oversub)
    _check(chips, ports, rails, planes, nodes_per_rack)
    demand = Demand(chips, rails, ports, rate, tapers, planes)
    chosen = choose(box, nic, optic, ports, rate)
    found, out = designs(demand)
    hall = Hall(nodes_per_rack=nodes_per_rack)
    priced = [_priced(design, chosen.parts, hall) for design in found]
    candidates = tuple(_reasoned(one, priced) for one in priced)
    return DesignAnswer(
        demand=demand,
        parts=chosen.parts,
        candidates=candidates,
        rejected=out,
        switches=switch_choices(ports, rate),
        media=media(rate, candidates[0].runs) if candidates else (),
        facts=FACTS,
        hall=hall,
        notes=chosen.notes,
        warnings=_warnings(chosen.parts, ports, candidates),
    )


def _rate(text: str) -> float:
    """Return a port's rate in B/s; ``800G`` is 800 Gb/s."""
    bare = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([GT])\s*", text, re.ASCII)
    spelled = f"{bare[1]} {bare[2]}b/s" if bare else text
    try:
        return parse(spelled, "B/s", directed=True, positive=True)
    except InputError as error:
        raise error.at(field="--port") from None


def _tapers(text: str) -> tuple[Fraction, ...]:
    """Return ``down / up`` of each tier from ``down:up[,down:up]``."""
    parts = text.split(",")
    found = [re.fullmatch(r"\s*(\d{1,4})\s*:\s*(\d{1,4})\s*", part, re.ASCII) for part in parts]
    pairs = [(int(one[1]), int(one[2])) for one in found if one is not None]
    right = len(pairs) == len(parts) <= 2 and all(down and up for down, up in pairs)
    tapers = tuple(Fraction(down, up) for down, up in pairs if up) if right else ()
    if not tapers or not all(Fraction(1, MOST_TAPER) <= one <= MOST_TAPER for one in tapers):
        raise InputError(
            Problem(
                field="--oversub",
                found=f'"{text}"',
                rule=f"must be down:up at the leaves, both at least 1, at most {MOST_TAPER}:1",
                fix='for example "1:1", "3:1", or "1:1,7:1" for the leaves and the tier above',
            )
        )
    return tapers


def _check(chips: int, radix: int, rails: int, planes: int, nodes_per_rack: int) -> None:
    """Refuse what is no number of anything, all at once."""
    limits = (
        ("--chips", chips, 1, MOST_CHIPS),
        ("--radix", radix, 2, MOST_RADIX),
        ("--rails", rails, 1, MOST_RAILS),
        ("--planes", planes, 2, 8),
        ("--nodes-per-rack", nodes_per_rack, 1, 64),
    )
    with Problems() as problems:
        for field, value, least, most in limits:
            if not least <= value <= most:
                rule = f"must be a whole number from {least} to {most:,}"
                problems.add(Problem(field=field, found=f"{value:,}", rule=rule, fix=_FIXES[field]))


_FIXES: Final = {
    "--chips": "for example 16384",
    "--radix": "the ports of one switch, for example 64",
    "--rails": "the network cards of a node, for example 8",
    "--planes": "for example 2",
    "--nodes-per-rack": "for example 4",
}


def _has_ports(box: Switch, radix: int | None, rate: float) -> None:
    """Refuse more ports than the named switch has at that rate."""
    there = box.radix_at(rate)
    if there == 0:
        found, rule = f"{8 * rate / 1e9:g} Gb/s", f"{box.name} has no port that fast"
        fix = f"at most {8 * box.port / 1e9:g} Gb/s"
        raise InputError(Problem(field="--port", found=found, rule=rule, fix=fix))
    if radix is not None and radix > there:
        rule = f"{box.name} has {there} ports of {8 * rate / 1e9:g} Gb/s"
        fix = f"--radix {there}, or a slower --port"
        raise InputError(Problem(field="--radix", found=str(radix), rule=rule, fix=fix))


def _priced(design: Design, parts: Parts, hall: Hall) -> Candidate:
    cables = runs(design, hall)
    return Candidate(
        design=design,
        runs=cables,
        bill=bill(design, parts, cables),
        blasts=blasts(design, links_per_optic(parts.optic, design.rate)),
        latencies=tuple((one, one.across(len(design.tiers))) for one in LATENCIES),
        optic_source=_mtbf_source(parts),
        link_failures=design.links[0] * LINK_FAILURES_PER_MONTH / MONTH,
        leaf_failures=design.tiers[0].switches * LEAF_FAILURES_PER_MONTH / MONTH,
        reasons=(),
    )


def _reasoned(one: Candidate, every: list[Candidate]) -> Candidate:
    """Return the candidate with what speaks for and against it beside the others."""
    design = one.design
    told: list[Reason] = []
    if design.switches == min(other.design.switches for other in every):
        told.append("fewest_switches")
    if len(design.tiers) == min(len(other.design.tiers) for other in every):
        told.append("fewest_tiers")
    powers = [other.bill.power.middle for other in every if other.bill.power]
    if one.bill.power and len(every) > 1 and one.bill.power.middle == min(powers):
        told.append("least_power")
    prices = [other.bill.price.middle for other in every if other.bill.price]
    if one.bill.price and len(every) > 1 and one.bill.price.middle == min(prices):
        told.append("cheapest")
    told += _BY_KIND[design.kind]
    return replace(one, reasons=tuple(told))


def _mtbf_source(parts: Parts) -> str | None:
    """Return the document that the optics' failure rate is from."""
    if parts.optic.mtbf is None:
        return None
    seen = parts.optic.provenance.get("mtbf.low")
    return PLUGGABLE_SOURCE if seen is None else f"{seen.text} ({seen.as_of})"


_BY_KIND: Final[dict[str, tuple[Reason, ...]]] = {
    "rail": ("any_to_any", "one_switch_per_rail"),
    "tor": ("any_to_any", "every_hop_crosses"),
    "dual-plane": ("any_to_any", "one_switch_per_rail", "no_chip_cut", "more_cables"),
    "rail-only": ("one_switch_per_rail", "through_the_node"),
}


def _warnings(parts: Parts, radix: int, candidates: tuple[Candidate, ...]) -> tuple[str, ...]:
    """Return what is unknown, and cables that nothing reaches."""
    told = []
    if parts.switch is None:
        told.append(f"no switch of the catalog has {radix} such ports: its power, price unknown")
    elif parts.switch.kind == "asic":
        told.append(f"{parts.switch.name} is a chip: the power is without its box and fans")
    dual = any(one.design.planes > 1 for one in candidates)
    if dual and parts.nic is not None and parts.nic.ports == 1:
        told.append(f"{parts.nic.name} has one port: no dual-plane design with it")
    if parts.nic is None:
        told.append("no card of the catalog has this rate: its power and price are unknown")
    every = (parts.switch, parts.nic, parts.optic, parts.card_optic)
    for part in {one.name: one for one in every if one is not None}.values():
        unknown = [word for word in ("power", "price") if getattr(part, word) is None]
        if unknown:
            told.append(f"{' and '.join(unknown)} of {part.name} unknown: no total of it")
    if parts.switch is not None and parts.switch.fabric == "infiniband":
        told += [
            f"{one.design.name} has {count:,} addresses in one InfiniBand subnet, "
            f"which has at most {LARGEST_SUBNET:,}"
            for one in candidates
            if (count := one.design.addresses) > LARGEST_SUBNET
        ]
    short = {
        f"{cable.part} does not reach {cable.longest:g} m ({one.design.name}, {cable.tier})"
        for one in candidates
        for cable in one.bill.cables
        if not cable.within_reach
    }
    return (*told, *sorted(short))
