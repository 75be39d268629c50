"""Renders ``schedule``: policies side by side, where chip-time goes, sizes, pools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery.answers.schedule.result import ScheduleAnswer, Sizing, Spot
from artery.report.drawing.tables import NOTHING
from artery.report.drawing.terminal import commands, indented
from artery.report.plan import labelled_lines
from artery.report.said import said, warned
from artery.report.schedule.payload import quantile
from artery.report.schedule.words import schedule_words
from artery.report.words import Language, Words
from artery.simulator.fleet.accounts import STATES
from artery.units import show_count, show_money, show_percent, show_time

LEAST_WIDTH: Final = 96
"""Cells that the widest table takes."""

_UNBROKEN: Final = "\N{NO-BREAK SPACE}"
_OVER: Final = 10.0
"""Assumed: so many times the chips' time until the last submission is no share of it any more."""


def schedule_drawing(answer: ScheduleAnswer, language: Language, asked: str) -> RenderableType:
    """Return the answer for people; ``asked`` is ``TRACE --on SYSTEM`` as typed."""
    words = schedule_words(language)
    title = Text(answer.system.name, style="bold")
    title.append(f"  {answer.system.chips:,}", style="not bold")
    parts: list[RenderableType] = [
        title,
        indented(Text(_about(answer, words, language), style="dim")),
    ]
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


def _about(answer: ScheduleAnswer, words: Words, language: Language) -> str:
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
        source=said(answer.jobs.source, language, "terms"),
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
                NOTHING if each.cost is None else show_money(each.cost),
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
        few = NOTHING if each.chips is None else f"{each.chips:,}"
        less = NOTHING if each.less is None else show_percent(each.less)
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
            wait = show_time(quantile(found.service, 0.99)) if len(found.service) else NOTHING
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
