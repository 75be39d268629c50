"""Renders a calibration: what changed, with intervals, what was kept and why, what remains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery import units
from artery.answers.calibrate.checks import Doubt
from artery.answers.calibrate.result import CalibrateAnswer, Changed, Kept, SizeClass
from artery.report.drawing.terminal import commands, indented, labelled
from artery.report.read import system_file
from artery.report.words import Language

_MOST_ROWS: Final = 16

_EN: Final[Mapping[str, str]] = {
    "title": "{system}: {count} points of {files}",
    "errors": "median error {before} before, {after} after; what remains scatters by {noise}",
    "check": "fitted on every other size and tried on the {points} others: {before} before, "
    "{after} after",
    "worse": "on sizes that the fit did not see it does worse than before: measure more sizes, or "
    "fit fewer values",
    "at limit": "{path} is at its limit, {limit}: the data alone may ask for more, which "
    "the hardware does not give",
    "counted": "the residuals of neighbouring sizes hang together: {points} points count",
    "value": "value", "before": "before", "after": "after", "interval": "80 % interval",
    "changed": "changed", "kept": "kept",
    "small": "below {high}", "medium": "{low} to {high}", "large": "from {low}",
    "class": "{size}: {points} sizes, {before} before, {after} after",
    "doubt": "doubt",
    "below": "{source}: {share} of what a healthy {system} gives at the largest size; a fault "
    "would be fitted as a constant",
    "above": "{source}: {share} of what {system} can give at the largest size; it may be another "
    "system",
    "slow step": "{source}: {share} of the speed that {system} gives the plan; whatever slows it "
    "would be fitted as a constant",
    "silent": "these data say less of it than is known already",
    "pair": "these data cannot tell it from {other}",
    "size": "size", "measured": "measured", "file": "file",
    "written": "written to {out}; use it as --on {out}",
    "next": "next", "step": "a step",
}  # fmt: skip
_ZH: Final[Mapping[str, str]] = {
    "title": "{system}：{files} 的 {count} 个点",
    "errors": "中位误差：之前 {before}，之后 {after}；剩余离散 {noise}",
    "check": "隔一个大小拟合，在其余 {points} 个上检验：之前 {before}，之后 {after}",
    "worse": "在未参与拟合的大小上反而更差：请多测一些大小，或少拟合几个值",
    "at limit": "{path} 已到上限 {limit}：仅按数据可能还要更高，但硬件给不出",
    "counted": "相邻大小的残差相关：只相当于 {points} 个点",
    "value": "参数", "before": "之前", "after": "之后", "interval": "80 % 区间",
    "changed": "已改变", "kept": "未改变",
    "small": "小于 {high}", "medium": "{low} 至 {high}", "large": "{low} 起",
    "class": "{size}：{points} 个大小，之前 {before}，之后 {after}",
    "doubt": "存疑",
    "below": "{source}：最大消息只有健康的 {system} 的 {share}；故障会被当作常数拟合",
    "above": "{source}：最大消息达到 {system} 所能的 {share}；可能是另一种系统",
    "slow step": "{source}：速度只有 {system} 按该方案应有的 {share}；拖慢它的一切都会被当作常数",
    "silent": "数据对它所说的不如已知的多",
    "pair": "数据无法把它与 {other} 区分开",
    "size": "大小", "measured": "实测", "file": "文件",
    "written": "已写入 {out}；用作 --on {out}",
    "next": "下一步", "step": "一步",
}  # fmt: skip
WORDS: Final[Mapping[Language, Mapping[str, str]]] = {"en": _EN, "zh": _ZH}


def calibrate_payload(answer: CalibrateAnswer, out: str | None) -> Mapping[str, object]:
    """Return the keys of ``artery.calibrate/1``; ``out`` is the file that was written."""
    return {
        "system": answer.system,
        "files": answer.files,
        "out": out,
        "before": {"median_error": answer.before},
        "after": {"median_error": answer.after, "noise": answer.noise, "points": answer.points},
        "changed": [
            {
                "path": one.knob.path, "unit": one.knob.unit, "before": one.before,
                "after": one.after, "low": one.low, "high": one.high,
                "at_limit": one.at_limit, "prior_spread": one.knob.spread, "why": one.knob.why,
            }
            for one in answer.changed
        ],
        "kept": [
            {"path": one.path, "reason": one.reason, "other": one.other or None}
            for one in answer.kept
        ],
        "check": None if answer.check is None else {
            "points": answer.check.points,
            "median_error_before": answer.check.before,
            "median_error_after": answer.check.after,
            "by_size": [
                {
                    "from_bytes": one.low, "below_bytes": None if one.high == inf else one.high,
                    "points": one.points, "median_error_before": one.before,
                    "median_error_after": one.after,
                }
                for one in answer.check.classes
            ],
        },
        "doubts": [
            {"file": one.source, "reason": one.reason, "of_expected": one.share}
            for one in answer.doubts
        ],
        "framework": answer.framework,
        "rows": [
            {
                "file": one.file, "collective": one.collective, "ranks": one.ranks,
                "nodes": one.nodes, "size_bytes": one.size, "measured_s": one.measured,
                "before_s": one.before, "after_s": one.after,
            }
            for one in answer.rows
        ],
    }  # fmt: skip


def calibrated_file(values: Mapping[str, Any], answer: CalibrateAnswer) -> str:
    """Return the system file, with what changed and why before it."""
    notes = [
        f"{one.knob.path}: {_shown(one, one.before)} -> {_shown(one, one.after)}, 80 % between "
        f"{_shown(one, one.low)} and {_shown(one, one.high)}"
        for one in answer.changed
    ]
    notes += [_at_limit(one, WORDS["en"]) for one in answer.changed if one.at_limit]
    notes += [f"doubt: {_doubt(one, answer, 'en')}" for one in answer.doubts]
    notes += [f"{one.path} kept: {_reason(one, 'en')}" for one in answer.kept]
    return system_file(values, f"artery calibrate {' '.join(answer.files)}", notes)


def calibrate_drawing(
    answer: CalibrateAnswer, language: Language, out: str | None
) -> RenderableType:
    """Return the whole answer; ``out`` is the file that was written."""
    word = WORDS[language]
    title = word["title"].format(
        system=answer.system, count=len(answer.rows), files=", ".join(answer.files)
    )
    parts: list[RenderableType] = [Text(title, style="bold")]
    parts += [indented(Text(line)) for line in _errors(answer, word)]
    if answer.doubts:
        lines = [Text(_doubt(one, answer, language), style="yellow") for one in answer.doubts]
        parts.append(labelled(word["doubt"], lines))
    limited = [Text(_at_limit(one, word)) for one in answer.changed if one.at_limit]
    parts.append(labelled(word["changed"], [_changed(answer, word), *limited]))
    if answer.kept:
        lines = [Text(f"{one.path}: {_reason(one, language)}") for one in answer.kept]
        parts.append(labelled(word["kept"], lines))
    parts += [Text(""), indented(_rows(answer, word))]
    if out is not None:
        parts.append(Text(word["written"].format(out=out)))
        told = f"artery expect all_reduce --on {out}:{answer.rows[-1].ranks}"
    elif answer.check is not None and answer.check.worse:
        told = f"artery diagnose {answer.files[0]} --on {answer.system}"
    else:
        told = f"artery calibrate {' '.join(answer.files)} --on {answer.system} -o calibrated.toml"
    parts.append(commands(word["next"], [*_diagnoses(answer), told]))
    return Group(*parts)


def _diagnoses(answer: CalibrateAnswer) -> Iterator[str]:
    """Yield the commands that find out about the doubts."""
    for one in answer.doubts:
        launched = " --from RUN" if one.reason == "step" else ""
        yield f"artery diagnose {one.source} --on {answer.system}{launched}"


def _doubt(one: Doubt, answer: CalibrateAnswer, language: Language) -> str:
    text = WORDS[language]["slow step" if one.reason == "step" else one.reason]
    share = units.show_percent(one.share)
    return text.format(source=one.source, share=share, system=answer.system)


def _errors(answer: CalibrateAnswer, word: Mapping[str, str]) -> Iterator[str]:
    yield word["errors"].format(
        before=units.show_percent(answer.before), after=units.show_percent(answer.after),
        noise=units.show_percent(answer.noise),
    )  # fmt: skip
    if answer.points < len(answer.rows):
        yield word["counted"].format(points=f"{answer.points:.0f}")
    check = answer.check
    if check is not None:
        yield word["check"].format(
            points=check.points, before=units.show_percent(check.before),
            after=units.show_percent(check.after),
        )  # fmt: skip
        if len(check.classes) > 1:
            yield from (f"  {_by_size(one, word)}" for one in check.classes)
        if check.worse:
            yield word["worse"]


def _by_size(one: SizeClass, word: Mapping[str, str]) -> str:
    name = "small" if not one.low else "large" if one.high == inf else "medium"
    low, high = units.show_bytes(one.low), "" if one.high == inf else units.show_bytes(one.high)
    return word["class"].format(
        size=word[name].format(low=low, high=high), points=one.points,
        before=units.show_percent(one.before), after=units.show_percent(one.after),
    )  # fmt: skip


def _changed(answer: CalibrateAnswer, word: Mapping[str, str]) -> Table:
    table = Table.grid(padding=(0, 2))
    for name in ("value", "before", "after", "interval"):
        table.add_column(no_wrap=True, justify="left" if name == "value" else "right")
    table.add_row(word["value"], word["before"], word["after"], word["interval"], style="bold")
    for one in answer.changed:
        ends = f"{_shown(one, one.low)} - {_shown(one, one.high)}"
        table.add_row(one.knob.path, _shown(one, one.before), _shown(one, one.after), ends)
    return table


def _at_limit(one: Changed, word: Mapping[str, str]) -> str:
    return word["at limit"].format(path=one.knob.path, limit=_shown(one, one.after))


def _shown(one: Changed, value: float) -> str:
    if one.knob.unit == "B/s":
        return units.show_rate(value)
    return units.show_time(value) if one.knob.unit == "s" else f"{value:.3g}"


def _reason(one: Kept, language: Language) -> str:
    return WORDS[language][one.reason].format(other=one.other)


def _rows(answer: CalibrateAnswer, word: Mapping[str, str]) -> Table:
    table = Table.grid(padding=(0, 2))
    for _ in range(4):
        table.add_column(no_wrap=True, justify="right")
    table.add_row(word["size"], word["measured"], word["before"], word["after"], style="bold")
    step = max(1, -(-len(answer.rows) // _MOST_ROWS))
    for one in answer.rows[::-1][::step][::-1]:
        cells = map(units.show_time, (one.measured, one.before, one.after))
        table.add_row(units.show_bytes(one.size) if one.size else word["step"], *cells)
    return table
