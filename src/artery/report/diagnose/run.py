"""Renders a training run beside its own plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from artery import units
from artery.answers.diagnose.run import Compared, Differs, RunHeld
from artery.report.drawing.terminal import indented, labelled
from artery.report.words import Language, Words

_EN: Final = {
    "title": "the run against its plan: {model} on {system}",
    "as_planned": "as the plan says",
    "slower": "slower than the plan says",
    "faster": "faster than the plan says: look whether script, model and system are those of the "
    "log",
    "contradicts": "the log contradicts itself: no verdict on the run",
    "excludes": "{name} {said}, but a step of {step} with this plan gives {follows}: one of both "
    "is not measured, or of another run, model or number of GPUs",
    "head": "|measured|expected|ratio",
    "step_s": "step",
    "flop_per_s_per_chip": "model FLOP/s a chip",
    "tokens_per_s": "tokens/s",
    "samples_per_s": "samples/s",
    "mfu": "MFU",
    "memory_bytes": "memory a chip",
    "compute_share": "share computing",
    "exposed_communication_share": "share communicating alone",
    "waiting_share": "share waiting",
    "terms": "expected",
    "best": "best plan for this batch: {step}, {gain} less",
    "differs": "differs",
    "alone": "{flag} {given} -> {best}: alone {step} ({gain})",
    "not_alone": "{flag} {given} -> {best}: only with the others",
    "is_best": "no plan for this batch is more than half a percent faster",
    "memory": "the plan as given does not fit in memory: {need} of {there}",
    "next": "a trace (torch.profiler, Kineto) beside the log tells which part is longer",
}
_ZH: Final = {
    "title": "运行与其计划对照：{model}，{system}",
    "as_planned": "与计划一致",
    "slower": "比计划慢",
    "faster": "比计划快：请确认脚本、模型和系统与日志一致",
    "contradicts": "日志自相矛盾：对此次运行不作判断",
    "excludes": "{name} 为 {said}，但按此计划，每步 {step} 应得 {follows}："
    "两者之一不是实测值，或属于另一次运行、另一模型或另一 GPU 数",
    "head": "|实测|预期|比值",
    "step_s": "每步时间",
    "flop_per_s_per_chip": "每芯片模型 FLOP/s",
    "tokens_per_s": "token/s",
    "samples_per_s": "样本/s",
    "mfu": "MFU",
    "memory_bytes": "每芯片显存",
    "compute_share": "计算占比",
    "exposed_communication_share": "未掩盖通信占比",
    "waiting_share": "等待占比",
    "terms": "预期",
    "best": "此批量的最佳计划：{step}，少 {gain}",
    "differs": "差异",
    "alone": "{flag} {given} -> {best}：单独改为 {step}（{gain}）",
    "not_alone": "{flag} {given} -> {best}：须与其他参数一起改",
    "is_best": "此批量没有快超过 0.5 % 的计划",
    "memory": "给定计划放不进显存：需要 {need}，共有 {there}",
    "next": "再给一份 trace（torch.profiler、Kineto），即可指出哪一部分更长",
}
_WORDS: Final[Mapping[Language, Words]] = MappingProxyType(
    {"en": MappingProxyType(_EN), "zh": MappingProxyType(_ZH)}
)


def run_payload(run: RunHeld) -> Mapping[str, object]:
    """Return the document of a run beside its plan."""
    return {
        "model": run.model,
        "system": run.system,
        "file": run.source,
        "verdict": run.verdict,
        "fits": run.given.fits,
        "compared": [
            {
                "name": one.name,
                "unit": one.unit,
                "measured": one.measured,
                "expected": one.expected,
                "low": one.low,
                "high": one.high,
                "ratio": one.ratio,
            }
            for one in run.compared
        ],
        "expected_breakdown_s": dict(run.terms),
        "best_step_time_s": None if run.best is None else run.best.time.root.value,
        "differs": [
            {"flag": one.flag, "given": one.given, "best": one.best, "alone_step_time_s": one.alone}
            for one in run.differs
        ],
        "contradictions": [
            {"name": one.name, "unit": one.unit, "measured": one.measured, "follows": one.follows}
            for one in run.contradictions
        ],
        "warnings": run.warnings,
    }


def run_drawing(run: RunHeld, language: Language) -> Iterator[RenderableType]:
    """Yield the run's figures beside its plan's, its expected parts, and what differs."""
    word = _WORDS[language]
    yield Text(word["title"].format(model=run.model, system=run.system), style="bold")
    style = "green" if run.verdict == "as_planned" else "yellow"
    yield indented(Text(word[run.verdict], style=style))
    for said in run.contradictions:
        text = word["excludes"].format(
            name=word[said.name], said=_value(said.unit, said.measured),
            step=units.show_time(run.step.measured), follows=_value(said.unit, said.follows),
        )  # fmt: skip
        yield indented(Text(text, style="red"))
    table = Table.grid(padding=(0, 2))
    for justify in ("left", "right", "right", "right"):
        table.add_column(justify=justify, no_wrap=True)
    table.add_row(*word["head"].split("|"), style="bold")
    for one in run.compared:
        cells = (_shown(one, one.measured), _expected(one), units.show_percent(one.ratio))
        table.add_row(word[one.name], *cells)
    yield indented(table)
    step = run.step.expected
    terms = [f"{name} {units.show_percent(value / step)}" for name, value in
             sorted(run.terms, key=lambda pair: -pair[1]) if value >= 0.005 * step]  # fmt: skip
    yield indented(labelled(word["terms"], [Text(", ".join(terms))]))
    if run.given.fits == "no":
        need, there = float(run.given.memory.root.value), run.given.capacity
        text = word["memory"].format(need=units.show_bytes(need), there=units.show_bytes(there))
        yield indented(Text(text, style="red"))
    yield from _differs(run, word)
    if run.verdict == "slower" and not any(one.name == "compute_share" for one in run.compared):
        yield indented(Text(word["next"]))


def _differs(run: RunHeld, word: Words) -> Iterator[RenderableType]:
    step = run.step.expected
    if run.best is None or not run.differs:
        yield indented(Text(word["is_best"]))
        return
    best = float(run.best.time.root.value)
    text = word["best"].format(step=units.show_time(best), gain=units.show_percent(1 - best / step))
    yield indented(Text(text))
    yield indented(labelled(word["differs"], [Text(_line(one, step, word)) for one in run.differs]))


def _line(one: Differs, step: float, word: Words) -> str:
    flag = f"--{one.flag.replace('_', '-')}"
    if one.alone is None:
        return word["not_alone"].format(flag=flag, given=one.given, best=one.best)
    gain = f"{100 * (one.alone / step - 1):+.1f} %"
    time = units.show_time(one.alone)
    return word["alone"].format(flag=flag, given=one.given, best=one.best, step=time, gain=gain)


def _expected(one: Compared) -> str:
    text = _shown(one, one.expected)
    if one.low is None or one.high is None:
        return text
    return f"{text} ({_shown(one, one.low)} - {_shown(one, one.high)})"


def _shown(one: Compared, value: float) -> str:
    return _value(one.unit, value)


def _value(unit: str, value: float) -> str:
    if unit == "s":
        return units.show_time(value)
    if unit == "FLOP/s":
        return units.show_flops(value)
    if unit == "B":
        return units.show_bytes(value)
    return units.show_percent(value) if unit == "1" else units.show_count(value)
