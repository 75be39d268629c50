"""The bill of materials of a design: parts counted, with their power, price and failures.

Cables whose length copper reaches are copper; the others have an optic at each end. A switch's
optic may end several links; a card has one optic, whatever its planes. Fibre, racks and cooling
are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from artery.cluster.design import Design
from artery.cluster.design.hall import Run
from artery.core.parts import Nic, Optic, Span, Switch
from artery.units.durations import DAY

NOTHING = Span(0.0, 0.0)

FIBRE_S_PER_M: Final = 1.468 / 299_792_458.0
"""Light in single-mode fibre, s/m: group index 1.468 at 1550 nm (Corning SMF-28 data sheet)."""

COPPER_S_PER_M: Final = 4.5e-9
"""Signals in twinax, s/m: 4.3 to 4.8 ns/m by its dielectric; the middle is assumed."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What the network is built from; ``None`` where no part is named.

    ``optic`` sits in switches and ``card_optic`` in cards; ``copper`` are the cables to try
    first, shortest reach first.
    """

    switch: Switch | None
    nic: Nic | None
    optic: Optic
    card_optic: Optic
    copper: tuple[Optic, ...] = ()


@dataclass(frozen=True, slots=True)
class Cables:
    """``count`` cables of one tier on one medium, from ``shortest`` to ``longest`` metres.

    ``part`` is the copper part or the optic; ``within_reach`` is false if the longest is too long.
    """

    tier: str
    part: str
    copper: bool
    count: int
    shortest: float
    longest: float
    within_reach: bool

    @property
    def delay(self) -> Span:
        """Time from end to end, s, shortest to longest: of the cable, modules add their own."""
        per_metre = COPPER_S_PER_M if self.copper else FIBRE_S_PER_M
        return Span(self.shortest * per_metre, self.longest * per_metre)


@dataclass(frozen=True, slots=True)
class Line:
    """``count`` parts called ``name``; ``power`` (W) and ``price`` (USD) of all of them.

    ``price_date`` is when that price was seen.
    """

    role: str
    name: str | None
    count: int
    power: Span | None
    price: Span | None
    price_date: str | None = None


@dataclass(frozen=True, slots=True)
class Bill:
    """Every part. Totals are ``None`` if that of any part is not known.

    ``optic_failures`` are to be expected per day, from the optics' mean time between failures.
    """

    lines: tuple[Line, ...]
    cables: tuple[Cables, ...]
    transceivers: int
    power: Span | None
    price: Span | None
    optic_failures: Span | None


def links_per_optic(optic: Optic, rate: float) -> int:
    """Return how many links of ``rate`` B/s one optic of a switch ends."""
    return max(1, int(optic.rate / rate))


def bill(design: Design, parts: Parts, runs: Sequence[Run]) -> Bill:
    """Return the bill of ``design``, whose cables are ``runs``."""
    cables = tuple(_media(runs, parts))
    share = links_per_optic(parts.optic, design.rate)
    optical = [one for one in cables if not one.copper]
    in_cards = sum(one.count for one in optical if one.tier == "card-leaf")
    upper = sum(one.count for one in optical) - in_cards
    in_switches = ceil(in_cards / share) + 2 * ceil(upper / share)
    cards = design.nodes * design.rails
    card_optics = ceil(in_cards / design.planes)
    lines = [
        _line("switch", parts.switch, design.switches),
        _line("nic", parts.nic, cards),
        *_copper_lines(cables, parts.copper),
        *_optic_lines(parts, in_switches, card_optics),
    ]
    return Bill(
        lines=tuple(lines),
        cables=cables,
        transceivers=in_switches + card_optics,
        power=_total(line.power for line in lines),
        price=_total(line.price for line in lines),
        optic_failures=_failures(((parts.optic, in_switches), (parts.card_optic, card_optics))),
    )


def _media(runs: Sequence[Run], parts: Parts) -> Iterable[Cables]:
    """Yield the cables of each tier by medium: the first copper that reaches, else optics."""
    for tier in dict.fromkeys(run.tier for run in runs):
        rest = [run for run in runs if run.tier == tier and run.count]
        for copper in parts.copper:
            yield from _of(tier, copper, [run for run in rest if run.length <= copper.reach.low])
            rest = [run for run in rest if run.length > copper.reach.low]
        optic = parts.card_optic if tier == "card-leaf" else parts.optic
        yield from _of(tier, optic, rest)


def _of(tier: str, part: Optic, runs: list[Run]) -> Iterable[Cables]:
    if runs:
        yield Cables(
            tier=tier,
            part=part.name,
            copper=part.kind in ("copper", "active-copper"),
            count=sum(run.count for run in runs),
            shortest=min(run.length for run in runs),
            longest=max(run.length for run in runs),
            within_reach=max(run.length for run in runs) <= part.reach.low,
        )


def _copper_lines(cables: Sequence[Cables], copper: Sequence[Optic]) -> list[Line]:
    """Return the copper cables; both ends come with the cable, so a price or power counts twice."""
    lines = []
    for part in copper:
        ends = 2 * sum(one.count for one in cables if one.copper and one.part == part.name)
        if ends:
            counted = _line("copper", part, ends)
            lines.append(replace(counted, count=ends // 2))
    return lines


def _optic_lines(parts: Parts, in_switches: int, in_cards: int) -> list[Line]:
    """Return the optics of switches and of cards, together if they are the same part."""
    if parts.optic.name == parts.card_optic.name:
        counts = [(parts.optic, in_switches + in_cards)]
    else:
        counts = [(parts.optic, in_switches), (parts.card_optic, in_cards)]
    return [_line("optic", part, count) for part, count in counts if count]


def _line(role: str, part: Switch | Nic | Optic | None, count: int) -> Line:
    if part is None:
        return Line(role, None, count, None, None)
    seen = part.provenance.get("price.low")
    power, price = _times(part.power, count), _times(part.price, count)
    return Line(role, part.name, count, power, price, seen.as_of if seen else None)


def _times(span: Span | None, count: int) -> Span | None:
    return None if span is None else Span(span.low * count, span.high * count)


def _total(spans: Iterable[Span | None]) -> Span | None:
    """Return the sum; ``None`` if one of them is."""
    low = high = 0.0
    for span in spans:
        if span is None:
            return None
        low, high = low + span.low, high + span.high
    return Span(low, high)


def _failures(counts: Iterable[tuple[Optic, int]]) -> Span | None:
    """Return failures per day: count·day/MTBF, the longer time between failures the fewer."""
    return _total(
        NOTHING
        if count == 0
        else optic.mtbf and Span(count * DAY / optic.mtbf.high, count * DAY / optic.mtbf.low)
        for optic, count in counts
    )
