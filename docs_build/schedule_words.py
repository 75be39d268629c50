"""The words of ``docs/schedule.md`` in both languages; its figures are in :mod:`.schedule`."""

from __future__ import annotations

from typing import Final

from artery.answers.tour.article import Text

PHILLY: Final = Text(
    "\n## Philly: ten windows\n\nThe trace is cut into ten windows of equally many jobs. Each "
    "gets a cluster of 8-chip nodes on which its jobs ask for {load} times the chip-time that "
    "there is until the last submission (they run on for days after it), and starts empty. All "
    "jobs of several chips are taken to be elastic, from a quarter of their chips to double; "
    "jobs of one chip are not. `fewer` is how many chips less than FIFO's cluster give FIFO's "
    "own p90 wait.\n\n| window | chips | FIFO | backfill | elastic | elastic + backfill | p90 "
    "FIFO | p90 elastic + backfill | fewer: backfill | fewer: elastic + backfill |\n"
    "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    "\n## Philly：十个窗口\n\n轨迹按作业数等分为十个窗口。每个窗口各有一个 8 芯片节点的集群，"
    "其作业请求的芯片时间是到最后一次提交为止所有芯片时间的 {load} 倍（作业在其后还要运行数天），"
    "集群从空开始。多芯片作业都视为弹性，从四分之一到两倍；单芯片作业不是。"
    "“省”是达到 FIFO 自身 p90 等待所需芯片比 FIFO 少多少。\n\n"
    "| 窗口 | 芯片 | FIFO | 回填 | 弹性 | 弹性+回填 | p90 FIFO | p90 弹性+回填 "
    "| 省：回填 | 省：弹性+回填 |\n"
    "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
)

SUMMARY: Final = Text(
    "\nMean wait under FIFO over that under another policy, geometric mean of the ten windows "
    "with its 95 % interval (Student's t on the logarithms):\n\n"
    "| policy | at load {load} | least | most |\n|---|---:|---:|---:|\n",
    "\nFIFO 的平均等待与其他策略之比，十个窗口的几何平均及 95 % 区间（对数上的 t 分布）：\n\n"
    "| 策略 | 负载 {load} | 最小 | 最大 |\n|---|---:|---:|---:|\n",
)

NEEDED: Final = Text(
    "\nChips for FIFO's p90 wait, over FIFO's, likewise:\n\n"
    "| policy | chips | fewer |\n|---|---:|---:|\n",
    "\n达到 FIFO 的 p90 等待所需芯片与 FIFO 之比，同样计算：\n\n"
    "| 策略 | 芯片 | 省 |\n|---|---:|---:|\n",
)

LIGHT: Final = Text(
    "\nAt load {load} half of the windows hardly queue, and a ratio of waits says nothing; mean "
    "waits by window:\n\n| window | FIFO | backfill | elastic | elastic + backfill |\n"
    "|---:|---:|---:|---:|---:|\n",
    "\n负载 {load} 时一半窗口几乎不排队，等待之比没有意义；各窗口的平均等待：\n\n"
    "| 窗口 | FIFO | 回填 | 弹性 | 弹性+回填 |\n|---:|---:|---:|---:|---:|\n",
)

THIRTY: Final = Text(
    '\n## "+30 % utilisation": under which mix?\n\n'
    "The article says that a cloud-native scheduler raises utilisation by 30 %. Made-up mixes "
    "after Kalos (4,000 jobs, 20 days, mean of three seeds); useful work done until the last "
    "submission, and until the last job ends, more than under FIFO, under elastic + backfill. "
    "Three things make the difference: chips that FIFO leaves idle while jobs wait (`blocked`, a "
    "share of its chip-time); fewer replicas of a fixed batch, which lose less to communication "
    "while the cluster is full; and, until the end, a shorter tail, as jobs grow on chips that "
    "nobody asks for.\n\n"
    "| mix | chips | load | elastic jobs | blocked | until last submission | until the end |\n"
    "|---|---:|---:|---:|---:|---:|---:|\n",
    "\n## “利用率 +30 %”：在哪种负载下成立？\n\n文章说云原生调度使利用率提高 30 %。"
    "按 Kalos 生成的混合（4,000 个作业，20 天，三个种子的平均）；弹性+回填比 FIFO "
    "多完成的有效工作，分别计到最后提交与计到最后一个作业结束。差别来自三处："
    "FIFO 下有作业等待却空闲的芯片（“受阻”，占其芯片时间）；集群满时固定批次的副本较少，"
    "通信损失较小；计到结束时，作业扩张到无人请求的芯片上，尾部更短。\n\n"
    "| 混合 | 芯片 | 负载 | 弹性作业 | 受阻 | 到最后提交 | 到结束 |\n"
    "|---|---:|---:|---:|---:|---:|---:|\n",
)

