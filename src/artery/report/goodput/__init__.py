"""Renders ``goodput``: the headline, where time goes, and what to fix first."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery.answers.goodput.result import Choice, Fix, GoodputAnswer
from artery.report.drawing.tables import NOTHING, titled
from artery.report.drawing.terminal import commands, indented, labelled
from artery.report.goodput.log import measured_drawing
from artery.report.goodput.payload import SHARES
from artery.report.goodput.words import goodput_words
from artery.report.plan import labelled_lines, layout
from artery.report.said import said, warned
from artery.report.words import Language, Words
from artery.report.words import words as table_of
from artery.units import show_bytes, show_count, show_money, show_percent
from artery.units import show_time as _finite_time

if TYPE_CHECKING:
    from artery.answers.goodput.log import MeasuredRun
_SHOWN: Final = 6
"""Fixes on the terminal; JSON has all."""


def show_time(seconds: float) -> str:
    """Return a duration for people; one without end as ``∞``."""
    return _finite_time(seconds) if isfinite(seconds) else "∞"


def goodput_drawing(
    answer: GoodputAnswer, language: Language, asked: str, run: MeasuredRun | None = None
) -> RenderableType:
    """Return the answer for people; ``asked`` is ``MODEL --on SYSTEM`` as typed."""
    words, chosen = goodput_words(language), answer.plan.plans[0]
    title = Text(answer.plan.workload.name, style="bold")
    title.append(f"  {answer.plan.system.name}:{chosen.plan.chips}", style="not bold")
    parts: list[RenderableType] = [title]
    parts.append(indented(Text(" · ".join(layout(chosen.plan, table_of(language))), style="dim")))
    if answer.plan.fitting == 0:
        parts.append(indented(Text(words["unfit"], style="red")))
    blocks = [
        _headline(answer, words),
        _shares(answer, words),
        _causes(answer, words),
        _recovery(answer, language),
        _choices(answer, words),
        _judgements(answer, words),
        _levers(answer, words),
        labelled_lines("", (), words["warning"], warned(answer.warnings, language)),
        commands(words["next"], _next(asked)),
    ]
    for block in blocks:
        if block is not None:
            parts += [Text(), indented(block)]
    if run is not None:
        parts += [Text(), measured_drawing(run, language)]
    return Group(*parts)


def _next(asked: str) -> list[str]:
    """What to ask next; ``scale`` chooses the number of chips, and reads no saved plan."""
    plan, words = f"artery plan {asked}", asked.split(" ")
    if "--on" not in words or words[0] == "--from":
        return [plan]
    place = words.index("--on") + 1
    words[place] = words[place].partition(":")[0]
    return [plan, f"artery scale {' '.join(words)}"]


def _headline(answer: GoodputAnswer, words: Words) -> RenderableType:
    mtbf, ettr = answer.mtbf, answer.ettr
    ranged = mtbf.low < mtbf.high
    day = show_count(86400 / mtbf.value)
    failing = words["mtbf_is" if ranged else "mtbf_alone"]
    training = words["ettr_is" if ranged else "ettr_alone"]
    low, high = show_time(mtbf.low), show_time(mtbf.high)
    queued = answer.run is not None and answer.run.queue > 0.0
    if queued:
        training += words["ettr_queued"]
    lines = [
        (words["mtbf"], failing.format(mtbf=show_time(mtbf.value), low=low, high=high, day=day)),
        (
            words["ettr"],
            training.format(
                ettr=show_percent(ettr.value),
                low=show_percent(ettr.low),
                high=show_percent(ettr.high),
                queue=show_time(answer.told.queue_time),
                meta=show_percent(answer.definitions.meta_ettr),
            ),
        ),
        (words["checkpoint"], _checkpoint(answer, words)),
        ("", _formulas(answer, words)),
        (words["restart"], words["restart_is"].format(restart=show_time(answer.restart))),
    ]
    if answer.run is not None:
        lines.append((words["run"], _run(answer, words)))
    return _grid(lines)


def _checkpoint(answer: GoodputAnswer, words: Words) -> str:
    used = answer.told.tiers[0]
    tier = next(each for each in answer.tiers if each.name == used)
    step = answer.plan.plans[0].time.root.value
    return words["checkpoint_is"].format(
        interval=show_time(answer.intervals.best),
        steps=show_count(max(1, round(answer.intervals.best / step))),
        tier=words[used],
        size=show_bytes(answer.state.saved),
        save=show_time(tier.save),
        persist=show_time(tier.persist),
    )


def _formulas(answer: GoodputAnswer, words: Words) -> str:
    found = answer.intervals
    times = {
        name: show_time(getattr(found, name)) for name in ("young", "daly", "complete", "least")
    }
    return words["given" if found.given else "formulas"].format(**times)


def _run(answer: GoodputAnswer, words: Words) -> str:
    run = answer.run
    if run is None:
        return NOTHING
    times = {
        name: show_time(value)
        for name, value in (
            ("expected", run.expected),
            ("low", run.low),
            ("high", run.high),
            ("ideal", run.ideal),
        )
    }
    known = run.cost is not None and isfinite(run.cost)
    cost = f", {show_money(run.cost or 0.0)}" if known else ""
    count = show_count(round(run.failures)) if isfinite(run.failures) else "∞"
    failures = words["failures_one" if count == "1" else "failures_many"].format(count=count)
    return words["run_is"].format(**times, failures=failures, cost=cost)


def _grid(lines: Iterable[tuple[str, str]]) -> Table:
    """Labels and what stands beside them."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for label, text in lines:
        table.add_row(label, Text(text))
    return table


