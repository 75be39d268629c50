"""What is told of failures beside a system, and the classes that follow from it.

The user's own faults, slow nodes, lemon nodes, young hardware and parts that take many nodes with
them. No rate of theirs is published per part, so all are off until they are told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, exp, expm1, log1p
from typing import Final

from artery.cloud.failures import RSC_1, RSC_1_JOBS, RSC_2, FailureRate
from artery.core.failure import FailureClass
from artery.core.source import Source
from artery.core.system import System
from artery.units.durations import DAY, HOUR

SLOW_TIME: Final = 72 * 60.0
"""Mean duration of a slow-down: 72 minutes (GREYHOUND, 2025)."""

SLOWDOWN: Final = 1.34
"""Step time with a slow node: jobs hit took 1.34 times as long (GREYHOUND)."""

LEMON_HARM: Final = log1p(-0.14) / log1p(-0.04)
"""Failures with lemon nodes over those without: 14 % of jobs of 512 chips or more failed before
lemons were taken out and 4 % after (arXiv 2410.21680), so 3.7 times the rate."""

NOTICE: Final = HOUR
"""Assumed: an hour until a silent error shows in the loss or in a check."""

SETTLING: Final = 30 * DAY
"""Assumed: what young hardware fails too often fades by a factor e in thirty days."""


LEMONS: Final = "lemon_node"
YOUNG: Final = "young_hardware"
"""The classes that can be taken out: by removing nodes, by running hardware in."""


def lemon_factor(share: float) -> float:
    """Return how many times as often a lemon fails, if ``share`` of the nodes do the harm.

    From (1 - s) + s·m = harm·1, all nodes at the rate of good ones but the lemons.

    >>> round(lemon_factor(0.012))
    226
    """
    return (LEMON_HARM - (1.0 - share)) / share


@dataclass(frozen=True, slots=True)
class Rates:
    """What is told about failures beside the system.

    ``node`` is failures per 1,000 node-days, between ``low`` and ``high`` by what is published.
    ``chips`` is the chips of the node that the rate is of: chips, network and silent errors count
    per chip of it, so that smaller nodes fail less; ``None`` takes the system's own node. The rest
    is off by default. ``user_faults`` counts a day and job, ``slow_nodes`` per 1,000 node-days,
    ``flaps`` per 1,000 link-days. A share ``lemons`` of the nodes fails :func:`lemon_factor` times
    as often. Hardware that has run for ``age`` seconds fails up to ``young`` times as often as
    settled hardware, taken as the mean over the first ``SETTLING`` of the job. Parts that stop
    ``domain_nodes`` nodes at once (a rack's power or cooling) fail ``domains`` times per 1,000
    part-days. ``notice`` is the seconds until a silent error shows, work that is lost with it.
    """

    node: FailureRate = RSC_1
    low: float = RSC_2.per_1000_node_days
    high: float = RSC_1_JOBS.per_1000_node_days
    chips: int | None = 8
    user_faults: float = 0.0
    slow_nodes: float = 0.0
    flaps: float = 0.0
    lemons: float = 0.0
    young: float = 1.0
    age: float = 0.0
    domains: float = 0.0
    domain_nodes: int = 1
    notice: float = NOTICE


def told_classes(system: System, rates: Rates) -> tuple[FailureClass, ...]:
    """Return the classes of what was told; none of those that are off."""
    classes = (
        _user_faults(rates),
        _slow_nodes(system, rates),
        *_more_of_nodes(system, rates),
        _domains(system, rates),
    )
    return tuple(each for each in classes if each.per_second > 0.0)


def _user_faults(rates: Rates) -> FailureClass:
    rate = rates.user_faults / DAY
    given = Source("given", "", "assumed")
    return FailureClass("user_fault", "job", 1, rate, rate, rate, "process", given)


def _slow_nodes(system: System, rates: Rates) -> FailureClass:
    rate = rates.slow_nodes / 1000 / DAY
    return FailureClass(
        name="slow_node",
        part="node",
        count=system.nodes,
        rate=rate,
        low=rate,
        high=rate,
        severity="slow",
        source=Source("rate given; 72 min and 1.34 times as long: GREYHOUND", "2025", "measured"),
        duration=SLOW_TIME,
        slowdown=SLOWDOWN,
    )


def _more_of_nodes(system: System, rates: Rates) -> Iterator[FailureClass]:
    """What lemons and young hardware fail on top of settled, good nodes."""
    if rates.lemons > 0.0:
        source = Source(
            "share given; harm: arXiv 2410.21680, 14 % to 4 % of jobs", "2024", "measured"
        )
        more = rates.lemons * (lemon_factor(rates.lemons) - 1.0)
        yield _node_class(LEMONS, system, rates, more, source)
    if rates.young > 1.0:
        source = Source("factor given; fades by e in thirty days: assumed", "", "assumed")
        mean = exp(-rates.age / SETTLING) * -expm1(-1.0)
        yield _node_class(YOUNG, system, rates, (rates.young - 1.0) * mean, source)


def _node_class(
    name: str, system: System, rates: Rates, more: float, source: Source
) -> FailureClass:
    """Failures of nodes, ``more`` times the rate of a node."""
    each = more / 1000 / DAY
    return FailureClass(
        name=name,
        part="node",
        count=system.nodes,
        rate=rates.node.per_1000_node_days * each,
        low=rates.low * each,
        high=rates.high * each,
        severity="node",
        source=source,
    )


def _domains(system: System, rates: Rates) -> FailureClass:
    rate = rates.domains / 1000 / DAY
    return FailureClass(
        name="domain",
        part=f"{rates.domain_nodes:,} nodes",
        count=ceil(system.nodes / rates.domain_nodes),
        rate=rate,
        low=rate,
        high=rate,
        severity="domain",
        source=Source("given", "", "assumed"),
    )
