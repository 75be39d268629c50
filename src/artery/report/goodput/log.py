"""Renders the account of a real run: where its time went, and the prediction beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from artery.report.drawing.tables import NOTHING, titled
from artery.report.drawing.terminal import indented, labelled
from artery.report.goodput.log_words import log_words
from artery.report.said import warned
from artery.report.words import Language, Words
from artery.units import show_count, show_percent, show_time

if TYPE_CHECKING:
    from artery.answers.goodput.log import Against, MeasuredRun


def measured_payload(run: MeasuredRun) -> dict[str, Any]:
    """Return the keys under ``measured`` of ``artery.goodput/1``."""
    found = run.account
    return {
        "files": [{"path": f.path, "format": f.format, "spans": f.spans} for f in run.files],
        "wall_s": found.wall,
        "lanes": found.lanes,
        "restarts": found.restarts,
        "steps": found.steps,
        "redone_steps": found.redone_steps,
        "seconds": dict(found.seconds),
        "time_shares": {name: found.share(name) for name in found.seconds},
        "events_s": {name: list(times) for name, times in found.events.items()},
        "mtbf_s": run.mtbf,
        "checkpoint_interval_s": run.interval,
        "restart_s": run.restart,
        "ettr": found.meta_ettr,
        "goodput": found.dlrover_goodput,
        "definitions": {
            "meta_ettr": found.meta_ettr,
            "dlrover_goodput": found.dlrover_goodput,
            "google_scheduling": found.google_scheduling,
            "google_runtime": found.google_runtime,
            "google_badput_s": found.google_classes(),
        },
        "levers": [
            {"name": gain.activity, "change": "x 0.5", "time_s": gain.seconds, "ettr": gain.ettr,
             "gain": gain.ettr - found.meta_ettr}
            for gain in run.gains
        ],
        "compared": [
            {"name": each.name, "unit": each.unit, "measured": each.measured,
             "predicted": each.predicted}
            for each in run.against
        ],
        "warnings": run.warnings,
    }  # fmt: skip


def measured_document(run: MeasuredRun, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of a run that no model was named for."""
    found = run.account
    return {
        "request": dict(request),
        "mtbf_s": run.mtbf,
        "checkpoint_interval_s": run.interval,
        "ettr": found.meta_ettr,
        "goodput": found.dlrover_goodput,
        "levers": measured_payload(run)["levers"],
        "measured": measured_payload(run),
        "warnings": run.warnings,
    }


def measured_drawing(run: MeasuredRun, language: Language) -> RenderableType:
    """Return the account for people."""
    words, found = log_words(language), run.account
    parts: list[RenderableType] = [
        Text(words["measured"], style="bold"),
        indented(Text(", ".join(f"{f.path} ({f.format})" for f in run.files), style="dim")),
        Text(),
        indented(_headline(run, words)),
        Text(),
        indented(_where(run, words)),
    ]
    if run.gains:
        rows = [
            (words[f"did_{gain.activity}"], "x 0.5", show_percent(gain.ettr),
             f"+{show_percent(gain.ettr - found.meta_ettr)}")
            for gain in run.gains[:6]
        ]  # fmt: skip
        head = ("", words["change"], "ETTR", words["gain"])
        parts += [Text(), indented(titled(words["levers"], [head, *rows], 2))]
    if run.against:
        parts += [Text(), indented(_against(run, words))]
    if run.warnings:
        lines = [Text(text) for text in warned(run.warnings, language)]
        parts += [Text(), indented(labelled(words["warning"], lines))]
    return Group(*parts)


def _headline(run: MeasuredRun, words: Words) -> RenderableType:
    found = run.account
    said = words["measured_is"].format(
        ettr=show_percent(found.meta_ettr),
        goodput=show_percent(found.dlrover_goodput),
        scheduling=show_percent(found.google_scheduling),
        runtime=show_percent(found.google_runtime),
    )
    more = words["measured_run"].format(
        wall=show_time(found.wall),
        steps=show_count(found.steps),
        redone=show_count(found.redone_steps),
        restarts=show_count(found.restarts),
    )
    return Group(Text(said), Text(more))


def _where(run: MeasuredRun, words: Words) -> RenderableType:
    seconds = sorted(run.account.seconds.items(), key=lambda item: -item[1])
    rows = [
        (words[f"did_{name}"], show_time(time), show_percent(time / run.account.wall))
        for name, time in seconds
        if time > 0.0
    ]
    return titled(words["time"], rows, 2)


def _against(run: MeasuredRun, words: Words) -> RenderableType:
    head = ("", words["was"], words["expected_was"])
    rows = [
        (_named(one.name, words), _shown(one, one.measured), _shown(one, one.predicted))
        for one in run.against
    ]
    return titled(words["compared"], [head, *rows], 2)


def _named(name: str, words: Words) -> str:
    known = words.get(f"against_{name}")
    return words[f"did_{name}"] if known is None else known


def _shown(one: Against, value: float | None) -> str:
    if value is None:
        return NOTHING
    return show_percent(value) if one.unit == "1" else show_time(value)
