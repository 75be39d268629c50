"""The failure model of one system: published rates times the parts that it has.

The rate per node-day is what a job sees of its nodes: chips, hosts, network cards and their cables,
software, maintenance. It is shared out over causes as in Llama 3 (arXiv 2407.21783, table 5).
Leaf switches and flapping links are counted apart, and so is what must be told: see
:mod:`artery.cloud.told_failures`.
"""

from __future__ import annotations

from math import exp
from typing import Final

from artery.cloud.told_failures import Rates, told_classes
from artery.core.failure import FailureClass, FailureModel, Severity
from artery.core.source import Source
from artery.core.system import System
from artery.units.durations import DAY

MONTH: Final = 30 * DAY

CAUSES: Final[dict[str, tuple[int, Severity]]] = {
    "chip": (262, "node"),
    "host": (21, "node"),
    "network": (35, "node"),
    "maintenance": (32, "node"),
    "software": (63, "process"),
    "silent_error": (6, "silent"),
}
"""Interruptions by cause, of 419. Chip: faulty GPU 148, HBM3 72, SRAM 19, system processor 17,
thermal sensor 6. Host: NIC 7, SSD 3, power supply 3, chassis, I/O board, CPU, memory 2 each.
Network: switch or cable 35. Maintenance 32. Software: bugs 54, NCCL watchdog 7, dependency 2.
Silent data corruption 6. Llama 3, arXiv 2407.21783, table 5."""

PER_CHIP: Final = ("chip", "network", "silent_error")
"""Causes that a node has in proportion to its chips; each has a network card of its own."""

LEAF_SWITCH: Final = 0.00051 / MONTH
"""Critical errors of a top-of-rack switch a second: 0.051 % of them a month (Alibaba HPN,
SIGCOMM 2024)."""

FLAP_TIME: Final = 5.0
"""Assumed: mean seconds that a flapping link is down."""


def retry_window(timeout: int = 20, retries: int = 7) -> float:
    """Return the seconds that a queue pair retries before it gives up: 4.096 µs·2^timeout·retries.

    InfiniBand specification, section 9.7.6.1.3; the defaults are NCCL's ``NCCL_IB_TIMEOUT`` and
    ``NCCL_IB_RETRY_CNT``.

    >>> round(retry_window(), 1)
    30.1
    """
    return 4.096e-6 * 2.0**timeout * retries


def failure_model(system: System, rates: Rates) -> FailureModel:
    """Return the failure model of all of ``system``."""
    return FailureModel(
        rates.node.fleet,
        (
            *_node_classes(system, rates),
            *_network_classes(system, rates),
            *told_classes(system, rates),
        ),
    )


def _node_classes(system: System, rates: Rates) -> tuple[FailureClass, ...]:
    total = sum(count for count, _ in CAUSES.values())
    source = Source(
        f"{rates.node.source}; shared out as in arXiv 2407.21783, table 5", "2024", "measured"
    )

    def named(name: str, count: int, severity: Severity) -> FailureClass:
        by_chip = rates.chips is not None and name in PER_CHIP
        share = count / total / 1000 / DAY / (rates.chips or 1 if by_chip else 1)
        return FailureClass(
            name=name,
            part="chip" if by_chip else "node",
            count=system.chips if by_chip else system.nodes,
            rate=rates.node.per_1000_node_days * share,
            low=rates.low * share,
            high=rates.high * share,
            severity=severity,
            source=source,
            duration=rates.notice if severity == "silent" else 0.0,
        )

    return tuple(named(name, *cause) for name, cause in CAUSES.items())


def leaf_switches(system: System) -> tuple[int, bool]:
    """Return the switches next to the nodes, and whether each node hangs on more than one plane.

    A torus, or a system that is one node, has none.
    """
    outside = [tier for tier in system.tiers if tier.chips > system.chips_per_node]
    if not outside:
        return 0, False
    name = outside[0].name
    planes = [
        group.count
        for group in system.groups
        if group.kind == "switch" and (group.name == name or group.name.startswith(f"{name}-"))
    ]
    return sum(planes), len(planes) > 1


def _network_classes(system: System, rates: Rates) -> tuple[FailureClass, ...]:
    switches, twofold = leaf_switches(system)
    hpn = Source("Alibaba HPN, SIGCOMM 2024", "2024", "measured")
    classes = [
        FailureClass(
            name="leaf_switch",
            part="leaf switch",
            count=switches,
            rate=LEAF_SWITCH,
            low=LEAF_SWITCH,
            high=LEAF_SWITCH,
            severity="stall" if twofold else "domain",
            source=hpn,
            duration=FLAP_TIME,
        )
    ]
    links = sum(group.count for group in system.groups if group.kind == "nic")
    flap = rates.flaps / 1000 / DAY
    window = retry_window()
    outlasts = exp(-window / FLAP_TIME)
    given = Source("given; time down assumed exponential, mean 5 s", "", "assumed")
    waits: tuple[tuple[str, float, Severity], ...] = (
        ("short_flap", flap * (1 - outlasts), "stall"),
        ("long_flap", flap * outlasts, "process"),
    )
    # The mean of an exponential time, given that it ends within the window.
    short = FLAP_TIME - window * outlasts / (1 - outlasts)
    classes += [
        FailureClass(name, "link", links, rate, rate, rate, severity, given, short)
        for name, rate, severity in waits
    ]
    return tuple(each for each in classes if each.per_second > 0.0)
