"""How messages are sent under a scenario: segments, and how many may be under way."""

from __future__ import annotations

from math import ceil

from artery.core.system import System
from artery.native.messages import Transport
from artery.simulator.choice import Chosen
from artery.simulator.network.buffers import window as buffered_window
from artery.simulator.scenario import Scenario, protocol


def transport_of(system: System, scenario: Scenario, chosen: Chosen) -> Transport:
    """Return how messages are sent: the transport's window, or a node's own where that is larger.

    Inside a node no window holds the links back: it must cover their bandwidth times delay, on a
    torus that of its longest way, for neighbours hand on hop by hop.
    """
    known = protocol(scenario.transport)
    inner = system.tiers[0] if system.tiers else None
    window = known.window
    if inner is not None:
        hops = max(sum(inner.dims) - len(inner.dims), 1)
        delay = 2 * hops * inner.latency * inner.link.bandwidth * inner.link.efficiency
        window = max(window, ceil(delay / known.segment) + 2)
    if not chosen.segment:
        return Transport(0, window, scenario.packet, least=1)
    if chosen.control != "none":
        window = max(window, buffered_window(scenario))
    return Transport(chosen.segment, window, scenario.packet)
