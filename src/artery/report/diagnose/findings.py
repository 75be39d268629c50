"""The causes that were found: each in a sentence, with its evidence and what to run next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from artery import units
from artery.answers.diagnose import DiagnoseAnswer
from artery.answers.diagnose.proof import Proof
from artery.diagnoser.rules import World, shown
from artery.diagnoser.verdict import LIKELY
from artery.diagnoser.weigh import Weighed
from artery.report.diagnose.proof import gigabytes
from artery.report.diagnose.words import diagnose_words
from artery.report.drawing.terminal import commands, indented, labelled
from artery.report.said import said
from artery.report.words import Language, Words

_SURE: Final = 0.99


def findings_drawing(answer: DiagnoseAnswer, language: Language) -> Iterator[RenderableType]:
    """Yield the faults beside the numbers, then the causes of the numbers."""
    word = diagnose_words(language)
    for head, wanted in (("faults", True), ("causes", False)):
        shown = [one for one in answer.diagnosis.findings if one.beside is wanted]
        if not shown:
            continue
        yield Text("")
        yield Text(word[head], style="bold")
        if all(one.explanation.fits is False and not _is_seen(one) for one in shown):
            yield Text(word["none_fits"])
        yield from (_cause(number, one, answer, language) for number, one in enumerate(shown, 1))


def _cause(number: int, one: Weighed, answer: DiagnoseAnswer, language: Language) -> RenderableType:
    word = diagnose_words(language)
    head = f"{number}. {_says(one, answer, language)}"
    if one.explanation.fits is False and not _is_seen(one):
        return Text(head, style="dim")
    share = "" if one.beside else f"  ({word['confidence'].format(share=_share(one))})"
    lines: list[RenderableType] = [Text(f"{head}{share}")]
    lines += [indented(Text(_evidence(text, language)), 3) for text in one.evidence]
    lines += [
        indented(Text(f"{word['against']} {_evidence(text, language)}", style="dim"), 3)
        for text in one.against
    ]
    step = said(one.cause.next, language, "next")
    step = re.sub(r"\bCHIP\b", str(answer.facts.get("chip", "CHIP")), step)
    lines.append(indented(commands(word["next"], [step]), 3))
    lines.append(indented(labelled(word["reference"], [Text(one.cause.reference)]), 3))
    return Group(*lines)


def _is_seen(one: Weighed) -> bool:
    """Whether the files show the cause, so that it is likely though its price misses."""
    return bool(one.evidence) and one.confidence >= LIKELY


def _share(one: Weighed) -> str:
    """Return a confidence; never all of it."""
    sure = one.confidence >= _SURE
    return f"> {_SURE * 100:.0f} %" if sure else units.show_percent(one.confidence)


def _evidence(text: str, language: Language) -> str:
    """Return a line of evidence in ``language``: a fact, or a remark behind the file's name."""
    file, colon, remark = text.partition(": ")
    if not colon:
        return said(text, language, "diagnose")
    name, equals, value = remark.partition(" = ")
    known = said(name, language, "facts")
    if equals and known != name:
        told = said(said(value, language, "facts"), language, "diagnose")
        return f"{said(file, language, 'diagnose')}{colon}{known} = {told}"
    return f"{file}{colon}{said(remark, language)}"


def _says(one: Weighed, answer: DiagnoseAnswer, language: Language) -> str:
    """Return the sentence of a cause: ``expected 366, measured 196, with "..." 199``."""
    word = diagnose_words(language)
    title = one.cause.zh if language == "zh" else one.cause.en
    judged, explained = answer.diagnosis.judged, one.explanation
    if judged is None or explained.predicted is None:
        return title
    changed = _world(explained.world or {}, word)
    if explained.algorithm not in (None, "auto") and "algorithm" not in (explained.world or {}):
        way = word["as_algorithm"].format(algorithm=explained.algorithm)
        changed = f"{changed}, {way}" if changed else way
    key = "fits" if explained.played is None else "unplayed"
    if not explained.fits:
        key = "missed" if _is_seen(one) else "unfit"
    points = judged.curve.points
    point = next((one for one in points if one.size == explained.played_size), points[-1])
    return word[key].format(
        cause=f"{title} ({changed})" if changed else title,
        expected=gigabytes(judged.expected[-1]), measured=gigabytes(point.busbw),
        predicted=gigabytes(explained.predicted), played=gigabytes(explained.played or 0.0),
        size=units.show_bytes(point.size),
    )  # fmt: skip


def _world(world: World, word: Words) -> str:
    """Return what a world changes, in words."""
    parts = []
    for key, value in world.items():
        number = value if isinstance(value, float) else 0.0
        parts.append(word[f"world_{key}"].format(
            share=units.show_percent(number), rate=units.show_rate(number), value=shown(value)
        ))  # fmt: skip
    return ", ".join(parts)


def of_same_world(proof: Proof, findings: Sequence[Weighed]) -> tuple[Weighed, ...]:
    """Return the likely causes that change the network as the one that was played."""
    return tuple(
        one
        for one in findings
        if one.explanation.world == proof.world and one.explanation.fits and one.confidence > LIKELY
    )
