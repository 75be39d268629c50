"""``docs/goodput.md`` and its Chinese twin: the failure model against what is published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from accuracy.goodput import (
    SAVES,
    Figure,
    Needed,
    Played,
    compared,
    curve,
    figures,
    network_check,
)
from artery.answers.tour.article import Text
from artery.cloud.failures import RATES
from artery.report.words import Language
from artery.units import show_percent, show_time
from docs_build import template

_RATES: Final = Text(
    "\n## Published failure rates\n\n| name | failures per 1,000 node-days | source |\n"
    "|---|---:|---|\n",
    "\n## 公开的故障率\n\n| 名称 | 每 1,000 节点·天的故障 | 来源 |\n|---|---:|---|\n",
)

_NETWORK: Final = Text(
    "\nA check across fleets: at Alibaba's rates of failing links and switches (HPN, SIGCOMM 2024) "
    "the network of Llama 3 would fail {access:.0f} times in 54 days counting the links of nodes "
    "and leaf switches, {every:.0f} counting all links; {published} were published.\n",
    "\n跨集群核对：按阿里巴巴的链路与交换机故障率（HPN，SIGCOMM 2024），Llama 3 的网络在 54 天里"
    "只计节点链路与叶交换机会故障 {access:.0f} 次，计全部链路 {every:.0f} 次；"
    "公布的是 {published} 次。\n",
)

_FIGURES: Final = Text(
    "\n## Published figures\n\n| what | published | artery | asked for | held | inputs | source |\n"
    "|---|---:|---:|---:|---|---|---|\n",
    "\n## 公开的数字\n\n| 内容 | 公开 | artery | 要求 | 达到 | 输入 | 来源 |\n"
    "|---|---:|---:|---:|---|---|---|\n",
)

_HELD: Final = {True: Text("yes", "是"), False: Text("no", "否")}

_CURVE: Final = Text(
    "\n## Where inputs are missing\n\nNothing is predicted; this is what the published share would "
    "need: the longest restart (loading included) for each time that a save blocks, at the best "
    "interval. A dash: no restart is short enough.\n\n",
    "\n## 缺少输入之处\n\n不作预测；这里给出公开的比例需要什么：在最优间隔下，"
    "对每个保存阻塞时间，重启（含加载）最长可以多久。横线：再短的重启也不够。\n\n",
)
_CURVE_HEAD: Final = Text("| what | share | rate | MTBF |", "| 内容 | 比例 | 故障率 | MTBF |")

_PLAYED: Final = Text(
    "\n## Closed form against a play\n\nThe same job played failure by failure, 20,000 of them, "
    "and drawn at random a million times at once (one tier only): three ways that share no "
    "formula. `off` is against the one that is farther.\n\n"
    "| MTBF | restart | tiers: save, not yet safe | interval "
    "| closed form | played | drawn | off |\n|---:|---:|---|---:|---:|---:|---:|---:|\n",
    "\n## 闭式与逐次推演\n\n同一作业逐次故障推演，共 20,000 次；"
    "再一次性随机抽取一百万次（只限一级）：三种方法不共用公式。"
    "“相差”取较远的一个。\n\n"
    "| MTBF | 重启 | 各级：保存、尚未安全 | 间隔 | 闭式 | 推演 | 抽取 | 相差 |\n"
    "|---:|---:|---|---:|---:|---:|---:|---:|\n",
)

_MISSING: Final = (
    ("llama3", ("llama-3",)),
    ("byterobust-dense", ("rsc-2", "llama-3", "rsc-1", "rsc-1-jobs")),
    ("byterobust-moe", ("rsc-2", "llama-3", "rsc-1", "rsc-1-jobs")),
    ("dlrover-before", ("rsc-2", "rsc-1", "rsc-1-jobs")),
    ("dlrover-after", ("rsc-2", "rsc-1", "rsc-1-jobs")),
)
"""Figures without their inputs, and the rates at which a restart is asked for."""


def english() -> str:
    """Return ``docs/goodput.md``."""
    return _page("en")


def chinese() -> str:
    """Return ``docs/goodput.zh.md``."""
    return _page("zh")


def _page(language: Language) -> str:
    check = network_check()
    counts = {"published": check.published, "access": check.access, "every": check.every}
    network = _said(_NETWORK, language).format(**counts)
    pieces = [
        template("goodput.md", language),
        _said(_RATES, language) + _rows(_rates()),
        network,
        _said(_FIGURES, language) + _rows(_figure(one, language) for one in figures()),
        _said(_CURVE, language) + _curve(language),
        _said(_PLAYED, language) + _rows(_played(one) for one in compared()),
    ]
    return "".join(pieces)


def _said(text: Text, language: Language) -> str:
    return text.en if language == "en" else text.zh


def _rows(rows: Iterable[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _rates() -> Iterator[tuple[str, str, str]]:
    for name, rate in RATES.items():
        yield f"`{name}`", f"{rate.per_1000_node_days:.2f}", rate.source


def _figure(one: Figure, language: Language) -> tuple[str, ...]:
    found, held = one.predicted, one.held
    return (
        one.what,
        _shown(one.published, one),
        "–" if found is None else _shown(found, one),
        "–" if one.within is None else f"± {_shown(one.within, one)}",
        "–" if held is None else _said(_HELD[held], language),
        one.inputs,
        one.source,
    )


def _shown(value: float, one: Figure) -> str:
    return show_percent(value) if one.unit == "%" else show_time(value)


def _curve(language: Language) -> str:
    by_id = {one.id: one for one in figures()}
    saves = " | ".join(f"{save:g} s" for save in SAVES)
    head = f"{_said(_CURVE_HEAD, language)} {saves} |\n|---|---:|---|---:|{'---:|' * len(SAVES)}\n"
    found = (each for name, rates in _MISSING for each in curve(by_id[name], rates))
    return head + _rows(_needed(each) for each in found)


def _needed(one: Needed) -> tuple[str, ...]:
    restarts = ("–" if each is None else show_time(each) for each in one.restarts)
    return one.what, show_percent(one.share), f"`{one.rate}`", show_time(one.mtbf), *restarts


def _played(one: Played) -> tuple[str, ...]:
    tiers = "; ".join(
        f"{tier.name}: {show_time(tier.save)}, {show_time(tier.unsafe)}" for tier in one.tiers
    )
    return (
        show_time(one.mtbf),
        show_time(one.restart),
        tiers,
        " / ".join(show_time(tau) for tau in one.intervals),
        show_percent(one.closed),
        show_percent(one.played),
        "–" if one.drawn is None else show_percent(one.drawn),
        f"{100 * one.off:+.2f} %",
    )
