"""A pool that training and serving share, against one that is cut in two."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, cos, pi
from typing import Final

from artery.answers.schedule.result import Played, Pools
from artery.answers.schedule.stage import Stage
from artery.cloud.fleet_job import FleetJob
from artery.cloud.policies import Policy
from artery.errors import InputError, Problem, Problems
from artery.units.durations import DAY, HOUR

STEP: Final = HOUR
"""The number of replicas follows the load every hour."""

FIRST: Final = 1_000_000
"""Assumed: serving goes before any training."""


def serving(text: str, stage: Stage, policies: Sequence[Policy], *, recorded: bool) -> Pools:
    """Return what comes of serving ``chips=N,peak=N,replica=N`` beside the jobs.

    The load goes up and down once a day between the two, as a cosine (assumed); a replica holds
    ``replica`` chips. Apart, the pool for serving has the nodes that the peak needs. Raises
    ``InputError``.
    """
    chips, peak, replica = _told(text, stage)
    jobs = stage.jobs.jobs
    begin = min(job.submit for job in jobs)
    end = max(job.submit + job.run for job in jobs)
    replicas = _replicas(chips, peak, replica, begin, end)
    system = stage.system
    own = -(-peak // system.chips_per_node)
    left = system.nodes - own
    most = max(-(-job.chips // system.chips_per_node) for job in jobs)
    if left < most + stage.request.spares:
        rule = f"training has a job of {most} nodes; {left} are left beside serving"
        raise InputError(Problem(field="serve", found=f"peak={peak}", rule=rule, fix="fewer"))
    return Pools(
        chips=chips,
        peak=peak,
        reserved=own * system.chips_per_node,
        shared=tuple(
            stage.play(each, [*jobs, *replicas], system.nodes, recorded=recorded)
            for each in policies
        ),
        apart=tuple(_apart(stage, each, left) for each in policies),
        replicas=tuple(replicas),
        notes=_notes(text, chips, peak, replica),
    )


def _notes(text: str, chips: int, peak: int, replica: int) -> tuple[str, ...]:
    """What of the serving was not told."""
    told = {part.partition("=")[0] for part in text.split(",")}
    values = {"chips": chips, "peak": peak, "replica": replica}
    guessed = ", ".join(f"{name}={value}" for name, value in values.items() if name not in told)
    said = ["serving is taken to be least at midnight and most at noon, as a cosine over the day"]
    if guessed:
        said.append(f"serving: {guessed} assumed; --serve chips=N,peak=N,replica=N says them")
    return tuple(said)


def _apart(stage: Stage, policy: Policy, nodes: int) -> Played:
    return stage.play(policy, stage.jobs.jobs, nodes, what=f"{policy.name}, apart")


def _told(text: str, stage: Stage) -> tuple[int, int, int]:
    """Chips at least, at most, and of one replica."""
    told = {"chips": 0, "peak": 0, "replica": 1}
    with Problems() as problems:
        for part in text.split(","):
            name, _, value = part.partition("=")
            fine = name in told and value.isascii() and value.isdigit() and int(value[:10]) > 0
            if fine and int(value[:10]) <= stage.system.chips:
                told[name] = int(value)
                continue
            rule = f"is chips=N,peak=N,replica=N, each 1 to {stage.system.chips:,}"
            fix = "chips=10,peak=40"
            problems.add(Problem(field="serve", found=f'"{part}"', rule=rule, fix=fix))
        least = told["chips"] or told["replica"]
        if 0 < told["peak"] < least:
            found = f"peak={told['peak']} below {least} chips"
            rule = "the peak is the most, chips the least that serves, a replica at least"
            problems.add(
                Problem(field="serve", found=found, rule=rule, fix=f"peak={least} or more")
            )
    chips = told["chips"] or told["replica"]
    peak = max(told["peak"], chips)
    replica = told["replica"]
    return ceil(chips / replica) * replica, ceil(peak / replica) * replica, replica


def _replicas(chips: int, peak: int, replica: int, begin: float, end: float) -> list[FleetJob]:
    """The replicas as jobs: the n-th is there whenever n of them are needed."""
    found: list[FleetJob] = []
    hours = max(1, ceil((end - begin) / STEP))
    needed = [_needed(chips, peak, replica, hour) for hour in range(hours)] + [0]
    for which in range(peak // replica):
        since: int | None = None
        for hour, count in enumerate(needed):
            if count > which and since is None:
                since = hour
            elif count <= which and since is not None:
                found.append(
                    FleetJob(
                        f"serve-{which}-{since}", begin + since * STEP, (hour - since) * STEP,
                        replica, None, FIRST, "serving", (replica,), 0, None, True,
                    )
                )  # fmt: skip
                since = None
    return found


def _needed(chips: int, peak: int, replica: int, hour: int) -> int:
    """Replicas at an hour: least at midnight, most at noon."""
    load = chips + (peak - chips) * (1.0 - cos(2 * pi * hour * STEP / DAY)) / 2
    return ceil(load / replica - 1e-9)
