"""The network as a scenario leaves it: what has failed, what is slower, what others take."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from artery.cluster.network import Tree
from artery.cluster.routing import Network, network
from artery.collective.groups import inner_tiers
from artery.core.arrays import Ints
from artery.core.system import System
from artery.errors import InputError, Problem
from artery.native.fluid import NEVER
from artery.native.work import PICOSECONDS, Links
from artery.simulator.scenario import Scenario, protocol


@dataclass(frozen=True, slots=True, eq=False)
class Wires:
    """``network`` on which paths are found, and what has not ``left`` it when it fails later.

    ``fails`` says when each link fails (ps), if any does during the run; the paths that avoid
    those links are then found on ``left``.
    """

    network: Network
    left: Network | None = None
    fails: Ints | None = None

    @property
    def links(self) -> Links:
        """The links as the engines take them."""
        return Links(self.network.rate, self.network.latency, self.fails)


def wired(system: System, scenario: Scenario) -> Wires:
    """Return the network of ``system`` under ``scenario``.

    Raises ``InputError`` for links, switches or chips that are not there.
    """
    whole = network(system)
    whole = replace(whole, latency=_latencies(system, whole, scenario))
    broken = whole
    if scenario.failed:
        broken = broken.fail(scenario.failed, scenario.seed)
    if scenario.failed_switches:
        broken = broken.fail_vertices(failed_switches(whole, scenario)[0])
    rate = _rates(system, whole, scenario)
    broken = replace(broken, rate=rate)
    if not scenario.failing or broken.whole:
        return Wires(broken)
    fails = np.where(broken.up, NEVER, round(scenario.failing * PICOSECONDS))
    return Wires(replace(whole, rate=rate), broken, fails.astype(np.int64))


def at_rates(wires: Wires, rate: Ints) -> Wires:
    """Return the same links at other rates, B/s."""
    return replace(wires, network=replace(wires.network, rate=rate))


def _latencies(system: System, whole: Network, scenario: Scenario) -> Ints:
    """Return the latency of each link, ps: none if steps are counted by who asks.

    Inside nodes no more than what the library's steps, measured, leave room for.
    """
    if not scenario.latency:
        return np.zeros_like(whole.latency)
    if scenario.nearness == 1.0:
        return whole.latency
    own = {tier.link.name for tier in system.tiers[: inner_tiers(system)]}
    near = np.array([scenario.nearness if link.name in own else 1.0 for link in whole.links])
    return np.asarray((whole.latency * near[whole.kind]).astype(np.int64))


def _rates(system: System, whole: Network, scenario: Scenario) -> Ints:
    """Return what transport, library, slow chips and others leave of each link's rate, B/s."""
    known = protocol(scenario.transport)
    outside = known.reordered if scenario.routing == "spray" else known.efficiency
    own = {tier.link.name for tier in system.tiers[: inner_tiers(system)]}
    inside, beside = scenario.inside, scenario.beside
    share = np.array([inside if link.name in own else beside for link in whole.links])
    if isinstance(whole.plan, Tree):
        domain = len(whole.plan.within.whole.domain.links)
        share[domain:] = outside * scenario.outside
        share[whole.plan.core :] *= 1.0 - scenario.background
    if not scenario.slow and (share == 1.0).all():
        return whole.rate
    rate = whole.rate * share[whole.kind]
    if scenario.slow:
        edges = whole.edges()
        factor = np.ones(sum(group.count for group in whole.groups))
        for chip, times in scenario.slow.items():
            _there(chip, whole.groups[0].count)
            factor[chip] = times
        rate = rate / np.maximum(factor[edges.source], factor[edges.target])
    return np.asarray(np.maximum(rate.astype(np.int64), 1))


def _there(chip: int, chips: int) -> None:
    if not 0 <= chip < chips:
        raise InputError(
            Problem(
                field="slow",
                found=f"rank on chip {chip}",
                rule=f"there are {chips:,} chips, numbered from 0",
                fix=f"0 to {chips - 1}",
            )
        )


def failed_switches(whole: Network, scenario: Scenario) -> tuple[list[int], bool]:
    """Return the switches between nodes that fail, drawn, and whether they have hosts.

    They have only where no switch stands above the leaves. Raises ``InputError`` for more than
    there are.
    """
    if not scenario.failed_switches:
        return [], False
    found: list[int] = []
    first, beyond = 0, False
    for group in whole.groups:
        if beyond:
            found += range(first, first + group.count)
        beyond = beyond or group.kind == "nic"
        first += group.count
    if scenario.failed_switches > len(found):
        raise InputError(
            Problem(
                field="fail-switches",
                found=str(scenario.failed_switches),
                rule=f"there are {len(found):,} switches between nodes",
                fix=f"at most {len(found)}",
            )
        )
    above = _above_leaves(whole, found)
    drawn = np.random.default_rng(scenario.seed).permutation(len(above))
    taken = [above[place] for place in drawn[: scenario.failed_switches].tolist()]
    return taken, len(above) == len(found)


def _above_leaves(whole: Network, switches: list[int]) -> list[int]:
    """Return the switches without hosts, if there are any; else all."""
    edges = whole.edges()
    first, last = (whole.plan.port, whole.plan.core) if isinstance(whole.plan, Tree) else (0, 0)
    with_hosts = np.unique(edges.target[(edges.link >= first) & (edges.link < last)])
    found = [one for one in switches if one not in set(with_hosts.tolist())]
    return found or switches