def _shares(answer: GoodputAnswer, words: Words) -> RenderableType:
    rows = [(words[name], show_percent(getattr(answer.shares, name))) for name in SHARES]
    queued = answer.run is not None and answer.run.queue > 0.0
    return titled(words["time_started" if queued else "time"], rows, 1)


def _causes(answer: GoodputAnswer, words: Words) -> RenderableType:
    rows = [
        (words[each.name], f"{each.per_second * 86400:.3g}") for each in answer.failures.classes
    ]
    return titled(words["failures_of"], rows, 1)


def _recovery(answer: GoodputAnswer, language: Language) -> RenderableType:
    words = goodput_words(language)
    rows = [
        (words[part.name], show_time(part.value), said(part.source, language, "terms"))
        for part in answer.recovery
        if part.value or len(answer.recovery) == 1
    ]
    return titled(words["recovery"], rows, 0)


def _choices(answer: GoodputAnswer, words: Words) -> RenderableType:
    rows = [_choice(choice, words) for choice in answer.choices]
    return titled(words["tiers"], rows, 1)


def _choice(choice: Choice, words: Words) -> tuple[str, str, str]:
    names = " + ".join(words[name] for name in choice.tiers)
    every = " / ".join(show_time(tau) for tau in choice.shares.intervals)
    return names, f"{words['every']} {every}", show_percent(choice.shares.productive)


def _judgements(answer: GoodputAnswer, words: Words) -> RenderableType:
    found, out, shares = answer.availability, answer.spares, answer.definitions
    google = words["google_is"].format(
        whole=show_percent(shares.google_goodput),
        scheduling=show_percent(shares.google_scheduling),
        runtime=show_percent(shares.google_runtime),
        program=show_percent(shares.google_program),
    )
    available = words["availability_is"].format(
        job=show_percent(found.job),
        job_nines=_nines(found.job_nines),
        node=show_percent(found.node),
        node_nines=_nines(found.node_nines),
        five=show_time(found.five_nines_restart),
    )
    spare = words["spares_is"].format(
        needed=out.needed,
        out=f"{out.out:.1f}",
        risk=show_percent(out.risk),
        repair=show_time(out.repair),
    )
    by = {
        words["meta"]: show_percent(shares.meta_ettr),
        words["dlrover"]: show_percent(shares.dlrover_goodput),
        words["google"]: google,
    }
    lines = [Text(f"{name}: {value}") for name, value in by.items()]
    return Group(
        labelled(words["definitions"], lines),
        _grid([(words["availability"], available), (words["spares"], spare)]),
    )


def _nines(count: float) -> str:
    return f"{count:.1f}" if isfinite(count) else "∞"


def _levers(answer: GoodputAnswer, words: Words) -> RenderableType:
    title = f"{words['levers']} ({words['over_month' if answer.run is None else 'over_run']})"
    if not answer.levers:
        return labelled(words["levers"], [Text(words["nothing"])])
    head = ("", words["change"], "ETTR", words["gain"], words["saved"], words["money"])
    return titled(title, [head, *(_lever(f, words) for f in answer.levers[:_SHOWN])], 4)


def _gain(share: float) -> str:
    """A gain that is worth naming, with digits enough that it is not shown as none."""
    return show_percent(share) if share >= 0.001 else f"{share * 100:.2f} %"


def _lever(fix: Fix, words: Words) -> tuple[str, ...]:
    change = fix.change
    if fix.name == "replicas":
        change = words["replicas_of"].format(count=change)
    elif change in words:
        change = words[change]
    return (
        words[fix.name],
        change,
        show_percent(fix.ettr),
        f"+{_gain(fix.gain)}",
        show_count(round(fix.chip_hours)),
        NOTHING if fix.cost is None else show_money(fix.cost),
    )
