"""The answers of ``fabric check`` and ``fabric diff``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery.answers.fabric.check import CheckAnswer, DiffAnswer
from artery.core.finding import Finding
from artery.report.drawing.terminal import commands, indented
from artery.report.fabric.words import finding_words
from artery.report.plan import labelled_lines
from artery.report.said import said, warned
from artery.report.words import Language, Words

SHOWN: Final = 8
"""Lines of evidence on the terminal; the document has more."""

_STYLE = {"error": "red", "warning": "yellow", "note": "dim"}


def check_payload(answer: CheckAnswer) -> dict[str, Any]:
    """Return the keys of ``artery.fabric/1`` for a check; fixes are in English."""
    word = finding_words("en")
    return {
        "answer": "check",
        "file": answer.file,
        "format": answer.format,
        "fabric": {
            "hosts": answer.hosts,
            "cards": answer.cards,
            "switches": answer.switches,
            "cables": answer.cables,
            "tiers": answer.tiers,
            "islands": answer.islands,
        },
        "spines": [
            {
                "name": one.name,
                "links": one.links,
                "expected": one.expected,
                "missing": one.missing,
            }
            for one in answer.spines
        ],
        "findings": [
            {
                "cause": one.cause,
                "severity": one.severity,
                "where": one.where,
                "figures": one.figures,
                "evidence": one.evidence,
                "fix": word[f"{one.cause}_fix"].format(**one.figures),
            }
            for one in answer.findings
        ],
        "warnings": answer.warnings,
    }


def diff_payload(answer: DiffAnswer) -> dict[str, Any]:
    """Return the keys of ``artery.fabric/1`` for a diff."""
    return {
        "answer": "diff",
        "files": answer.files,
        "same": answer.same,
        "added": answer.added,
        "removed": answer.removed,
        "moved": answer.moved,
        "devices_added": answer.devices_added,
        "devices_removed": answer.devices_removed,
        "warnings": answer.warnings,
    }


def check_drawing(answer: CheckAnswer, language: Language) -> RenderableType:
    """Return the network as it was read, its spines where links are missing, and the findings."""
    word = finding_words(language)
    title = word["read"].format(
        file=answer.file,
        format=answer.format,
        hosts=f"{answer.hosts:,}",
        switches=f"{answer.switches:,}",
        cables=f"{answer.cables:,}",
    )
    parts: list[RenderableType] = [Text(title, style="bold")]
    for tier in answer.tiers:
        line = word["tier_line"].format(
            tier=tier.tier, switches=f"{tier.switches:,}", up=f"{tier.cables_up:,}"
        )
        parts.append(indented(Text(line)))
    if any(one.missing for one in answer.spines):
        parts += [Text(), indented(_spines(answer, word))]
    parts.append(Text())
    if not answer.findings:
        parts.append(Text(word["clean"], style="green"))
    for finding in answer.findings:
        parts += _finding(finding, language)
    remarks = labelled_lines("", (), word["warning"], warned(answer.warnings, language))
    if remarks is not None:
        parts += [Text(), indented(remarks)]
    return Group(*parts)


def _spines(answer: CheckAnswer, word: Words) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(word["spine"], no_wrap=True)
    for name in ("links", "meant", "missing"):
        table.add_column(word[name], justify="right", no_wrap=True)
    for one in answer.spines:
        style = "red" if one.missing else ""
        meant = "–" if one.expected is None else f"{one.expected:,}"
        table.add_row(one.name, f"{one.links:,}", meant, f"{one.missing:,}", style=style)
    return table


def _finding(finding: Finding, language: Language) -> Iterator[RenderableType]:
    word = finding_words(language)
    told = word[finding.cause].format(**finding.figures)
    yield Text.assemble((f"{word[finding.severity]}  ", _STYLE[finding.severity]), told)
    for line in finding.evidence[:SHOWN]:
        yield indented(Text(said(line, language, "evidence"), style="dim"), 4)
    if len(finding.evidence) > SHOWN:
        rest = word["more"].format(count=len(finding.evidence) - SHOWN)
        yield indented(Text(rest, style="dim"), 4)
    yield indented(Text(word[f"{finding.cause}_fix"].format(**finding.figures), style="cyan"), 2)


def diff_drawing(answer: DiffAnswer, language: Language) -> RenderableType:
    """Return what is gone, new and moved."""
    word = finding_words(language)
    counts = word["differ"].format(
        same=f"{answer.same:,}",
        removed=f"{len(answer.removed):,}",
        added=f"{len(answer.added):,}",
        moved=f"{len(answer.moved):,}",
    )
    parts: list[RenderableType] = [Text(" -> ".join(answer.files), style="bold"), Text(counts)]
    parts += _lines("-", answer.removed, "red", word)
    parts += _lines("+", answer.added, "green", word)
    moved = [f"{one.end}: {one.was} -> {one.now}" for one in answer.moved]
    parts += _lines("~", moved, "yellow", word)
    parts += _lines("-", [f"{word['device']} {one}" for one in answer.devices_removed], "red", word)
    parts += _lines("+", [f"{word['device']} {one}" for one in answer.devices_added], "green", word)
    remarks = labelled_lines("", (), word["warning"], warned(answer.warnings, language))
    if remarks is not None:
        parts += [Text(), indented(remarks)]
    parts += [Text(), indented(commands(word["next"], (f"artery fabric check {answer.files[1]}",)))]
    return Group(*parts)


_MOST = 40


def _lines(sign: str, lines: Iterable[str], style: str, word: Words) -> Iterator[RenderableType]:
    every = list(lines)
    for line in every[:_MOST]:
        yield indented(Text(f"{sign} {line}", style=style))
    if len(every) > _MOST:
        yield indented(Text(word["more"].format(count=len(every) - _MOST), style="dim"))
