"""A cabling as a :class:`~artery.formats.reading.Reading`: tiers, links per spine, faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from artery.cluster.cabling import Network
from artery.cluster.cabling.faults import faults
from artery.cluster.cabling.uplinks import spines
from artery.core.cabling import Cabling, End
from artery.core.finding import Finding
from artery.formats.reading import Ignored, Reading
from artery.formats.wording import counted
from artery.units import show_line_rate

SDR_4X: Final = 1.25e9
"""B/s per direction of four SDR lanes, the slowest InfiniBand link in use."""

_WORDS: Final = {
    "islands": "{parts} parts that no cable joins: a job cannot span them",
    "port_twice": "{ports} ports have more than one cable",
    "miswired_rail": "{cards} cards are on the leaf of another rail",
    "uncabled_card": "{hosts} hosts have fewer cables than the others, {missing} in all",
    "slow_link": "{links} of {of} cables are slower than most of their kind",
    "one_sided": "{links} cables are reported by one end only",
    "sideways": "{links} cables join switches of one tier",
}
"""What a fault is called where the figures are enough; a missing link is told per spine."""


def fabric_reading(cabling: Cabling, ignored: tuple[Ignored, ...] = ()) -> Reading:
    """Return the reading of a cabling, under its format's name."""
    network = Network(cabling)
    found = faults(network, {})
    fields = _fields(network, found)
    return Reading(
        cabling.format,
        "system",
        tuple(_summary(fields)),
        fields,
        (*cabling.warnings, *_warnings(fields, found)),
        ignored,
        cabling=cabling,
    )


def _fields(network: Network, found: tuple[Finding, ...]) -> dict[str, Any]:
    cabling = network.cabling
    hosts = [one for one in cabling.devices if one.kind == "host"]
    tops = spines(network)
    meant = sum(one.expected or one.links for one in tops)
    rates = Counter(cable.rate for cable in cabling.cables if cable.rate is not None)
    islands = [
        sorted(network.name(one) for one in part if network.is_host(one))
        for part in network.islands
    ]
    return {
        "hosts": len(hosts),
        "unnamed_hosts": sum(not one.named for one in hosts),
        "cards": len({(end.device, end.card) for end in _host_ends(network)}),
        "switches": len(network.tier),
        "cables": len(cabling.cables),
        "tiers": [
            {
                "tier": tier,
                "switches": len(network.switches(tier)),
                "cables_up": sum(network.above(one).total() for one in network.switches(tier)),
            }
            for tier in range(1, network.tiers + 1)
        ],
        "uplinks": sum(one.links for one in tops),
        "uplinks_expected": meant,
        "uplinks_missing": sum(one.missing for one in tops),
        "spines": [
            {"name": one.name, "links": one.links, "expected": one.expected, "missing": one.missing}
            for one in tops
        ],
        "islands": [len(part) for part in islands if part],
        "link_rates": [
            {"rate_bytes_per_s": rate, "cables": count} for rate, count in rates.most_common()
        ],
        "faults": [
            {"cause": one.cause, "severity": one.severity, "figures": dict(one.figures)}
            for one in found
        ],
    }


def _host_ends(network: Network) -> Iterator[End]:
    for leaf in network.tier:
        yield from network.cards_of(leaf)


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    tiers = ", ".join(f"{one['switches']} in tier {one['tier']}" for one in fields["tiers"])
    yield f"{counted(fields['hosts'], 'host')} on {fields['switches']} switches" + (
        f" ({tiers})" * bool(tiers)
    )
    rates = ", ".join(
        f"{one['cables']} of {show_line_rate(one['rate_bytes_per_s'])}"
        for one in fields["link_rates"]
    )
    yield counted(fields["cables"], "cable") + (f": {rates}" if rates else "")
    if fields["uplinks"]:
        yield f"{fields['uplinks']} links between tiers, {fields['uplinks_expected']} by design"
    if len(fields["islands"]) > 1:
        yield f"{len(fields['islands'])} parts without a cable between them"


def _warnings(fields: dict[str, Any], found: tuple[Finding, ...]) -> Iterator[str]:
    missing, meant = fields["uplinks_missing"], fields["uplinks_expected"]
    if missing:
        worst = sorted(fields["spines"], key=lambda one: -one["missing"])
        told = ", ".join(f"{one['name']} -{one['missing']}" for one in worst if one["missing"])
        yield f"{missing} of {meant} links between tiers are missing against the design: {told}"
    fastest = max((one["rate_bytes_per_s"] for one in fields["link_rates"]), default=None)
    if fastest is not None and fastest <= SDR_4X:
        yield "every link says 4x SDR (10 Gb/s), the oldest rate: a simulator, or all fell back"
    if fields["unnamed_hosts"]:
        yield f"{fields['unnamed_hosts']} of {fields['hosts']} hosts have no name of their own"
    for one in found:
        words = _WORDS.get(one.cause)
        if words is not None:
            yield words.format_map(one.figures) + _parts(one)


def _parts(one: Finding) -> str:
    """Return the sizes of the parts, where the fault is that there are several."""
    if one.cause == "islands":
        return f" ({'; '.join(one.evidence[:8])})"
    return f" ({one.evidence[0]})" if one.evidence else ""
