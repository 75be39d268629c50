"""What a fleet is played on: the cluster, the policy, what fails, and what things cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from artery.cloud.policies import Policy
from artery.core.failure import FailureModel


class Place(NamedTuple):
    """A placement's signature: the workload, the chips asked for and those held, where they lie."""

    kind: int
    asked: int
    chips: int
    leaves: int
    pods: int


class Costs(NamedTuple):
    """What interruptions cost a job on so many chips, in seconds.

    ``process`` and ``node`` pass from a failure until work goes on, ``resize`` for a planned
    change. ``interval`` of work lies between checkpoints, each of which blocks for ``save``.
    """

    process: float
    node: float
    resize: float
    interval: float
    save: float


FREE = Costs(0.0, 0.0, 0.0, inf, 0.0)
"""Nothing costs anything, and nothing is saved."""

Speeds = Callable[[Place], float]
"""Speed at a placement over that on the chips asked for, well placed."""

CostsOf = Callable[[int, int], Costs]
"""Costs by workload and chips."""


class Maintenance(NamedTuple):
    """From ``start`` on, for ``duration`` seconds, the nodes ``first`` to ``last`` are out."""

    start: float
    duration: float
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Setting:
    """``nodes`` of ``per_node`` chips, ``leaf`` nodes to a leaf, ``pod`` leaves to a pod.

    ``failures`` is the model of all nodes together; a lost node is back after ``repair`` seconds.
    ``spares`` nodes are given to nobody but in the place of a lost one. ``capacity`` has, from
    each time in seconds on, the nodes that a provider grants (spot). It ends at ``until`` seconds,
    by default with the last job.
    """

    nodes: int
    per_node: int
    policy: Policy
    leaf: int
    pod: int = 1
    speeds: Speeds = lambda _: 1.0
    costs: CostsOf = lambda _, __: FREE
    failures: FailureModel | None = None
    repair: float = 86400.0
    spares: int = 0
    maintenance: tuple[Maintenance, ...] = ()
    capacity: tuple[tuple[float, int], ...] = ()
    until: float = inf
    seed: int = 0
