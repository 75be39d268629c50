"""What ``diagnose`` found, on the terminal: the verdict, the curve, causes, what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery import units
from artery.answers.diagnose import DiagnoseAnswer
from artery.diagnoser.rules import causes, shown
from artery.diagnoser.verdict import Judged, Missing, settles
from artery.report.diagnose.findings import findings_drawing, of_same_world
from artery.report.diagnose.proof import gigabytes, job_drawing, proof_drawing
from artery.report.diagnose.run import run_drawing
from artery.report.diagnose.trace import trace_drawing
from artery.report.diagnose.words import diagnose_words
from artery.report.drawing.terminal import indented, labelled
from artery.report.said import said
from artery.report.words import Language, Words

_STYLES: Final = {"healthy": "green", "degraded": "yellow", "faulty": "red", "refused": "red"}
_MOST_ROWS: Final = 12


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
    parts += findings_drawing(answer, language)
    if answer.proof is not None:
        alike = of_same_world(answer.proof, found.findings)
        share = sum(one.confidence for one in alike)
        parts += [Text(""), *proof_drawing(answer.proof, language, share, shared=len(alike) > 1)]
    if answer.job is not None:
        parts += [Text(""), *job_drawing(answer.job, word)]
    if answer.run is not None:
        parts += [Text(""), *run_drawing(answer.run, language)]
    parts += _missing(found.missing, language)
    if facts:
        parts += [Text(f"# {line}", style="dim") for line in _notes(answer, word, language)]
    return Group(*parts)


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
