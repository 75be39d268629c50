"""The stage that every policy plays on: the system, its jobs, prices and failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from artery.answers.pricing import closed_form
from artery.answers.schedule.jobs import Jobs
from artery.answers.schedule.outages import granted, losses, planned
from artery.answers.schedule.request import Request
from artery.answers.schedule.result import Played
from artery.answers.schedule.sense import latest_end
from artery.answers.schedule.speed import Levels, Prices, Rates, Told, levels_of
from artery.answers.schedule.work import training
from artery.cloud.failure_model import failure_model
from artery.cloud.fleet_job import FleetJob
from artery.cloud.policies import Placing, Policy
from artery.core.failure import FailureModel
from artery.core.system import System
from artery.simulator.fleet.play import play
from artery.simulator.fleet.records import Recorder
from artery.simulator.fleet.setting import Setting

Progress = Callable[[str, int, int, float], None]
"""Told what is played, the jobs done, the jobs in all, and the seconds passed in the fleet."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything that does not change between policies."""

    system: System
    request: Request
    jobs: Jobs
    levels: Levels
    rates: Rates
    failures: FailureModel | None
    losses: float
    progress: Progress | None

    @property
    def prices(self) -> Prices:
        """What interruptions cost."""
        asked = self.request
        told = Told(
            asked.save_time, asked.restart_time, asked.resize_time, asked.interval,
            asked.store_bandwidth,
        )  # fmt: skip
        return Prices(self.system, self.rates, self.failures, told, self.losses)

    def setting(self, policy: Policy, nodes: int) -> Setting:
        """Return the setting of ``policy`` on the first ``nodes`` of the system."""
        asked, system = self.request, self.system
        failures = self.failures
        if failures is not None and nodes != system.nodes:
            share = nodes / system.nodes
            classes = (replace(each, rate=each.rate * share) for each in failures.classes)
            failures = replace(failures, classes=tuple(classes))
        return Setting(
            nodes=nodes,
            per_node=system.chips_per_node,
            policy=replace(
                policy,
                placing=cast("Placing", asked.placing),
                max_wait=asked.max_wait,
                defragment=asked.defragment,
            ),
            leaf=min(self.levels.leaf, nodes),
            pod=self.levels.pod,
            speeds=self.rates.speed,
            costs=self.prices.costs,
            failures=failures,
            repair=asked.repair_time,
            spares=asked.spares,
            maintenance=planned(asked.maintenance, nodes),
            capacity=granted(asked.spot, nodes),
            seed=asked.seed,
        )

    def play(
        self,
        policy: Policy,
        jobs: Sequence[FleetJob],
        nodes: int,
        *,
        what: str = "",
        recorded: bool = False,
    ) -> Played:
        """Return what comes of ``jobs`` under ``policy`` on ``nodes``."""
        recorder = Recorder(jobs) if recorded else None
        told, name = self.progress, what or policy.name
        end = latest_end(jobs, nodes * self.system.chips_per_node)
        outcome = play(
            replace(self.setting(policy, nodes), until=end),
            jobs,
            record=recorder,
            progress=None if told is None else lambda *how_far: told(name, *how_far),
        )
        price = self.system.chip_hour_price
        cost = None if price is None else price * outcome.chips * outcome.span / 3600.0
        slices = () if recorder is None else recorder.finish(outcome.span)
        return Played(policy, outcome, cost, slices)


def stage_for(
    system: System, request: Request, jobs: Jobs, progress: Progress | None = None
) -> Stage:
    """Return the stage on which ``jobs`` are played on ``system``, as was asked for."""
    levels, rates = levels_of(system), request.rates
    return Stage(
        system=system,
        request=request,
        jobs=jobs,
        levels=levels,
        rates=Rates(
            system,
            [training(kind, system) for kind in jobs.kinds],
            closed_form,
            levels,
            request.network == "simulate",
        ),
        failures=None if rates is None else failure_model(system, rates),
        losses=losses(request.spot),
        progress=progress,
    )
