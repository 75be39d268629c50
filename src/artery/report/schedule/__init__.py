"""Renders ``schedule``: policies side by side, where chip-time goes, sizes, pools; and the JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery.answers.schedule.result import Played, ScheduleAnswer, Sizing, Spot
from artery.report.plan import labelled_lines
from artery.report.said import warned
from artery.report.schedule.words import schedule_words
from artery.report.terminal import commands, indented
from artery.report.words import Language, Words
from artery.simulator.fleet.accounts import STATES
from artery.units import show_count, show_money, show_percent, show_time

LEAST_WIDTH: Final = 96
"""Cells that the widest table takes."""

_NOTHING: Final = "–"
_UNBROKEN: Final = "\N{NO-BREAK SPACE}"
_OVER: Final = 10.0
"""Assumed: so many times the chips' time until the last submission is no share of it any more."""

MICRO_HOUR: Final = 3.6e9
"""Chip-microseconds in a chip-hour."""


def schedule_payload(answer: ScheduleAnswer, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of ``artery.schedule/1``; ``request`` is what was asked."""
    jobs = answer.jobs.jobs
    return {
        "request": dict(request),
        "system": {
            "name": answer.system.name,
            "chips": answer.system.chips,
            "nodes": answer.system.nodes,
        },
        "jobs": {
            "source": answer.jobs.source,
            "count": len(jobs),
            "chip_s": sum(job.chips * job.run for job in jobs),
            "load": answer.load,
            "most_chips": max((job.chips for job in jobs), default=0),
        },
        "policies": [_policy_payload(each) for each in answer.played],
        "sizing": None if answer.sizing is None else _sizing_payload(answer.sizing),
        "pools": None if answer.pools is None else {
            "chips": answer.pools.chips,
            "peak_chips": answer.pools.peak,
            "reserved_chips": answer.pools.reserved,
            "shared": [_pool_payload(each) for each in answer.pools.shared],
            "apart": [_pool_payload(each) for each in answer.pools.apart],
        },
        "spot": None if answer.spot is None else _spot_payload(answer.spot),
        "warnings": answer.warnings,
    }  # fmt: skip


def _policy_payload(one: Played) -> dict[str, Any]:
    found = one.outcome
    return {
        "name": one.policy.name,
        "mean_queue_s": found.mean_queue,
        "p50_queue_s": _quantile(found.queue, 0.5),
        "p90_queue_s": found.p90_queue,
        "p99_queue_s": _quantile(found.queue, 0.99),
        "mean_jct_s": found.mean_jct,
        "p50_jct_s": _quantile(found.jct, 0.5),
        "mean_slowdown": float(found.slowdown.mean()) if len(found.slowdown) else 0.0,
        "utilisation": found.utilisation,
        "utilisation_arriving": found.arriving,
        "allocated": found.allocated,
        "fragmentation": found.fragmentation,
        "split_ratio": found.split,
        "fairness": found.fairness,
        "chip_hours": {name: getattr(found.accounts, name) / MICRO_HOUR for name in STATES},
        "span_s": found.span,
        "cost_usd": one.cost,
        "jobs": found.jobs,
        "finished": found.finished,
        "unstarted": found.unstarted,
        "backfilled": found.passed,
        "restarts": found.restarts,
        "resizes": found.resizes,
        "preemptions": found.preemptions,
        "lost_nodes": found.lost_nodes,
        "digest": found.digest,
    }


def _quantile(values: Any, share: float) -> float:  # noqa: ANN401 - an array
    return float(np.quantile(values, share)) if len(values) else 0.0


def _sizing_payload(sizing: Sizing) -> dict[str, Any]:
    return {
        "measure": sizing.measure,
        "target_s": sizing.target,
        "origin": sizing.origin,
        "rows": [
            {"policy": r.policy, "chips": r.chips, "reached_s": r.reached, "saved_share": r.less}
            for r in sizing.rows
        ],
    }


def _pool_payload(one: Played) -> dict[str, Any]:
    found = one.outcome
    return {
        "name": one.policy.name,
        "chips": found.chips,
        "mean_queue_s": found.mean_queue,
        "p90_queue_s": found.p90_queue,
        "mean_jct_s": found.mean_jct,
        "utilisation_arriving": found.arriving,
        "service_waits": len(found.service),
        "service_p99_wait_s": _quantile(found.service, 0.99),
        "service_longest_wait_s": float(found.service.max()) if len(found.service) else 0.0,
    }


def _spot_payload(spot: Spot) -> dict[str, Any]:
    return {
        "duration_s": spot.duration,
        "mean_instances": spot.mean_instances,
        "losses_per_day_and_instance": spot.losses,
        "checkpoint_interval_s": spot.interval,
        "fits": spot.fits,
        "ways": [
            {"name": way.name, "instances": way.instances, "steps": way.steps,
             "over_elastic": way.steps / spot.elastic.steps if spot.elastic.steps else 0.0}
            for way in spot.ways
        ],
    }  # fmt: skip


def schedule_drawing(answer: ScheduleAnswer, language: Language, asked: str) -> RenderableType:
    """Return the answer for people; ``asked`` is ``TRACE --on SYSTEM`` as typed."""
    words = schedule_words(language)
    title = Text(answer.system.name, style="bold")
    title.append(f"  {answer.system.chips:,}", style="not bold")
    parts: list[RenderableType] = [title, indented(Text(_about(answer, words), style="dim"))]
    blocks: list[RenderableType | None] = []
    if answer.spot is None:
        blocks += [_policies(answer, words), _states(answer, words)]
    else:
        blocks += [_spot(answer.spot, words)]
    blocks += [
        None if answer.sizing is None else _sizing(answer.sizing, words),
        _pools(answer, words),
        labelled_lines("", (), words["warning"], warned(answer.warnings, language)),
        commands(words["next"], _next(answer, asked)),
    ]
    for block in blocks:
        if block is not None:
            parts += [Text(), indented(block)]
    return Group(*parts)


def _about(answer: ScheduleAnswer, words: Words) -> str:
    if answer.spot is not None:
        return words["spot_about"].format(
            hours=f"{answer.spot.duration / 3600:.1f}",
            mean=f"{answer.spot.mean_instances:.1f}",
            losses=f"{answer.spot.losses:.2f}",
            interval=show_time(answer.spot.interval),
        )
    about = "about_over" if answer.load > _OVER else "about" if answer.load else "about_once"
    count = len(answer.jobs.jobs)
    return words[about].format(
        jobs=words["job" if count == 1 else "jobs"].format(count=f"{count:,}"),
        load=f"{answer.load:,.0f}" if answer.load > _OVER else show_percent(answer.load),
        source=answer.jobs.source,
    )


def _next(answer: ScheduleAnswer, asked: str) -> list[str]:
    if answer.spot is not None:
        return [f"artery schedule {asked} --interval 10min"]
    first = answer.played[0].policy.name
    more = [f"artery schedule {asked} --size-for p90-queue={first}"] if not answer.sizing else []
    return [*more, f"artery schedule {asked} --timeline fleet.json"]


def _table(title: str, rows: Sequence[Sequence[str]]) -> RenderableType:
    """A titled table; all but the first column are numbers, of which none is broken in two.

    Where it is too wide names go on in a next line: none of them is cut.
    """
    table = Table.grid(padding=(0, 2))
    head, *body = rows
    for column in range(len(head)):
        table.add_column(justify="right" if column else "left", overflow="fold", vertical="bottom")
    table.add_row(*head)
    for name, *numbers in body:
        table.add_row(name, *(number.replace(" ", _UNBROKEN) for number in numbers))
    return Group(Text(title, style="bold"), indented(table))


def _policies(answer: ScheduleAnswer, words: Words) -> RenderableType:
    heads = ("mean_queue", "p90_queue", "mean_jct", "useful", "arriving", "allocated")
    rows = [("", *(words[head] for head in heads))]
    for each in answer.played:
        found = each.outcome
        rows.append(
            (
                each.policy.name,
                show_time(found.mean_queue),
                show_time(found.p90_queue),
                show_time(found.mean_jct),
                show_percent(found.utilisation),
                show_percent(found.arriving),
                show_percent(found.allocated),
            )
        )
    more = [("", *(words[head] for head in ("split", "fragmentation", "fairness", "restarts",
                                            "resizes", "cost")))]  # fmt: skip
    for each in answer.played:
        found = each.outcome
        more.append(
            (
                each.policy.name,
                show_percent(found.split),
                show_percent(found.fragmentation),
                f"{found.fairness:.3f}",
                show_count(found.restarts),
                show_count(found.resizes),
                _NOTHING if each.cost is None else show_money(each.cost),
            )
        )
    return Group(_table(words["policies"], rows), Text(), _table(words["also"], more))


def _states(answer: ScheduleAnswer, words: Words) -> RenderableType:
    """Shares of all chip-time by state, a column per policy."""
    names = [
        name for name in STATES if any(getattr(p.outcome.accounts, name) for p in answer.played)
    ]
    rows = [("", *(each.policy.name for each in answer.played))]
    for name in names:
        shares = [
            getattr(each.outcome.accounts, name) / max(each.outcome.accounts.total, 1)
            for each in answer.played
        ]
        rows.append((words[name], *(show_percent(share) for share in shares)))
    return _table(words["states"], rows)


def _sizing(sizing: Sizing, words: Words) -> RenderableType:
    title = words["sizing"].format(
        measure=words[sizing.measure],
        target=show_time(sizing.target),
        origin="" if sizing.origin == "given" else f" ({sizing.origin})",
    )
    rows = [("", words["chips"], words["less"])]
    for each in sizing.rows:
        few = _NOTHING if each.chips is None else f"{each.chips:,}"
        less = _NOTHING if each.less is None else show_percent(each.less)
        rows.append((each.policy, few, less))
    return _table(title, rows)


def _pools(answer: ScheduleAnswer, words: Words) -> RenderableType | None:
    pools = answer.pools
    if pools is None:
        return None
    title = words["pools"].format(
        chips=f"{pools.chips:,}", peak=f"{pools.peak:,}", reserved=f"{pools.reserved:,}"
    )
    heads = ("mean_queue", "p90_queue", "mean_jct", "arriving", "service")
    rows = [("", *(words[head] for head in heads))]
    for label, played in ((words["shared"], pools.shared), (words["apart"], pools.apart)):
        for each in played:
            found = each.outcome
            wait = show_time(_quantile(found.service, 0.99)) if len(found.service) else _NOTHING
            rows.append(
                (
                    f"{each.policy.name}, {label}",
                    show_time(found.mean_queue),
                    show_time(found.p90_queue),
                    show_time(found.mean_jct),
                    show_percent(found.arriving),
                    wait,
                )
            )
    return _table(title, rows)


def _spot(spot: Spot, words: Words) -> RenderableType:
    rows = [("", words["instances"], words["steps"], words["elastic_over"], words["redone"],
             words["restarts"])]  # fmt: skip
    for way in spot.ways:
        found = way.outcome
        ratio = f"{spot.elastic.steps / way.steps:.2f}" if way.steps else "∞"
        lost = found.accounts.redone / max(found.accounts.total, 1)
        rows.append(
            (
                words[way.name],
                str(way.instances),
                show_count(round(way.steps)),
                ratio,
                show_percent(lost),
                show_count(found.restarts),
            )
        )
    return _table(words["spot"], rows)
