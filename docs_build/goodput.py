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

_INTRO: Final = Text(
    """\
# Failures and goodput, checked

`artery goodput MODEL --on SYSTEM` says what failures leave of a run. Its parts:

* **Failures** add up over nodes (a series system). Four rates are published that fit the model;
  the default is the first, and answers carry the range of all. They differ by what is counted,
  not by the size of the job: failures are in proportion to nodes.
* **What must be told**: lemon nodes (`--lemon-nodes`; their harm from the same fleet: 14 % of jobs
  failed with them, 4 % without), young hardware (`--young-factor`, `--age`; fading by e in thirty
  days is assumed), parts that take many nodes with them (`--domain-nodes`), slow nodes, link flaps,
  the user's own faults. They are off until told, for no rate of theirs is published per part.
* **A silent error** loses what is trained until it is noticed: an hour, assumed, unless
  `--notice-time` says how often losses and checks are looked at.
* **A restart** is the sum of its parts: notice, stop, reschedule, start, meet, communicators,
  load, first step; each with its source, `assumed` where there is none.
* **Checkpoints** go to a shared store, a local disk or a peer's memory; their cost is the plan's
  own bytes over the system's bandwidths, and each survives some failures only.
* **The share of time that trains** is Daly's complete model (FGCS 22(3), 2006, equation 20) with
  the mean restart, times what farther tiers, copies that are not yet safe, stalls and slow nodes
  take; intervals are those that make it largest. It counts from the first start on. The queue
  before it (`--queue-time`) holds no chips: it costs nothing, nothing fails in it, and of the
  definitions Meta's ETTR and Google's scheduling count it.

A real run is accounted for in the same classes: `artery goodput --log FILE...` takes the phases of
`artery train`, logs of Megatron-LM, torchtitan and others with or without torchrun's own lines,
`sacct -P -D -o JobID,JobName,State,Submit,Start,End`, `kubectl get pods,events -o json`; one file
fills what another leaves open, and at every instant the most telling line counts. Steps done again
after a restart are work lost. With a MODEL the prediction stands beside it.

Files whose times name no zone (`sacct`, most programs) are taken to agree with each other. Beside a
file that names its own (Kubernetes, `artery train`) they are refused until `--time-zone` says
theirs: an offset of hours would pass for waiting. Values that cannot be (negative lengths, a job
that ends before it starts, the years 1970 or 2300, two columns of one name) are refused with line
and field, all at once. Said, and counted as told: phases told twice (once), phases of one rank that
overlap, clocks that go back, gaps of a day, a program that works while its scheduler waits.

The rows below and their inputs stand in `accuracy/data/reliability.csv`; an input that nobody
published is named. `python -m docs_build docs/goodput.md` writes this page.
[中文](goodput.zh.md)
""",
    """\
# 故障与有效产出：核对

`artery goodput 模型 --on 系统` 给出故障之后一次训练还剩多少。它由几部分组成：

* **故障**按节点相加（串联系统）。有四个公开的故障率适用；默认取第一个，答案带上全部的范围。
  它们的差别在于统计什么，而不在于作业的规模：故障与节点数成正比。
* **须由用户给出的**：反复出错的节点（`--lemon-nodes`；危害取自同一机群：有它们时 14 % 的作业失败，
  没有时 4 %）、新硬件（`--young-factor`、`--age`；三十天衰减到 1/e 为假定）、
  一坏就带走许多节点的部件（`--domain-nodes`）、慢节点、链路抖动、用户自己的错误。
  没有公开的单件故障率，所以不给出就不计。
* **静默错误**被发现之前训练的都要重做：假定为一小时；`--notice-time` 给出多久看一次损失与检查。
* **重启**是各部分之和：发现、停止、重新调度、启动、会合、通信组、加载、第一步；
  各有来源，没有来源的写明 `assumed`。
* **检查点**可放在共享存储、本地盘或邻居内存；代价是方案自身的字节数除以系统的带宽，
  每一级只经得起一部分故障。
* **在训练的时间比例**是 Daly 的完整模型（FGCS 22(3)，2006，式 20）取平均重启时间，
  再乘以更远一级、尚未安全的副本、停顿与慢节点所损失的部分；间隔取使其最大者。
  它从首次启动算起。此前的排队（`--queue-time`）不占芯片：不计费，也不计故障；
  各定义中只有 Meta 的 ETTR 与 Google 的 scheduling 计入排队。

真实的运行按同样的类别记账：`artery goodput --log 文件...` 接受 `artery train` 的阶段日志、
Megatron-LM、torchtitan 等的训练日志（带不带 torchrun 自己的行都可以）、
`sacct -P -D -o JobID,JobName,State,Submit,Start,End` 与 `kubectl get pods,events -o json`；
一个文件补上另一个留下的空白，每一刻以说得最具体的一行为准。重启后重做的步算作丢失的工作。
给出模型时，预测列在旁边。

没有时区的时间（`sacct`、多数程序）视为彼此一致。若旁边的文件写明时区（Kubernetes、
`artery train`），则须用 `--time-zone` 给出，否则拒绝：几小时的时差会被当作等待。
不可能的值（负的时长、结束早于开始、1970 或 2300 年、同名的两列）按行和字段一次全部报出并拒绝。
以下会说明并照常计算：重复的阶段（只算一次）、同一 rank 重叠的阶段、
倒退的时钟、长达一天的空白、调度器称在等待时程序却在工作。

以下各行及其输入都在 `accuracy/data/reliability.csv`；无人公布的输入都写明。
`python -m docs_build docs/goodput.zh.md` 重写本页。[English](goodput.md)
""",
)

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
        _said(_INTRO, language),
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