VERDICT: Final = Text(
    "\nUntil the last submission {most_arriving} at most, until the end {most_ended} at most; 30 % "
    "or more in {many_arriving} and {many_ended} of {all} rows: {where}. At load {least} it is "
    "{light} until the last submission at most, and {tail} until the end. So 30 % is no property "
    "of the scheduler. It is reached on a cluster that is asked for half as much again as it has, "
    "and counted to the end of the tail; while jobs keep coming it was not reached. On a cluster "
    "that is not asked for more than it has, elasticity buys short queues, not utilisation.\n",
    "\n到最后提交最多 {most_arriving}，到结束最多 {most_ended}；{all} 行中达到 30 % 的各有 "
    "{many_arriving} 与 {many_ended} 行：{where}。负载 {least} 时到最后提交最多 {light}，"
    "到结束最多 {tail}。所以 30 % 并非调度器的性质：只有请求比供给多一半、并且一直计到尾部结束时"
    "才达到；作业仍在到来时没有达到。在请求不超过供给的集群上，弹性换来的是排队短，"
    "而不是利用率高。\n",
)

NOWHERE: Final = Text("none", "无")
OVER: Final = Text("all of them at load {loads}", "都在负载 {loads}")

SPOT: Final = Text(
    "\n## Spot instances\n\nOne training job for as long as the trace lasts, an instance a "
    "node with one chip (`ethernet-10g`). Elastic: goes on with what is left, grows when "
    "instances come back. Fixed: waits until it has all its instances, starts again from its "
    "last checkpoint. Intervals are computed from the trace's own losses; `usual` saves every "
    "30 minutes. Steps kept by the elastic job over those of a fixed one of the best size "
    "(known only afterwards), of the mean size, of the largest size, and of the largest size "
    "that saves as usual.\n\n| trace | model | mean instances | lost a day, each | interval | "
    "best size | mean size | largest | usual |\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n",
    "\n## 竞价实例\n\n整段轨迹内只训练一个作业，一个实例是一个单芯片节点（`ethernet-10g`）。"
    "弹性：用剩下的继续，实例回来再扩张。固定：等到全部实例齐备，从最近的检查点重来。"
    "检查点间隔按轨迹自身的回收率计算；“惯例”每 30 分钟保存一次。表中是弹性作业保留的步数"
    "与固定作业之比：最佳规模（事后才知道）、平均规模、最大规模、最大规模且按惯例保存。\n\n"
    "| 轨迹 | 模型 | 平均实例 | 每个每天被收回 | 间隔 | 最佳规模 | 平均规模 | 最大 | 惯例 |\n"
    "|---|---|---:|---:|---:|---:|---:|---:|---:|\n",
)

SIZES: Final = Text(
    "\nBy the size of the fixed job, as a share of the most instances that there ever were (how "
    "many in brackets; last row: geometric mean):\n\n"
    "| trace | model | 25 % | 50 % | 75 % | 100 % |\n|---|---|---:|---:|---:|---:|\n",
    "\n按固定作业的规模（占出现过的最多实例的比例，括号内为个数；末行为几何平均）：\n\n"
    "| 轨迹 | 模型 | 25 % | 50 % | 75 % | 100 % |\n|---|---|---:|---:|---:|---:|\n",
)

SIZES_END: Final = Text(
    "\nA small job leaves most of what is granted unused; a large one waits for its last ones. "
    "The fixed job is modelled kindly: it waits only while fewer instances are there than it has, "
    "an instance that it loses is replaced at once by a free one where there is one, which "
    "instances go is drawn at random among all, and it saves at the best interval. Twice the work "
    "is what an elastic job gains over one whose size was guessed badly, not over a good guess.\n",
    "\n小的作业用不上大部分到手的实例，大的作业要等最后几个。固定作业的建模是宽厚的：只有实例少于所需时才等待，"
    "失去的实例若有空闲的立即替换，被收回的实例在全部之中随机抽取，检查点取最佳间隔。"
    "两倍的有效工作是弹性作业相对规模猜错的作业所得，而不是相对猜得好的。\n",
)

SPOT_END: Final = Text(
    "\nGeometric means: {best} over the best size, {mean} over the mean size, {most} over the "
    "largest. {twice}\n",
    "\n几何平均：对最佳规模 {best}，对平均规模 {mean}，对最大规模 {most}。{twice}\n",
)
TWICE: Final = Text(
    "Twice the useful work is reached where the instances asked for are mostly not there "
    "({count} of {all} rows against the largest size), not in general.",
    "两倍的有效工作只在所要的实例大多不在时达到（对最大规模，{all} 行中有 {count} 行），并不普遍。",
)
