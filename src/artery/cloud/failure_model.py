"""The failure model of one system: published rates times the parts that it has.

The rate per node-day is what a job sees of its nodes: chips, hosts, network cards and their cables,
software, maintenance. It is shared out over causes as in Llama 3 (arXiv 2407.21783, table 5).
Leaf switches, flapping links, slow nodes and the user's own faults are counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Final

from artery.cloud.failures import DAY, RSC_1, RSC_1_JOBS, RSC_2, FailureRate
from artery.core.failure import FailureClass, FailureModel, Severity
from artery.core.source import Source
from artery.core.system import System

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

NOTICE: Final = 3600.0
"""Assumed: an hour until a silent error shows in the loss or in a check."""

SLOW_TIME: Final = 72 * 60.0
"""Mean duration of a slow-down: 72 minutes (GREYHOUND, 2025)."""

SLOWDOWN: Final = 1.34
"""Step time with a slow node: jobs hit took 1.34 times as long (GREYHOUND)."""

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


@dataclass(frozen=True, slots=True)
class Rates:
    """What is told about failures beside the system.

    ``node`` is failures per 1,000 node-days, between ``low`` and ``high`` by what is published.
    ``chips`` is the chips of the node that the rate is of: chips, network and silent errors count
    per chip of it, so that smaller nodes fail less; ``None`` takes the system's own node.
    ``user_faults`` counts a day and job, ``slow_nodes`` per 1,000 node-days, ``flaps`` per 1,000
    link-days. The last three are 0 by default: no rate of theirs is published per part.
    """

    node: FailureRate = RSC_1
    low: float = RSC_2.per_1000_node_days
    high: float = RSC_1_JOBS.per_1000_node_days
    chips: int | None = 8
    user_faults: float = 0.0
    slow_nodes: float = 0.0
    flaps: float = 0.0


def failure_model(system: System, rates: Rates) -> FailureModel:
    """Return the failure model of all of ``system``."""
    return FailureModel(
        rates.node.fleet,
        (*_node_classes(system, rates), *_network_classes(system, rates), *_others(system, rates)),
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
            duration=NOTICE if severity == "silent" else 0.0,
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


def _others(system: System, rates: Rates) -> tuple[FailureClass, ...]:
    user, slow = rates.user_faults / DAY, rates.slow_nodes / 1000 / DAY
    given = Source("given", "", "assumed")
    lasts = Source("rate given; 72 min and 1.34 times as long: GREYHOUND", "2025", "measured")
    classes = (
        FailureClass("user_fault", "job", 1, user, user, user, "process", given),
        FailureClass(
            name="slow_node",
            part="node",
            count=system.nodes,
            rate=slow,
            low=slow,
            high=slow,
            severity="slow",
            source=lasts,
            duration=SLOW_TIME,
            slowdown=SLOWDOWN,
        ),
    )
    return tuple(each for each in classes if each.per_second > 0.0)
