"""Which parts a network is built from, and how the others of the catalog compare with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from artery.catalog import names, nic, optic, switch
from artery.cluster.design.bill import Parts, links_per_optic
from artery.cluster.design.facts import PLUGGABLE_MTBF
from artery.cluster.design.hall import Run
from artery.core.parts import FabricKind, Nic, Optic, OpticKind, Span, Switch
from artery.errors import InputError, Problem, Problems
from artery.units import show_line_rate

YEAR: Final = 365.25 * 86400


@dataclass(frozen=True, slots=True)
class SwitchChoice:
    """A switch that has the ports; power and price of one port are ``None`` if unknown."""

    name: str
    fabric: FabricKind
    ports: int
    port_power: Span | None
    port_price: Span | None
    latency: Span | None
    chip_alone: bool


@dataclass(frozen=True, slots=True)
class Medium:
    """What may carry a link, by one end of it; ``reached`` is the share of the design's cables.

    ``failures_per_year`` of one end; ``reach`` in metres.
    """

    name: str
    kind: OpticKind
    reach: Span
    power: Span | None
    price: Span | None
    latency: float | None
    failures_per_year: Span | None
    reached: float


@dataclass(frozen=True, slots=True)
class Chosen:
    """The parts, and a note on each that nobody named."""

    parts: Parts
    notes: tuple[str, ...]


def choose(
    named_switch: Switch | None,
    named_nic: str | None,
    named_optic: str | None,
    radix: int,
    port: float,
) -> Chosen:
    """Return the parts: those named, else the first fitting of the catalog, with a note.

    Raises :class:`artery.errors.InputError` for an unknown part or one too slow for the port.
    """
    notes: list[str] = []
    box = named_switch or _first_switch(radix, port, notes)
    card = nic(named_nic) if named_nic else _first_nic(port, box, notes)
    module = optic(named_optic) if named_optic else _first_optic(port, notes)
    _fitting(box, card, module, port)
    end = module if module.kind == "microled" else _card_optic(module, port)
    copper = tuple(_copper(port))
    ends = [_with_rate(one, notes) for one in {one.name: one for one in (module, end)}.values()]
    return Chosen(Parts(box, card, ends[0], ends[-1], copper), tuple(notes))


def switch_choices(radix: int, port: float) -> tuple[SwitchChoice, ...]:
    """Return the catalog's switches with at least ``radix`` ports of ``port`` B/s."""
    return tuple(
        SwitchChoice(
            name=one.name,
            fabric=one.fabric,
            ports=one.radix_at(port),
            port_power=_per(one.power, one.radix_at(port)),
            port_price=_per(one.price, one.radix_at(port)),
            latency=one.latency,
            chip_alone=one.kind == "asic",
        )
        for one in _switches()
        if one.radix_at(port) >= radix
    )


def media(port: float, runs: Sequence[Run]) -> tuple[Medium, ...]:
    """Return what may carry links of ``port`` B/s, shortest reach first."""
    total = sum(run.count for run in runs)
    found = []
    for one in (optic(name) for name in names("optics")):
        if one.rate < port or one.rate > 2 * port:
            continue
        share = links_per_optic(one, port)
        reached = sum(run.count for run in runs if run.length <= one.reach.high)
        rate = one.mtbf and Span(YEAR / one.mtbf.high, YEAR / one.mtbf.low)
        found.append(
            Medium(
                name=one.name,
                kind=one.kind,
                reach=one.reach,
                power=_per(one.power, share),
                price=_per(one.price, share),
                latency=one.latency,
                failures_per_year=_per(rate, share),
                reached=reached / total,
            )
        )
    return tuple(sorted(found, key=lambda one: (one.reach.high, one.name)))


def _switches() -> Iterator[Switch]:
    """Yield the switches, boxes with a known power first, then by age."""
    every = [switch(name) for name in names("switches")]
    yield from sorted(every, key=lambda one: (one.kind != "box", one.power is None, one.year))


def _first_switch(radix: int, port: float, notes: list[str]) -> Switch | None:
    for one in _switches():
        if one.radix_at(port) == radix and one.fabric != "slingshot":
            notes.append(
                f"switch {one.name} is taken: it has {radix} ports of {show_line_rate(port)}"
            )
            return one
    return None


