"""Finite port buffers: where they are, how large, and when they are played.

Ports outside the nodes hold what they cannot pass on: beyond ``ROOM`` of one class they pause the
sender (priority flow control on Ethernet) or have no credit left for it (InfiniBand). Inside a
node nothing is held: its links have their own credits, which are not played.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from artery.cluster.dragonfly import Dragonfly
from artery.cluster.network import Network, Tree
from artery.cluster.wiring import Assembly
from artery.core.system import System
from artery.errors import InputError, Problem
from artery.native.messages import Buffers
from artery.native.work import PICOSECONDS
from artery.simulator.placed import Placed
from artery.simulator.scenario import Scenario, protocol

Control = Literal["none", "pause", "credit"]

ROOM: Final = 400_000
"""Bytes of one class at one port: a fifth of the 2 MB a port of a 64 MB switch with 32 ports,
shared by its classes; assumed."""

RESUME: Final = 0.75
"""Share of ``ROOM`` at which a paused sender goes on; assumed."""

WINDOW: Final = 512
"""Segments under way of one message where buffers are finite: 16 MiB, many times what they hold, as
neither RoCE nor InfiniBand has a window of its own beside its flow control."""

MARKED: Final = 64
"""The same where marks make senders slow down: 2 MiB, from which they come down in a few round
trips; assumed."""

ENDLESS: Final = 2**60
"""Bytes that never are."""

ASKED: Final[dict[str, Control]] = {"none": "none", "pfc": "pause", "credit": "credit"}


def control_of(system: System, jobs: tuple[Placed, ...], scenario: Scenario) -> Control:
    """Return how full buffers stop their senders, ``none`` where all are taken as endless.

    ``auto`` plays the transport's own flow control where it has somebody to harm: with an uneven
    matrix, or other jobs. Raises ``InputError`` where flow control is asked for on a network whose
    circles of links would lock up: their virtual channels are not played.
    """
    asked = scenario.flow_control
    structure = system.router.structure
    able = isinstance(structure, Assembly) and structure.fabric is not None
    circles = not isinstance(structure, Assembly) or isinstance(structure.fabric, Dragonfly)
    if asked == "auto":
        uneven = any(not isinstance(job.size, int) for job in jobs)
        several = len({job.job for job in jobs}) > 1
        harm = able and not circles and (uneven or several)
        return protocol(scenario.transport).control if harm else "none"
    if asked != "none" and circles:
        raise InputError(
            Problem(
                field="flow-control",
                found=f"{asked} on {system.name}",
                rule="full buffers are played on trees of switches, where no circle can lock up",
                fix="--flow-control none",
            )
        )
    return ASKED[asked]


def window(scenario: Scenario) -> int:
    """Return the segments of one message that may be under way where buffers are finite."""
    return MARKED if protocol(scenario.transport).mark else WINDOW


def buffers(
    network: Network, scenario: Scenario, control: Control, segment: int, links: int
) -> Buffers | None:
    """Return the buffers of ``links`` links, ``None`` where they are endless.

    Links beyond those of the network hold nothing back. What is on its way while word goes back,
    2·latency·rate and two segments, is headroom, or is added to the credits, so that a link alone
    runs at its rate.
    """
    if control == "none":
        return None
    flying = np.ceil(2 * network.latency * (network.rate / PICOSECONDS)).astype(np.int64)
    flying += 2 * segment
    plan = network.plan
    held = network.kind >= (plan.port if isinstance(plan, Tree) else len(network.links))
    room = np.where(held, ROOM + (flying if control == "credit" else 0), ENDLESS)
    resume = np.where(held, int(RESUME * ROOM), ENDLESS)
    others = np.full(links - len(held), ENDLESS)
    room, resume, flying = (np.concatenate([one, others]) for one in (room, resume, flying))
    return Buffers(control, room, resume, flying, protocol(scenario.transport).mark)
