"""``schedule``: a fleet of jobs on a cluster, under one policy after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from artery.answers.arguments import check_declared, check_kinds
from artery.answers.numbers import own_numbers
from artery.answers.schedule.jobs import Jobs, jobs_of, read_trace
from artery.answers.schedule.pools import serving
from artery.answers.schedule.request import Request, read_request, refuse_fleet
from artery.answers.schedule.result import Played, ScheduleAnswer, Sizing
from artery.answers.schedule.sense import refuse_hopeless, too_large
from artery.answers.schedule.sizing import sized_for
from artery.answers.schedule.spot import on_spot
from artery.answers.schedule.stage import Progress, Stage, stage_for
from artery.answers.schedule.work import Kind
from artery.answers.systems import system_of
from artery.cloud.fleet_job import FleetJob
from artery.cloud.policies import POLICIES, Policy
from artery.core.system import System
from artery.errors import InputError, Problem
from artery.formats.wording import counted


@own_numbers
def schedule(
    trace: str,
    on: str,
    *,
    overrides: Sequence[str] = (),
    recorded: bool = False,
    progress: Progress | None = None,
    **options: Any,  # noqa: ANN401 - the fields of Request, each typed there
) -> ScheduleAnswer:
    """Return what comes of the jobs of ``trace`` on the system ``on``, policy by policy.

    ``trace`` is a file of jobs (Philly, openb, Helios, Acme, ``sacct``, or a list of ours) or
    ``synthetic:MIX``; ``options`` are the fields of
    :class:`artery.answers.schedule.request.Request`. ``recorded`` keeps what every job did when.

    Raises ``InputError`` and ``UsageError``.
    """
    check_kinds(str, trace=trace, on=on)
    check_declared(schedule, {"recorded": recorded, "progress": progress})
    request = read_request(options)
    system, reading = _whole_nodes(system_of(on, overrides)), read_trace(trace)
    if request.spares >= system.nodes:
        rule = f"fewer than the {system.nodes} nodes"
        problem = Problem(field="spares", found=str(request.spares), rule=rule, fix="fewer spares")
        raise InputError(problem)
    if reading is not None and reading.fields.get("table") == "capacity":
        refuse_fleet(options)
        return _spot(trace, dict(reading.fields), system, request)
    jobs = jobs_of(trace, reading, system, request)
    stage = stage_for(system, request, jobs, progress)
    refuse_hopeless(stage.rates, stage.prices, jobs.jobs, request.repair_time)
    policies = [POLICIES[name] for name in dict.fromkeys(request.policies)]
    pools = None
    if request.serve is not None:
        pools = serving(request.serve, stage, policies, recorded=recorded)
        played = pools.shared
    else:
        played = tuple(
            stage.play(policy, jobs.jobs, system.nodes, recorded=recorded) for policy in policies
        )
    sized = None if request.size_for is None else sized_for(request.size_for, stage, played, pools)
    return ScheduleAnswer(
        system=system,
        request=request,
        jobs=jobs,
        load=_load(jobs.jobs, system.chips),
        failures=stage.failures,
        played=played,
        sizing=sized,
        pools=pools,
        spot=None,
        warnings=(*_warnings(stage, played), *_unreached(sized), *(pools.notes if pools else ())),
    )


def _unreached(sized: Sizing | None) -> tuple[str, ...]:
    """Which policies need more chips than were tried, and why."""
    rows = () if sized is None else sized.rows
    return tuple(f"{each.policy}: no size found, {each.why}" for each in rows if each.why)


def _whole_nodes(system: System) -> System:
    """Return the system without its part-filled last node; a part of one node is a node."""
    if system.chips <= system.chips_per_node:
        return replace(system, chips_per_node=system.chips)
    rest = system.chips % system.chips_per_node
    if not rest:
        return system
    note = f"the last node, of {rest} chips, is left out: jobs above a node take whole ones"
    return replace(system, chips=system.chips - rest, warnings=(*system.warnings, note))


def _spot(trace: str, fields: dict[str, Any], system: System, request: Request) -> ScheduleAnswer:
    """One job on the instances of a spot trace."""
    if request.model is None:
        kind = Kind("bert-large", why="fits on one chip")
        notes = [f"the job is taken to train {kind.model}: --model names another"]
    else:
        kind = Kind(request.model, request.tp or 1, request.pp or 1, request.cp or 1)
        notes = []
    stage = stage_for(system, request, Jobs((), (kind,), "jobtrace-aws-spot", ()))
    found = on_spot(trace, fields, stage, 0)
    played = tuple(Played(Policy(way.name), way.outcome, None) for way in found.ways)
    notes += [*found.unfit, "an instance is taken to be a node of the system"]
    warnings = (*system.warnings, *notes)
    return ScheduleAnswer(
        system, request, stage.jobs, 0.0, None, played, None, None, found, warnings
    )


def _load(jobs: Sequence[FleetJob], chips: int) -> float:
    """Chip-time asked for over the chips' time until the last submission."""
    span = max(job.submit for job in jobs) - min(job.submit for job in jobs)
    work = sum(job.chips * job.run for job in jobs)
    return work / (chips * span) if span else 0.0


def _warnings(stage: Stage, played: Sequence[Played]) -> tuple[str, ...]:
    """What the system warns of, what is assumed, and what the runs showed."""
    request = stage.request
    said = [*stage.system.warnings, *stage.jobs.notes, *too_large(stage.rates, stage.jobs.jobs)]
    if stage.failures is None:
        said.append("no failures are played; --rate rsc-1 plays them at a published rate")
    if any(each.policy.elastic for each in played) and request.elastic > 0:
        said.append(
            "traces do not say which jobs are elastic: "
            f"{request.elastic:.0%} of those of several chips are taken to be, "
            "from a quarter of their chips to double; --elastic sets the share"
        )
    if any(tier.kind == "torus" for tier in stage.system.tiers):
        said.append("on a torus the shape of a slice is not checked: any free nodes will do")
    if any(p.policy.name == "backfill-limits" for p in played) and not any(
        job.limit for job in stage.jobs.jobs
    ):
        said.append("no job has a time limit of its user: backfill-limits plays as backfill")
    for each in played:
        left = each.outcome.jobs - each.outcome.finished
        if left:
            said.append(
                f"{each.policy.name}: {counted(left, 'job')} had not finished when it ended"
            )
    return tuple(dict.fromkeys(said))
