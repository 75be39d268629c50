"""Renders what ``read`` found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from artery.answers.read import FileRead, ReadAnswer
from artery.report.drawing.terminal import indented, labelled
from artery.report.said import said
from artery.report.words import Language, Words, by_language

_EN = {
    "warning": "warning",
    "ignored": "ignored",
    "missing": "missing",
    "untested": "this reader never met a real file of that format; check what it says",
    "line": "line {line}: {why}",
    "lines": "lines {line} to {last}: {why}",
    "more": "and {count} more",
    "system": "system measurement workload trace log jobs state",
}
_ZH = {
    "warning": "警告",
    "ignored": "已忽略",
    "missing": "缺少",
    "untested": "此格式的读取器未经真实文件检验，请核对结果",
    "line": "第 {line} 行：{why}",
    "lines": "第 {line} 至 {last} 行：{why}",
    "more": "另有 {count} 处",
    "system": "系统 测量 负载 轨迹 日志 作业 状态",
}
read_words = by_language(_EN, _ZH)
"""The table of one language; both have the same keys."""

_MOST_IGNORED = 5


def read_payload(answer: ReadAnswer) -> Mapping[str, object]:
    """Return the keys of ``artery.read/1``."""
    return {"files": answer.files}


def read_drawing(answer: ReadAnswer, language: Language) -> RenderableType:
    """Return for each file its format, what it says, warnings, and what was ignored."""
    return Group(*(_file(one, language) for one in answer.files))


def formats_text(known: Iterable[tuple[str, str]], language: Language) -> str:
    """Return a line for each format: its name, as ``--format`` takes it, and its kind."""
    rows = list(known)
    word = read_words(language)
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {_kind(kind, word)}" for name, kind in rows)


def _file(one: FileRead, language: Language) -> RenderableType:
    word = read_words(language)
    kind = f" ({_kind(one.kind, word)})"
    title = Text.assemble((one.path, "bold"), "  ", (one.format, "cyan"), kind)
    summary = (said(line, language, "summaries") for line in one.summary)
    parts: list[RenderableType] = [Text(line, overflow="fold") for line in summary]
    told = (said(line, language) for line in one.warnings)
    notes = (*told, *(() if one.tested else (word["untested"],)))
    if notes:
        parts.append(labelled(word["warning"], (Text(note, style="yellow") for note in notes)))
    missing = one.fields.get("missing_facts")
    if isinstance(missing, (list, tuple)) and missing:
        facts = (said(str(fact), language, "summaries") for fact in missing)
        parts.append(labelled(word["missing"], map(Text, facts)))
    if one.ignored:
        parts.append(labelled(word["ignored"], _ignored(one, language)))
    return Group(title, *(indented(part) for part in parts))


def _kind(kind: str, word: Words) -> str:
    kinds = dict(zip(_EN["system"].split(), word["system"].split(), strict=True))
    return kinds[kind]


def _ignored(one: FileRead, language: Language) -> list[RenderableType]:
    word = read_words(language)
    lines: list[RenderableType] = []
    for run in one.ignored[:_MOST_IGNORED]:
        last = run.line + run.count - 1
        text = word["line"] if run.count == 1 else word["lines"]
        why = said(run.why, language, "summaries")
        lines.append(Text(text.format(line=run.line, last=last, why=why), style="dim"))
    left = len(one.ignored) - _MOST_IGNORED
    if left > 0:
        lines.append(Text(word["more"].format(count=left), style="dim"))
    return lines


def system_file(values: Mapping[str, Any], origin: str, notes: Iterable[str] = ()) -> str:
    """Return the tables ``values`` as a system file of ours (TOML), origin and notes before it."""
    lines = [f"# From {_one_line(origin)}.", *(f"# {_one_line(note)}" for note in notes)]
    plain = {key: value for key, value in values.items() if not isinstance(value, Mapping)}
    lines += [f"{key} = {_toml(value)}" for key, value in plain.items()]
    for key, table in values.items():
        if isinstance(table, Mapping):
            lines += [
                "",
                f"[{key}]",
                *(f"{name} = {_toml(value)}" for name, value in table.items()),
            ]
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml(part)}" for key, part in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_toml(part) for part in value)
        return f"[{inner}]"
    escaped = _one_line(str(value)).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
