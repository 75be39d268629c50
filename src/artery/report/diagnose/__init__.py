"""Renders what ``diagnose`` found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery import units
from artery.answers.diagnose import DiagnoseAnswer
from artery.answers.diagnose.proof import Proof
from artery.diagnoser.case import Curve
from artery.diagnoser.rules import World, causes, shown
from artery.diagnoser.verdict import Judged, Missing, settles
from artery.diagnoser.weigh import Weighed
from artery.report.diagnose.proof import (
    gigabytes,
    job_drawing,
    job_payload,
    proof_drawing,
    proof_payload,
)
from artery.report.diagnose.run import run_drawing, run_payload
from artery.report.diagnose.trace import trace_drawing, trace_payload
from artery.report.diagnose.words import diagnose_words
from artery.report.said import said
from artery.report.terminal import commands, indented, labelled
from artery.report.words import Language, Words

_STYLES: Final = {"healthy": "green", "degraded": "yellow", "faulty": "red", "refused": "red"}
_MOST_ROWS: Final = 12
_SURE: Final = 0.99
_LIKELY: Final = 0.05


def diagnose_payload(answer: DiagnoseAnswer) -> Mapping[str, object]:
    """Return the keys of ``artery.diagnose/1``; causes are in English."""
    found = answer.diagnosis
    judged = found.judged
    return {
        "verdict": found.verdict,
        "system": answer.system,
        "measured": None if found.curve is None else _measured(found.curve, judged, answer),
        "expected": None if judged is None else _expected(judged),
        "ratio": None if judged is None else judged.ratio,
        "shortest": None if judged is None or not judged.dips else _shortest(judged),
        "findings": [_finding(one, judged) for one in found.findings],
        "missing_facts": found.missing,
        "refusals": found.refusals,
        "assumed": answer.assumed,
        "notes": answer.notes,
        "facts": {
            name: {"value": value, "from": answer.origins.get(name)}
            for name, value in answer.facts.items()
        },
        "files": [{"path": path, "format": name} for path, name in answer.files],
        "proof": None if answer.proof is None else proof_payload(answer.proof),
        "job": None if answer.job is None else job_payload(answer.job),
        "run": None if answer.run is None else run_payload(answer.run),
        "trace": None if answer.trace is None else trace_payload(answer.trace),
    }


def _measured(curve: Curve, judged: Judged | None, answer: DiagnoseAnswer) -> Mapping[str, object]:
    shape = judged.shape if judged is not None else None
    return {
        "collective": curve.collective,
        "ranks": curve.ranks,
        "nodes": curve.nodes,
        "size_bytes": curve.last.size,
        "busbw_bytes_per_s": curve.last.busbw,
        "wire_bytes_per_s_per_chip": answer.wire,
        "shape": None if shape is None else shape.shape,
        "plateau_bytes_per_s": None if shape is None else shape.plateau,
        "knee_bytes": None if shape is None else shape.knee,
        "file": curve.source,
        "points": [
            {"size_bytes": one.size, "busbw_bytes_per_s": one.busbw} for one in curve.points
        ],
    }


def _expected(judged: Judged) -> Mapping[str, object]:
    rows = zip(judged.curve.points, judged.expected, judged.low, judged.high, strict=True)
    return {
        "size_bytes": judged.curve.last.size,
        "busbw_bytes_per_s": judged.expected[-1],
        "low_bytes_per_s": judged.low[-1],
        "high_bytes_per_s": judged.high[-1],
        "points": [
            {
                "size_bytes": point.size,
                "busbw_bytes_per_s": middle,
                "low_bytes_per_s": low,
                "high_bytes_per_s": high,
            }
            for point, middle, low, high in rows
        ],
    }


def _shortest(judged: Judged) -> Mapping[str, object]:
    point = judged.curve.points[judged.place]
    return {
        "size_bytes": point.size,
        "busbw_bytes_per_s": point.busbw,
        "expected_bytes_per_s": judged.expected[judged.place],
        "ratio": judged.least,
    }


def _finding(one: Weighed, judged: Judged | None) -> Mapping[str, object]:
    explained = one.explanation
    return {
        "cause": one.cause.key,
        "title": one.cause.en,
        "evidence": one.evidence,
        "against": one.against,
        "confidence": one.confidence,
        "fault_in_itself": one.beside,
        "explains": {
            "fits": explained.fits,
            "expected_bytes_per_s": judged.expected[-1] if judged is not None else None,
            "measured_bytes_per_s": judged.curve.last.busbw if judged is not None else None,
            "with_cause_bytes_per_s": explained.predicted,
            "remaining_factor": explained.remains,
            "world": explained.world,
            "algorithm": explained.algorithm,
            "played_bytes_per_s": explained.played,
        },
        "next_step": one.cause.next,
        "reference": one.cause.reference,
    }


def diagnose_drawing(
    answer: DiagnoseAnswer, language: Language, *, facts: bool = True
) -> RenderableType:
    """Return the verdict, the curve beside its expectation, causes, and what is missing.

    ``facts`` lists everything that was understood, with the file that says it.
    """
    word = diagnose_words(language)
    found = answer.diagnosis
    parts: list[RenderableType] = [_title(answer, word)]
    if found.judged is not None:
        parts += [indented(_curve(found.judged, word)), *_shape(found.judged, word)]
    for refusal in found.refusals:
        text, fix = (said(one, language, "diagnose") for one in (refusal.text, refusal.fix))
        parts.append(Text(word["refusal"].format(text=text, fix=fix), style="red"))
    if found.verdict == "healthy" and found.judged is not None:
        parts.append(Text(word["healthy_but" if _faults(answer) else "healthy_next"]))
    if answer.trace is not None:
        parts += [Text(""), *trace_drawing(answer.trace, word)]
    parts += _findings(answer, language)
    if answer.proof is not None:
        alike = _of_same_world(answer.proof, found.findings)
        share = sum(one.confidence for one in alike)
        parts += [Text(""), *proof_drawing(answer.proof, word, share, shared=len(alike) > 1)]
    if answer.job is not None:
        parts += [Text(""), *job_drawing(answer.job, word)]
    if answer.run is not None:
        parts += [Text(""), *run_drawing(answer.run, language)]
    parts += _missing(found.missing, language)
    if facts:
        parts += [Text(f"# {line}", style="dim") for line in _notes(answer, word, language)]
    return Group(*parts)


def _findings(answer: DiagnoseAnswer, language: Language) -> Iterator[RenderableType]:
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


def _of_same_world(proof: Proof, findings: Sequence[Weighed]) -> tuple[Weighed, ...]:
    """Return the likely causes that change the network as the one that was played."""
    return tuple(
        one
        for one in findings
        if one.explanation.world == proof.world
        and one.explanation.fits
        and one.confidence > _LIKELY
    )


def _missing(missing: Sequence[Missing], language: Language) -> Iterator[RenderableType]:
    word = diagnose_words(language)
    for fact in missing:
        line = word["because"].format(why=_why(fact.why, language), ask=_ask(fact.ask, language))
        name = said(fact.fact, language, "facts")
        yield labelled(word["missing"], [Text(f"{name}: {line}", style="yellow")])


def _title(answer: DiagnoseAnswer, word: Words) -> RenderableType:
    found = answer.diagnosis
    text = Text(word[found.verdict], style=f"bold {_STYLES.get(found.verdict, '')}".strip())
    if faults := _faults(answer):
        text.append(f", {word['beside'].format(count=faults)}", style="bold red")
    if found.judged is None:
        return text
    judged = found.judged
    text.append(
        f"  {word['measured']} {gigabytes(judged.curve.last.busbw)}, {word['expected']} "
        f"{gigabytes(judged.expected[-1])} GB/s "
        f"({gigabytes(judged.low[-1])}-{gigabytes(judged.high[-1])}), "
        f"{units.show_percent(judged.ratio)}"
    )
    if judged.dips:
        point = judged.curve.points[judged.place]
        text.append("; " + word["at_size"].format(
            measured=gigabytes(point.busbw), expected=gigabytes(judged.expected[judged.place]),
            share=units.show_percent(judged.least), size=units.show_bytes(point.size),
        ))  # fmt: skip
    curve = judged.curve
    line = word["on"].format(
        collective=curve.collective or "all_reduce", system=answer.system,
        ranks=curve.ranks or answer.ranks or _told(answer, "ranks"),
        nodes=curve.nodes or answer.nodes or _told(answer, "nodes"),
    )  # fmt: skip
    return Group(text, Text(line))


def _faults(answer: DiagnoseAnswer) -> int:
    """Return how many findings are faults that do not show in the numbers."""
    return sum(one.beside for one in answer.diagnosis.findings)


def _told(answer: DiagnoseAnswer, name: str) -> str:
    value = answer.facts.get(name)
    return "?" if value is None else shown(value)


def _curve(judged: Judged, word: Words) -> Table:
    """Return the largest sizes: what was measured beside what it should be."""
    table = Table.grid(padding=(0, 2))
    for _ in range(4):
        table.add_column(justify="right", no_wrap=True)
    table.add_row(word["size"], word["measured"], word["expected"], word["ratio"], style="bold")
    points = list(zip(judged.curve.points, judged.expected, strict=True))
    step = max(1, -(-len(points) // _MOST_ROWS))
    for point, middle in points[::-1][::step][::-1]:
        share = units.show_percent(point.busbw / middle)
        table.add_row(
            units.show_bytes(point.size), gigabytes(point.busbw), gigabytes(middle), share
        )
    return table


def _shape(judged: Judged, word: Words) -> Iterator[RenderableType]:
    shape = judged.shape
    figures = {"plateau": gigabytes(shape.plateau)}
    if shape.fall is not None:
        before, after = shape.fall
        figures |= {"before": gigabytes(before.busbw), "after": gigabytes(after.busbw),
                    "at": units.show_bytes(after.size)}  # fmt: skip
    yield labelled(word["shape"], [Text(word[shape.shape].format(**figures))])
    if judged.dips:
        points = judged.curve.points
        sizes = [units.show_bytes(points[place].size) for place in judged.short]
        large = f"{sizes[0]} - {sizes[-1]}" if len(sizes) > 1 else sizes[0]
        last = units.show_bytes(points[-1].size)
        yield Text(word["dips"].format(sizes=large, count=len(sizes), last=last), style="yellow")


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
    return bool(one.evidence) and one.confidence >= _LIKELY


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


def _why(text: str, language: Language) -> str:
    """Return why a fact is missing; a cause that it would settle by its name in ``language``."""
    for cause in causes() if language == "zh" else ():
        if text == settles(cause):
            return diagnose_words(language)["settles"].format(cause=cause.zh)
    return said(text, language, "diagnose")


def _ask(text: str, language: Language) -> str:
    """Return how to find a fact; it may be the next step of a cause."""
    told = said(text, language, "diagnose")
    return told if told != text else said(text, language, "next")


def _notes(answer: DiagnoseAnswer, word: Words, language: Language) -> Iterator[str]:
    wire = "" if answer.wire is None else word["wire"].format(rate=gigabytes(answer.wire))
    for note in answer.notes:
        yield word[note].format(wire=wire)
    for text in answer.assumed:
        yield f"{word['assumed']}: {said(text, language, 'diagnose')}"
    for name, value in answer.facts.items():
        origin = answer.origins.get(name)
        if origin is not None:
            told = said(shown(value, name), language, "facts")
            yield f"{said(name.replace('_', ' '), language, 'facts')}: {told} ({origin})"
