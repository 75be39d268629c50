"""Fleets and jobs for the tests of the fleet."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from artery.cloud.fleet_job import FleetJob
from artery.cloud.policies import POLICIES, Policy
from artery.core.failure import FailureClass, FailureModel, Severity
from artery.core.source import Source
from artery.simulator.fleet.fleet import Fleet
from artery.simulator.fleet.job import Job
from artery.simulator.fleet.play import run
from artery.simulator.fleet.setting import Costs, Setting


def job(name: str, submit: float, run_time: float, chips: int, **more: Any) -> FleetJob:
    """A job; rigid unless ``sizes`` are given."""
    return FleetJob(name, submit, run_time, chips, **{"sizes": (chips,), **more})


def mixed(count: int, seed: int, gap: float = 60.0) -> list[FleetJob]:
    """Jobs of many sizes, some elastic, of three priorities and four tenants."""
    draw = Random(seed)
    jobs, now = [], 0.0
    for number in range(count):
        now += draw.expovariate(1.0 / gap)
        chips = draw.choice([1, 1, 2, 4, 8, 8, 16, 24, 64])
        time = draw.lognormvariate(6.0, 1.2)
        sizes: tuple[int, ...] = (chips,)
        if chips >= 4 and draw.random() < 0.7:
            sizes = tuple(sorted({max(chips // 4, 1), chips // 2, chips, chips * 2} - {6, 12}))
        jobs.append(
            FleetJob(
                str(number), now, time, chips, time * (1 + 4 * draw.random()),
                draw.choice([0, 0, 1]), f"t{number % 4}", sizes,
            )
        )  # fmt: skip
    return jobs


def failing(
    rate: float, severity: Severity, *, count: int = 1, duration: float = 0.0
) -> FailureModel:
    """A model of one class; ``rate`` a second and part."""
    source = Source("test", "", "assumed")
    return FailureModel(
        "test",
        (FailureClass("test", "node", count, rate, rate, rate, severity, source, duration, 2.0),),
    )


def setting(nodes: int, per_node: int, policy: str | Policy, **more: Any) -> Setting:
    """A fleet of one leaf unless told otherwise."""
    chosen = POLICIES[policy] if isinstance(policy, str) else policy
    return Setting(nodes, per_node, chosen, **{"leaf": nodes, **more})


def costs(restart: float, interval: float, save: float = 0.0, resize: float = 0.0) -> Costs:
    """The same restart for every failure."""
    return Costs(restart, restart, resize, interval, save)


class Watched:
    """A fleet that is played, with what happened: (seconds, event, job id, number)."""

    def __init__(self, one: Setting, jobs: Sequence[FleetJob]) -> None:
        self.events: list[tuple[float, str, str, int]] = []
        self.names = [spec.id for spec in sorted(jobs, key=lambda spec: spec.submit)]
        self.fleet = Fleet(one, jobs, self._note)

    def _note(self, now: int, event: str, who: Job | None, number: int) -> None:
        name = "" if who is None else self.names[who.index]
        self.events.append((now / 1e6, event, name, number))

    def play(self) -> Watched:
        """Play it to the end."""
        run(self.fleet)
        return self

    def of(self, event: str) -> list[tuple[float, str]]:
        """When, and to whom, ``event`` happened."""
        return [(when, who) for when, what, who, _ in self.events if what == event]

    def job(self, name: str) -> Job:
        """The state of a job."""
        return self.fleet.jobs[self.names.index(name)]
