"""Renders what ``simulate --work`` found: on the terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery import units
from artery.answers.simulate.work_result import WorkAnswer
from artery.report.simulate.down import down_lines, down_payload
from artery.report.simulate.words import simulate_words
from artery.report.words import Language

_SHOWN: Final = 6
"""Ranks that are shown."""

_EN = {
    "title": "{work} on {system}: {ranks} ranks, {tasks} tasks, {routing} routing",
    "time": "time",
    "counts": "collectives: {collectives}, messages: {messages}; give or take {error}",
    "critical": "critical path",
    "share": "{kind}: {time} ({share})",
    "longest": "longest: {what} of rank {rank}, {time}",
    "rank": "rank",
    "finish": "done after",
    "compute": "computes",
    "exposed": "communicates or waits",
    "more": "... {count} ranks in all, the last ones first",
    "links": "hottest links",
    "link": "{name}, sending {load} of the time",
    "replicated": "One rank's trace: every chip runs a copy of it.",
    "timeless": "{count} computations have no duration in the trace: they take no time here.",
    "algorithms": "Collectives run as rings, all-to-all as messages at once, each with the start "
    "of the library; what its algorithms would save is not counted.",
}
_ZH = {
    "title": "{system} 上的 {work}：{ranks} 个 rank，{tasks} 个任务，{routing} 路由",
    "time": "时间",
    "counts": "集合通信 {collectives} 次，消息 {messages} 条；误差约 {error}",
    "critical": "关键路径",
    "share": "{kind}：{time}（{share}）",
    "longest": "最长：rank {rank} 的 {what}，{time}",
    "rank": "rank",
    "finish": "完成于",
    "compute": "计算",
    "exposed": "通信或等待",
    "more": "... 共 {count} 个 rank，最晚完成的在前",
    "links": "最热链路",
    "link": "{name}，{load} 的时间在发送",
    "replicated": "仅一个 rank 的轨迹：每个芯片运行它的一份副本。",
    "timeless": "轨迹中有 {count} 个计算没有时长：此处不计时间。",
    "algorithms": "集合通信按环执行，all-to-all 为同时发送的消息，均计入通信库的启动时间；"
    "未计其他算法可省的时间。",
}
WORK_WORDS: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {"en": MappingProxyType(_EN), "zh": MappingProxyType(_ZH)}
)
"""The words by language; both have the same keys."""


def work_payload(answer: WorkAnswer) -> Mapping[str, object]:
    """Return the keys of ``artery.simulate/1`` for a work."""
    return {
        "work": answer.file,
        "format": answer.form,
        "system": answer.system.name,
        "request": answer.request,
        "ranks": answer.ranks,
        "tasks": answer.tasks,
        "collectives": answer.collectives,
        "messages": answer.messages,
        "time_s": answer.seconds,
        "ranks_done": [
            {
                "rank": one.rank,
                "finish_s": one.finish,
                "compute_s": one.compute,
                "exposed_s": one.exposed,
            }
            for one in answer.times
        ],
        "critical": [
            {"rank": one.rank, "kind": one.kind, "name": one.name, "time_s": one.seconds}
            for one in answer.critical
        ],
        "critical_by_kind_s": answer.shares,
        "engine": answer.engine,
        "engine_error": answer.error,
        "events": answer.events,
        "links": [{"name": name, "load": load} for name, load in answer.links],
        "down": down_payload(answer.down),
        "replicated": answer.replicated,
        "computations_without_duration": answer.timeless,
        "warnings": list(answer.system.warnings),
    }


def work_drawing(answer: WorkAnswer, language: Language) -> RenderableType:
    """Return the time, the path that decides it, the ranks, and the hottest links."""
    word = WORK_WORDS[language]
    title = word["title"].format(
        work=answer.file,
        system=answer.system.name,
        ranks=f"{answer.ranks:,}",
        tasks=f"{answer.tasks:,}",
        routing=answer.request["routing"],
    )
    facts = Table.grid(padding=(0, 2))
    facts.add_column(no_wrap=True, style="bold")
    facts.add_column(overflow="fold")
    for label, line in (*_facts(answer, word), *_failed(answer, language)):
        facts.add_row(label, line)
    notes = [word["algorithms"]] if answer.collectives else []
    if answer.replicated:
        notes.append(word["replicated"])
    if answer.timeless:
        notes.append(word["timeless"].format(count=f"{answer.timeless:,}"))
    lines = [Text(f"# {note}") for note in notes]
    return Group(Text(title, style="bold"), Text(""), facts, Text(""), _ranks(answer, word), *lines)


def _facts(answer: WorkAnswer, word: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield labels with one line each."""
    yield word["time"], units.show_time(answer.seconds)
    yield (
        "",
        word["counts"].format(
            collectives=f"{answer.collectives:,}",
            messages=f"{answer.messages:,}",
            error=units.show_percent(answer.error),
        ),
    )
    for number, (kind, seconds) in enumerate(answer.shares.items()):
        share = units.show_percent(seconds / answer.seconds)
        line = word["share"].format(kind=kind, time=units.show_time(seconds), share=share)
        yield word["critical"] if not number else "", line
    if answer.critical:
        longest = max(answer.critical, key=lambda one: one.seconds)
        yield (
            "",
            word["longest"].format(
                what=longest.name or longest.kind,
                rank=longest.rank,
                time=units.show_time(longest.seconds),
            ),
        )
    for number, (name, load) in enumerate(answer.links):
        line = word["link"].format(name=name, load=units.show_percent(load))
        yield word["links"] if not number else "", line


def _failed(answer: WorkAnswer, language: Language) -> Iterator[tuple[str, str]]:
    """Yield what is down, as for a collective."""
    if answer.down is not None:
        word = simulate_words(language)
        for number, line in enumerate(down_lines(answer.down, word)):
            yield word["down"] if not number else "", line


def _ranks(answer: WorkAnswer, word: Mapping[str, str]) -> Table:
    """Return the ranks that are done last."""
    table = Table.grid(padding=(0, 2))
    for _ in range(4):
        table.add_column(justify="right", no_wrap=True)
    table.add_row(*(word[name] for name in ("rank", "finish", "compute", "exposed")), style="dim")
    for one in sorted(answer.times, key=lambda each: (-each.finish, each.rank))[:_SHOWN]:
        times = (units.show_time(value) for value in (one.finish, one.compute, one.exposed))
        table.add_row(str(one.rank), *times)
    if len(answer.times) > _SHOWN:
        table.add_row("", word["more"].format(count=f"{len(answer.times):,}"))
    return table
