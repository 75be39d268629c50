"""Renders what ``lint`` found, and its rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery.answers.lint import LintAnswer, LintFinding
from artery.diagnoser.lint.rule import Rule
from artery.report.drawing.terminal import indented, labelled
from artery.report.said import said
from artery.report.words import Language

_STYLES: Final = {"error": "red", "warning": "yellow", "note": "cyan"}

_EN: Final[Mapping[str, str]] = {
    "error": "error", "warning": "warning", "note": "note",
    "why": "why", "fix": "fix", "see": "see",
    "clean": "nothing to remark",
    "again": "{count} times, also on lines {lines}",
    "kept": "{passed} of {applied} rules that apply are kept ({files})",
    "examples": "breaks it", "passes": "keeps it",
}  # fmt: skip
_ZH: Final[Mapping[str, str]] = {
    "error": "错误", "warning": "警告", "note": "建议",
    "why": "原因", "fix": "修复", "see": "参见",
    "clean": "没有问题",
    "again": "共 {count} 处，还有第 {lines} 行",
    "kept": "适用的 {applied} 条规则中满足 {passed} 条（{files}）",
    "examples": "违反", "passes": "满足",
}  # fmt: skip
_MORE: Final = 5
"""So many further lines are named where a rule is broken again and again."""

WORDS: Final[Mapping[Language, Mapping[str, str]]] = {"en": _EN, "zh": _ZH}


def lint_payload(answer: LintAnswer) -> Mapping[str, object]:
    """Return the keys of ``artery.lint/1``."""
    return {
        "files": [{"path": one.path, "kind": one.kind, "rules": one.rules} for one in answer.files],
        "findings": [_finding(one) for one in answer.findings],
        "rules_applied": answer.applied,
        "rules_kept": answer.passed,
        "share_kept": answer.share,
        "rules": [],
    }


def rules_payload(rules: Iterable[Rule]) -> Mapping[str, object]:
    """Return the same document for the rules alone."""
    listed = [
        {
            "id": one.id, "level": one.level, "kinds": one.kinds, "title": one.en,
            "why": one.why, "fix": one.fix, "reference": one.reference,
            "fails": one.fails, "passes": one.passes,
        }
        for one in rules
    ]  # fmt: skip
    return {"files": [], "findings": [], "rules_applied": 0, "rules_kept": 0, "share_kept": 1.0,
            "rules": listed}  # fmt: skip


def _finding(one: LintFinding) -> Mapping[str, object]:
    return {
        "rule": one.rule.id,
        "level": one.rule.level,
        "file": one.file,
        "line": one.line,
        "found": one.text,
        "title": one.rule.en,
        "why": one.rule.why,
        "fix": one.rule.fix,
        "reference": one.rule.reference,
    }


def lint_drawing(answer: LintAnswer, language: Language) -> RenderableType:
    """Return the findings as ``file:line``, what stands there, why, and the fix."""
    word = WORDS[language]
    parts: list[RenderableType] = []
    alike: dict[tuple[str, str], list[LintFinding]] = {}
    for one in answer.findings:
        alike.setdefault((one.file, one.rule.id), []).append(one)
    for same in alike.values():
        parts += _finding_lines(same, language)
    if not answer.findings:
        parts.append(Text(word["clean"], style="green"))
    files = ", ".join(f"{one.path}: {one.kind}" for one in answer.files)
    kept = word["kept"].format(passed=answer.passed, applied=answer.applied, files=files)
    parts.append(Text(kept, style="dim"))
    return Group(*parts)


def _finding_lines(same: list[LintFinding], language: Language) -> Iterator[RenderableType]:
    """Yield what a rule found in one file: the first lines, how many there are, why, and the fix.

    The cost does not grow with the findings; ``--json`` has them all.
    """
    word, one = WORDS[language], same[0]
    head = Text(f"{one.file}:{one.line}  ", style="bold")
    head.append(word[one.rule.level], style=_STYLES[one.rule.level])
    head.append(f"  {one.rule.id}  {_title(one.rule, language)}")
    yield head
    yield indented(Text(said(one.text, language, "lint"), style="dim"))
    if len(same) > 1:
        lines = ", ".join(str(each.line) for each in same[1 : 1 + _MORE])
        beyond = ", ..." if len(same) > 1 + _MORE else ""
        again = word["again"].format(count=len(same), lines=lines + beyond)
        yield indented(Text(again, style="dim"))
    why, fix, reference = reasons(one.rule, language)
    yield indented(labelled(word["why"], [Text(why)]))
    yield indented(labelled(word["fix"], [Text(fix)]))
    yield indented(labelled(word["see"], [Text(reference, style="dim")]))


def reasons(rule: Rule, language: Language) -> tuple[str, str, str]:
    """Return why a rule is one, what keeps it, and where that is said."""
    if language == "zh":
        return rule.why_zh, rule.fix_zh, rule.reference_zh
    return rule.why, rule.fix, rule.reference


def _title(rule: Rule, language: Language) -> str:
    return rule.zh if language == "zh" else rule.en


def rules_drawing(rules: Iterable[Rule], language: Language) -> RenderableType:
    """Return the rules as a table."""
    word = WORDS[language]
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in rules:
        table.add_row(
            one.id, Text(word[one.level], style=_STYLES[one.level]), _title(one, language)
        )
    return table