def _first_nic(port: float, box: Switch | None, notes: list[str]) -> Nic | None:
    every = [one for one in map(nic, names("nics")) if one.rate == port and _speaks(one, box)]
    order = ("nic", "supernic", "dpu", "ipu")
    for one in sorted(every, key=lambda one: (one.power is None, order.index(one.kind), one.year)):
        notes.append(f"card {one.name} is taken: its rate is {show_line_rate(port)}")
        return one
    return None


def _first_optic(port: float, notes: list[str]) -> Optic:
    """Return the slowest pluggable that is fast enough, one with a known failure rate first."""
    every = [one for one in map(optic, names("optics")) if one.kind == "optics"]
    fitting = [one for one in every if one.rate >= port and one.medium == "single mode"]
    if not fitting:
        fastest = max(every, key=lambda one: one.rate)
        rule = "no optic of the catalog is that fast"
        fix = f"up to {show_line_rate(fastest.rate)}, or name one of your own with --optic"
        raise InputError(Problem(field="--port", found=show_line_rate(port), rule=rule, fix=fix))
    one = min(fitting, key=lambda one: (one.mtbf is None, one.rate, one.price and one.price.low))
    notes.append(
        f"optic {one.name} is taken: {show_line_rate(one.rate)}, reach {one.reach.low:g} m"
    )
    return one


def _card_optic(module: Optic, port: float) -> Optic:
    """Return the optic at a card's end: as slow as the port, on the same medium."""
    ends = [one for one in map(optic, names("optics")) if one.kind == "optics"]
    fitting = [one for one in ends if one.rate == port and one.medium == module.medium]
    if module.rate == port and module.kind == "optics":
        return module
    return min(fitting, key=lambda one: (one.mtbf is None, one.name), default=module)


def _copper(port: float) -> Iterable[Optic]:
    """Return the copper cables of that very rate, shortest reach first."""
    every = [one for one in map(optic, names("optics")) if one.rate == port]
    copper = [one for one in every if one.kind in ("copper", "active-copper")]
    plain = [one for one in copper if "backplane" not in one.medium]
    return sorted(plain, key=lambda one: one.reach.high)


def _with_rate(module: Optic, notes: list[str]) -> Optic:
    """Return the optic with a mean time between failures, that of pluggables if it has none."""
    if module.mtbf is not None or module.kind != "optics":
        return module
    notes.append(f"failures of {module.name} are taken as those of pluggable optics in general")
    return replace(module, mtbf=PLUGGABLE_MTBF)


_PROTOCOLS: Final[dict[FabricKind, tuple[str, ...]]] = {
    "infiniband": ("InfiniBand",),
    "ethernet": ("Ethernet", "RoCE", "Falcon"),
    "slingshot": ("Slingshot",),
}
"""What the protocols of a card are called that speaks with a switch of that kind."""


def _speaks(card: Nic, box: Switch | None) -> bool:
    """Whether the card has a protocol of the switch."""
    said = " ".join(card.protocols)
    return box is None or any(word in said for word in _PROTOCOLS[box.fabric])


def _fitting(box: Switch | None, card: Nic | None, module: Optic, port: float) -> None:
    """Refuse parts too slow for the port, and a card that does not speak with the switch."""
    with Problems() as problems:
        for field, part in (("--nic", card), ("--optic", module)):
            if part is not None and part.rate < port:
                found = f'"{part.name}" of {show_line_rate(part.rate)}'
                rule = f"must carry a port of {show_line_rate(port)}"
                fix = "name a faster one, or a slower --port"
                problems.add(Problem(field=field, found=found, rule=rule, fix=fix))
        if box is not None and card is not None and not _speaks(card, box):
            found = f'"{card.name}" ({", ".join(card.protocols)})'
            rule = f"must speak with {box.name}, a switch of {box.fabric}"
            fix = "name a card of that kind, or another --switch"
            problems.add(Problem(field="--nic", found=found, rule=rule, fix=fix))


def _per(span: Span | None, count: int) -> Span | None:
    return None if span is None else Span(span.low / count, span.high / count)
