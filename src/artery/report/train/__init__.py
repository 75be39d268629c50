"""Renders ``train``: how the run ended, what failures cost, predicted beside measured; the JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from artery.answers.train import TrainAnswer
from artery.answers.train.compare import TrainComparison
from artery.cloud.accounting import Account
from artery.core.term import Term
from artery.report.drawing.tables import titled
from artery.report.drawing.terminal import indented, labelled
from artery.report.goodput.log_words import log_words
from artery.report.said import warned
from artery.report.train.exchange import exchange_lines, heading, scaling_lines
from artery.report.train.words import train_words
from artery.report.words import Language
from artery.units import show_percent, show_time

_SHOWN = 8
"""Recoveries on the terminal; JSON has all."""


def train_payload(answer: TrainAnswer) -> dict[str, Any]:
    """Return the keys of ``artery.train/1``."""
    result, account = answer.result, answer.account
    return {
        "request": _request(answer),
        "model": answer.asked.settings.model,
        "data": answer.asked.settings.data,
        "outcome": result.outcome,
        "reason": result.reason,
        "steps": result.steps,
        "ranks": result.ranks,
        "attempts": result.attempts,
        "restarts": result.restarts,
        "resizes": result.resizes,
        "lost_steps": result.lost_steps,
        "final_digest": result.digest,
        "metric": result.metric,
        "score": result.score,
        "loss": result.loss,
        "seconds": result.seconds,
        "measured": _measured(answer),
        "predicted": None if answer.comparison is None else _predicted(answer.comparison),
        "exchange": result.figures,
        "worlds": result.worlds,
        "recoveries": [{**asdict(each), "total_s": each.total} for each in result.recoveries],
        "phases_s": {} if account is None else account.seconds,
        "lost_work_s": None if account is None else account.seconds.get("redone", 0.0),
        "unexplained_share": None if account is None else account.share("unexplained"),
        "slow_ranks": [{"rank": rank, "factor": factor} for rank, factor in result.slow],
        "folder": None if answer.folder is None else str(answer.folder),
        "warnings": result.warnings,
    }


def _request(answer: TrainAnswer) -> dict[str, Any]:
    whole = asdict(answer.asked)
    return {**whole.pop("settings"), **whole}


def _measured(answer: TrainAnswer) -> dict[str, Any]:
    """The run's own steps; with a comparison, the terms that stand beside the predicted ones."""
    compared = answer.comparison
    terms = [] if compared is None else _terms(compared.measured.root)
    return {**asdict(answer.steps), "terms": terms}


def _predicted(compared: TrainComparison) -> dict[str, Any]:
    return {
        "step_s": compared.predicted.root.value,
        "step_low_s": compared.predicted.root.low,
        "step_high_s": compared.predicted.root.high,
        "terms": _terms(compared.predicted.root),
        "scaling": [asdict(point) for point in compared.predicted_scaling],
        "measured_scaling": asdict(compared.measured_scaling),
        "errors": compared.errors,
        "loads": compared.loads,
        "warnings": compared.warnings,
    }


def _terms(root: Term) -> list[dict[str, Any]]:
    return [
        {"path": path, "value_s": term.value, "low_s": term.low, "high_s": term.high}
        for path, term in root.walk()
    ]


def train_drawing(answer: TrainAnswer, language: Language) -> RenderableType:
    """Return the answer for people."""
    words, result = train_words(language), answer.result
    settings = answer.asked.settings
    title = Text(settings.model, style="bold")
    title.append(f"  {settings.data}", style="not bold")
    blocks: list[RenderableType] = [_headline(answer, words)]
    if answer.account is not None:
        blocks.append(_time(answer.account, language))
    if result.recoveries:
        blocks.append(_recoveries(answer, words))
    if lines := list(exchange_lines(result.figures, language, result.attempts)):
        blocks.append(labelled(heading("exchange", language), [Text(line) for line in lines]))
    if answer.comparison is not None:
        blocks.append(_compared(answer.comparison, words))
        scaled = [Text(line) for line in scaling_lines(answer.comparison, language)]
        blocks.append(labelled(heading("scaling", language), scaled))
    warnings = [*result.warnings, *(answer.comparison.warnings if answer.comparison else ())]
    if warnings:
        blocks.append(
            labelled(words["warning"], [Text(text) for text in warned(warnings, language)])
        )
    parts: list[RenderableType] = [title]
    for block in blocks:
        parts += [Text(), indented(block)]
    return Group(*parts)


def _headline(answer: TrainAnswer, words: Mapping[str, str]) -> RenderableType:
    result, steps = answer.result, answer.steps
    told = words[result.outcome].format(
        steps=result.steps,
        ranks=result.ranks,
        time=show_time(result.seconds),
        reason=result.reason,
    )
    lines = [("", told)]
    if steps.step_s is not None and steps.compute_s is not None:
        text = words["step_is"].format(
            step=show_time(steps.step_s),
            compute=show_time(steps.compute_s),
            rate=f"{steps.samples_per_s:,.4g}",
        )
        lines.append((words["step"], text))
    if result.score is not None:
        lines.append((words[result.metric], f"{result.score:.4g}"))
    lines.append((words["failures"], _failures(answer, words)))
    if result.digest is not None:
        lines.append((words["weights"], result.digest))
    if answer.folder is not None:
        lines.append((words["folder"], str(answer.folder)))
    return Group(*(labelled(label, [Text(text)]) for label, text in lines))


def _failures(answer: TrainAnswer, words: Mapping[str, str]) -> str:
    result = answer.result
    if not (result.restarts or result.resizes or result.lost_steps):
        return words["none"]
    return words["failures_is"].format(
        restarts=result.restarts, lost=result.lost_steps, resizes=result.resizes
    )


def _time(account: Account, language: Language) -> RenderableType:
    did = log_words(language)
    spent = {**account.seconds, "unexplained": account.seconds.get("unexplained", 0.0)}
    rows = [
        (did[f"did_{name}"], show_time(seconds), show_percent(seconds / account.wall))
        for name, seconds in sorted(spent.items(), key=lambda item: -item[1])
    ]
    return titled(train_words(language)["time"], rows, 2)


def _recoveries(answer: TrainAnswer, words: Mapping[str, str]) -> RenderableType:
    return titled(words["recoveries"], list(_recovery_rows(answer)), 6)


def _recovery_rows(answer: TrainAnswer) -> Iterator[tuple[str, ...]]:
    for each in answer.result.recoveries[:_SHOWN]:
        parts = each.detect, each.teardown, each.reform, each.rejoin, each.first_step, each.total
        yield (each.reason, *(show_time(part) for part in parts))
    more = len(answer.result.recoveries) - _SHOWN
    if more > 0:
        yield (f"+ {more}", *([""] * 6))


def _compared(compared: TrainComparison, words: Mapping[str, str]) -> RenderableType:
    rows = [
        (one.path, show_time(one.predicted), show_time(one.measured), f"{one.ratio - 1:+.1%}")
        for one in compared.differences
        if one.measured
    ]
    return titled(words["predicted"], rows, 3)
