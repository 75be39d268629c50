"""``docs/speed.md`` and its Chinese twin: the speed law of jobs against published steps."""

from __future__ import annotations

from typing import Final

from accuracy.speed import Scored, kept
from artery.answers.tour.article import Text
from artery.cloud.speed import PAIR, SHOWN
from artery.report.words import Language

_INTRO: Final = Text(
    """\
# The speed of a job on the chips it gets, checked

A scheduler gives a job 3 chips here and 13 there; somebody has measured a few of its steps. Four
numbers a job then say the rest (`artery.cloud.speed`): the fixed part and the part per sample of
a step on one chip, the time to move the gradients once, and the share of a step behind which that
hides. Two numbers a cluster say how its links compare: inside a node, and shared by its chips.

* `a100`: ElasticFlow (ASPLOS 2023), steps per second at fixed global batch on 1 to 64 A100. Fitted
  on 1, 2 and 8 chips, tested on 4, 16, 32 and 64.
* `t4`: Pollux (OSDI 2021), step times on nodes of four T4 in a public cloud. Fitted on placements
  in one node and on two over two nodes (1 + 1 and 4 + 4), tested on all others, to 16 nodes.

Errors are |predicted/measured - 1|; `far` is the signed median over the largest tested size.
`python -m accuracy.speed FOLDER` fits and tests; the tables themselves are not part of this
project, only the result is. [中文](speed.zh.md)

| cluster | job | fitted rows | tested rows | median, fitted | median, tested | largest | far |
|---|---|---:|---:|---:|---:|---:|---:|
""",
    """\
# 作业在所得芯片上的速度：核对

调度器给一个作业这里 3 块、那里 13 块芯片；有人测过它的几步。此后每个作业四个数就能说出其余
（`artery.cloud.speed`）：单块芯片上一步的固定部分与每样本部分、把梯度搬运一次的时间、
以及这段时间能藏在一步的多大份额之后。每个集群两个数说明链路之间的关系：节点内，以及同节点芯片的共用。

* `a100`：ElasticFlow（ASPLOS 2023），固定全局批量下 1 至 64 块 A100 的每秒步数。
  以 1、2、8 块拟合，以 4、16、32、64 块检验。
* `t4`：Pollux（OSDI 2021），公有云上每节点四块 T4 的步时间。
  以单节点的布局与两种双节点布局（1 + 1 与 4 + 4）拟合，以其余全部检验，直到 16 个节点。

误差为 |预测/实测 - 1|；`far` 是最大检验规模上带符号的中位数。
`python -m accuracy.speed FOLDER` 拟合并检验；数据表本身不属于本项目，只有结果在此。
[English](speed.md)

| 集群 | 作业 | 拟合行 | 检验行 | 中位数（拟合） | 中位数（检验） | 最大 | far |
|---|---|---:|---:|---:|---:|---:|---:|
""",
)

_END: Final = Text(
    """
What the law leaves out shows in `far`: on many nodes of a shared network the slowest of many
links sets the pace, and two nodes tell nothing of that; such steps come out too short. Steps whose
compute does not fall in proportion to the batch (deepspeech2 below 8 samples) come out too long.
Two of its constants are not fitted: a pair of nodes exchanges both ways over one path (x {pair:g})
and {shown:.0%} of an exchange always shows (assumed). The published tables were seen before the
law was written down.
""",
    """
定律未涵盖的部分见 `far`：在共享网络的许多节点上，许多链路中最慢的一条决定步调，
而两个节点看不出这一点，这类步的预测偏短。
计算时间不随批量成比例下降的步（deepspeech2 在 8 个样本以下）预测偏长。
定律有两个常数未经拟合：两个节点在同一条路径上双向交换（x {pair:g}），
一次交换总有 {shown:.0%} 露出（假定）。写下定律之前已经看过公开的数据表。
""",
)


def english() -> str:
    """Return ``docs/speed.md``."""
    return _page("en")


def chinese() -> str:
    """Return ``docs/speed.zh.md``."""
    return _page("zh")


def _page(lang: Language) -> str:
    rows = "".join(_row(each) for each in kept())
    end = getattr(_END, lang).format(pair=PAIR, shown=SHOWN)
    return f"{getattr(_INTRO, lang)}{rows}{end}"


def _row(one: Scored) -> str:
    job = f"**{one.job}**" if one.job == "all" else one.job
    errors = " | ".join(f"{100 * x:.1f} %" for x in (one.fitted, one.test, one.largest))
    counts = f"{one.fitted_rows:,} | {one.test_rows:,}"
    return f"| {one.cluster} | {job} | {counts} | {errors} | {100 * one.far:+.0f} % |\n"
