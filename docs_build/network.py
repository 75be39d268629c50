"""``docs/network.md`` and its Chinese twin: the simulated network beside others' figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from accuracy.agreement import kept as agreement
from accuracy.network import HTSIM, NDP_WINDOW, PLANNED, Row, kept
from accuracy.network_scale import kept as kept_at_scale
from artery.answers.tour.article import Text
from artery.report.words import Language
from docs_build import ROOT
from docs_build.network_leaves import AFTER_LEAVES, LEAVES
from docs_build.network_played import read_back, sums
from docs_build.network_scale import GROWN, grown, scale

_INTRO: Final = Text(
    """\
# The simulated network, checked

What `artery simulate` does where ports are full, where packets are sprayed, and where others
measured or computed the same. `python -m accuracy.network` and `accuracy.network_scale` play every
case here; the engines themselves are held to packets and closed forms by the tests.
[中文](network.zh.md)

## A victim beside an incast

`k` hosts send to one; a victim shares one link with one of them and goes elsewhere. Its share of
that link, in per cent, with buffers of 400 kB a port:

""",
    """\
# 仿真网络的核对

端口缓冲写满时、逐包分散时，以及别人测过或算过的情形里，`artery simulate` 给出什么。
`python -m accuracy.network` 与 `accuracy.network_scale` 运行此页的全部案例；
引擎本身由测试与逐包仿真和闭式公式核对。
[English](network.md)

## 汇聚旁边的受害流

`k` 台主机发往同一台；受害流与其中一台共用一条链路，去往别处。每端口缓冲 400 kB 时，
它所得的链路份额（%）：

""",
)

_VICTIM: Final = Text(
    "| k | C/k | paused (PFC) | the same, packet by packet | credits | PFC with marks | endless "
    "buffers | sprayed, PFC |\n",
    "| k | C/k | 暂停（PFC） | 同左，逐包 | 信用 | PFC 加标记 | 无限缓冲 | 分散，PFC |\n",
)

_AFTER_VICTIM: Final = Text(
    """
A paused port blocks whoever waits behind it: the victim falls to C/k, and buffers taken as endless
hide that. With a matrix or other jobs beside, `simulate` plays the transport's own flow control by
itself; `--flow-control` asks for it or forbids it, and the answer names the ports that were held
up. Buffers inside a node are not played; tori and dragonflies, whose circles need virtual
channels, are not either.

## What htsim printed

1,024 hosts under a fat tree (k = 16), 100 Gb/s, a permutation of 2 MB each. A message alone takes
160 us, and ideal spraying 160 to 175; csg-htsim printed 311 us for NDP, which sprays, and 988 us
for hashed RoCE. The same in the packet engine, with htsim's defaults (packets of 9,000 B and 64 of
headers, cables of 1 us, switches that store packets), by packets under way:

""",
    """
被暂停的端口会挡住排在它后面的一切：受害流跌到 C/k，而按无限缓冲计算会掩盖这一点。
给出矩阵或旁边有其他作业时，`simulate` 自动仿真该传输自身的流控；`--flow-control` 可要求或关闭，
结果会列出被阻塞的端口。节点内部的缓冲不仿真；环面与蜻蜓网的环路需要虚通道，也不仿真。

## htsim 的数字从何而来

胖树（k = 16）下 1,024 台主机，100 Gb/s，每台 2 MB 的排列流量。单独一条消息 160 us，
理想分散 160 至 175 us；csg-htsim 对分散的 NDP 打印 311 us，对哈希的 RoCE 打印 988 us。
在本项目的逐包引擎里采用 htsim 的默认值（9,000 B 的包加 64 B 头部、1 us 的线缆、存储转发交换机），
按在途包数：

""",
)

_HTSIM: Final = Text(
    "| packets under way | routing | least | median | greatest |\n",
    "| 在途包数 | 路由 | 最短 | 中位数 | 最长 |\n",
)

_AFTER_HTSIM: Final = Text(
    """
So the 311 us are NDP's window: {window} packets, 135 kB, against 204 kB that are under way in a
round trip of 12 us of cable and 4.3 us of store-and-forward. Flows inside a rack, whose round trip
is short, are not slowed (167 us). The 7 to 8 % still missing are, we think, the pulls that pace
each packet and the last acknowledgement, which htsim counts; that is not played here. The 988 us
are six messages on one link, 6 · 161.7 us, and the way there.

## Hashing on four leaves and two spines

Ring all-reduce over 64 GPUs, bus bandwidth lost to hashed paths against planned ones. Measured:
Tolly report 225112. Simulated: eight paths hashed per pair of cards (two channels with four
connections each, assumed), 100 seeds, 5 to 95 in a hundred, in the coupled engine. The first of
these commands gives planned paths, the second hashed ones, and the loss is 1 minus the time of the
first over the time of the second:

```console
artery simulate all_reduce --on tests/fixtures/systems/four-leaves.toml:64 --algorithm ring \\
    --size 1G --engine coupled --routing static
artery simulate all_reduce --on tests/fixtures/systems/four-leaves.toml:64 --algorithm ring \\
    --size 1G --engine coupled --routing ecmp --queue-pairs 8 --seeds 100
```

""",
    """
因此 311 us 来自 NDP 的窗口：{window} 个包，135 kB，而 12 us 线缆加 4.3 us 存储转发的往返时间内
可在途 204 kB。机架内的流往返时间短，不受影响（167 us）。仍差的 7 至 8 % 我们认为是逐包的拉取信号
和 htsim 计入的最后一次确认，此处没有仿真。988 us 是同一链路上的六条消息，6 · 161.7 us，加上路程。

## 四叶两脊上的哈希

64 块 GPU 的环形 all-reduce，哈希路径相对规划路径损失的总线带宽。实测：Tolly 报告 225112。
仿真：每对网卡哈希八条路径（两个通道各四个连接，假定），100 个种子，5 % 至 95 %，耦合引擎。
下面第一条命令给出规划路径，第二条给出哈希路径，损失为 1 减去前者用时除以后者用时：

```console
artery simulate all_reduce --on tests/fixtures/systems/four-leaves.toml:64 --algorithm ring \\
    --size 1G --engine coupled --routing static
artery simulate all_reduce --on tests/fixtures/systems/four-leaves.toml:64 --algorithm ring \\
    --size 1G --engine coupled --routing ecmp --queue-pairs 8 --seeds 100
```

""",
)

_BEFORE_CLOSED: Final = Text(
    """
## Simulated and closed form, nobody in the way

`expect` computes, `simulate` plays. `python -m accuracy.agreement` does both on every system of the
catalog, for every collective and algorithm that both know, on part of a node, one, two and four
nodes, with 1 MiB, 32 MiB and 1 GiB, on planned paths (sprayed where a chip has several cards):
{agree} of {total} pairs are within 5 %. The others, simulated over expected:

""",
    """
## 无人争用时的仿真与闭式公式

`expect` 计算，`simulate` 仿真。`python -m accuracy.agreement` 对目录中的每个系统、两者都知道的
每种集合通信与算法，在部分节点、一个、两个和四个节点上，以 1 MiB、32 MiB、1 GiB 和规划好的路径
（芯片有多块网卡时逐包分散）各做一遍：{total} 对中 {agree} 对相差不超过 5 %。
其余的，仿真比闭式公式：

""",
)

_AGREEMENT: Final = Text(
    "| algorithm | why | pairs | least | most | farthest |\n",
    "| 算法 | 原因 | 对数 | 最小 | 最大 | 相差最多 |\n",
)

_AFTER_AGREEMENT: Final = Text(
    """
`simulate` names the reason in its answer:

- `hidden`: on the network alone a ring hides latency behind its slowest link (the time of a round
  is the greater of the two, Baccelli et al., 1992); the closed form adds the latency of every step
  to the bytes, as NCCL's own model does and as its constants were fitted. Inside nodes both add
  them: each channel of a library has threads of its own, which wait and then copy. Which of both a
  library does between nodes is not published.
- `partners`: halving and doubling, which no library takes by itself, has one partner at a time. The
  closed form takes every pair to have a link as wide as any; on DGX-1 some have none, and on PCIe
  some share one.
- `sides`: on tori with open or unlike sides some links wait for others (v5e and v6e up to 16 x 16
  of them), and a rank's next one may be a whole row away; the closed form takes all links as busy.
- `rows`: on a network on a chip part of a row counts as a whole one.
- `slots`: heads of trees over PCIe nodes send to chips and cards over one slot.
- `turns`: small messages of an all-to-all reach a receiver now by more, now by fewer senders.
- `pieces`: chains and trees pass on pieces (Simple: 512 KiB over all channels, assumed: a channel
  of NCCL has slots of 512 KiB, but halves what it puts into them while a tree has few; LL and
  LL128: every line), which the closed form counts over all channels at once.
- `sprayed`: packets draw their card, and now one has more, now another; pieces smaller than a
  packet, as chains and trees pass on by LL128, keep to one.
- `meeting`: planned paths meet on a fat tree; `one_card`: without spraying, a pair keeps to one
  of a chip's cards or ports, of which the closed form counts all.

What both had to learn for this: of four or six chips that are all joined every link is in two
rings, each with half of it, as NCCL's search shares links (`src/graph/search.cc`), so that rings
over 4 of 8 MI300X use all three links of a chip (we know of no measurement; RCCL's tips for fewer
than eight GPUs promise a fraction). An all-to-all goes over the cables that each pair has: the
sockets of a DGX-1, the trunk between 4 and 6 chips, the up-links of PCIe switches; a library's
share of NVLink does not slow those down, flags (LL, LL128) do. Halving and doubling, and two
levels, take their parts one after the other.

By case, with every message played too:

""",
    """
`simulate` 在结果里写明原因：

- `hidden`：单看网络，环把时延藏在最慢链路之后（一轮的时间取两者中较大者，Baccelli 等，1992）；
  闭式公式把每一步的时延加在字节之上，NCCL 自己的模型如此，其常数也是这样拟合的。
  节点之内两者都相加：通信库的每个通道有自己的线程，先等待再复制。节点之间究竟如何，没有公开数据。
- `partners`：折半与倍增（没有通信库默认采用）每次只有一个伙伴。闭式公式认为每对都有同样宽的链路；
  DGX-1 上有的没有，PCIe 上有的共用。
- `sides`：环面有开放或不等的边时，一些链路要等另一些（v5e、v6e 的 16 x 16 之内），
  下一个 rank 可能相隔一整行；闭式公式认为全部链路一直在忙。
- `rows`：片上网络中不满的一行按整行计。
- `slots`：PCIe 节点间的树，首芯片经同一插槽发往芯片与网卡。
- `turns`：小的 all-to-all 中，同一时刻发往一个接收方的时多时少。
- `pieces`：链与树传递小块（Simple：全部通道合计 512 KiB，假定：NCCL 每个通道的槽位为 512 KiB，
  但树的块数少时把每块减半；LL 与 LL128：每一行），闭式公式对全部通道合计一次。
- `sprayed`：每个包随机选网卡，时而此多、时而彼多；链与树以 LL128 传递的块小于一个包，只走一块网卡。
- `meeting`：规划好的路径在胖树上相遇；`one_card`：不分散时，一对只用芯片的一块网卡或一个端口，
  闭式公式则全部计入。

为此两者都有所改正：四块或六块全互联的芯片，每条链路在两个环里，各占一半，与 NCCL 的搜索共享链路一样
（`src/graph/search.cc`），因此 8 块 MI300X 中 4 块上的环用满每块芯片的三条链路（我们不知道有实测；
RCCL 对少于八块 GPU 的提示只说是一部分）。all-to-all 走每对实际拥有的线缆：DGX-1 的插槽间链路、
4 块与 6 块之间的干线、PCIe 交换机的上行；通信库在 NVLink 上的份额不使它们变慢，
标志位（LL、LL128）会。
折半与倍增以及两级算法的各部分依次进行。

逐例，并逐条消息仿真：

""",
)

_CLOSED: Final = Text(
    "| case | closed form | coupled | against it | every message |\n",
    "| 案例 | 闭式公式 | 耦合 | 相对闭式 | 逐条消息 |\n",
)

_END: Final = Text(
    """
`plan --network simulate` counts a step's latency by the closed form's law, and only bytes cross
the network that it plays: so the two differ by what is in the way and by nothing else. Over five
systems with one leaf a rail and one over EFA, groups that lie evenly on their nodes, of any size
and stride, and NCCL's algorithms from 1 B to 16 GiB, they agree within 2 % (a test draws them at
random). So do the five best plans of llama3-405b on 1,024, 2,048 and 16,384 chips of DGX H100,
and deepseek-v3 on 2,048. Groups that share a node unevenly do meet on its cards, and differ by
that, and by what hashes let collide. Steps that wait for each other (PAT, one rank a node) are let
overlap there: up to 14 % too fast where their paths collide, the same where none do.

No network makes a chip pass bytes on faster than it does inside one node: that is measured (370
GB/s on an H100, 365.8 over four nodes), so that neither form lets a ring have more because only
seven of eight hops of a node are NVLink. It also holds for copies through host memory (rtx3090x2)
and for switches inside nodes of more than eight chips (CollNet on two NVL72 racks).

Trees pass on slices of 512 KiB (the buffer of NCCL's Simple protocol, assumed) over all channels,
so that half a mebibyte goes from rank to rank as one; through the switches of nodes 64 KiB (128 on
fewer than four nodes, as NCCL sets them). Two slices of one tree that enter a node at once share
its card. Up to 400,000 messages trees are played slice by slice, each passed on as soon as it is
there and the next rank has room in one of eight slots a channel. Beyond, or with
`--engine coupled`, each tree is one variable, up to 10 % too fast (20 % with fewer than four
slices; median 4.5 % of 164 cases over 64 to 1,024 chips).
With `--engine messages` a million slices are played at most; where they are coarser than the
library's, the answer says so, and its band reaches down to the pipeline.

Rings that meet between switches, or are bound by latency about as much as by bandwidth, are up to
9 % too fast in the coupled form (25 % with links down); up to 400,000 messages they are played
one by one instead.
""",
    """
`plan --network simulate` 按闭式公式的规则计每一步的时延，所仿真的网络只传字节：两者因此只相差
途中的争用。在五个每条轨道一台叶交换机的系统和一个 EFA 系统上，均匀分布于节点的任意大小与间距的组、
NCCL 的各算法、1 B 至 16 GiB，两者相差不超过 2 %（由测试随机抽取）。llama3-405b 在 1,024、2,048、
16,384 块 DGX H100 芯片上的前五个方案以及 deepseek-v3 在 2,048 块上的也是如此。
不均匀共享节点的组确实在网卡上相遇，差别即由此而来，哈希造成的冲突也是如此。互相等待的步骤
（PAT，每节点一个 rank）在那里允许重叠：路径冲突时最多偏快 14 %，没有冲突时相同。

没有网络能让芯片转发得比在一个节点内更快：那是实测值（H100 为 370 GB/s，四个节点 365.8），因此
两种形式都不会因为节点内八跳中只有七跳走 NVLink 而让环更快。经主机内存的复制（rtx3090x2）和超过
八块芯片的节点内交换机（两个 NVL72 机架上的 CollNet）也是如此。

树按全部通道合计 512 KiB 的切片传递
（NCCL Simple 协议的缓冲，假定），半 MiB 因此整块逐 rank 传递；经节点内交换机时为 64 KiB
（不足四个节点时 128 KiB，按 NCCL 的设置）。同一棵树同时进入一个节点的两个切片共用其网卡。
不超过 400,000 条消息时逐片仿真树：切片一到，且下一个 rank 每通道的八个槽位有空，便向前传递。
更多时，或用 `--engine coupled`，每棵树为一个变量，
最多偏快 10 %（不足四个切片时 20 %；64 至 1,024 块芯片的
164 例中位数 4.5 %）。`--engine messages` 最多仿真一百万个切片；比通信库的粗时，结果会说明，
其误差范围向下直到流水线的用时。

在交换机之间相遇、或受时延与带宽的限制相近的环，耦合形式最多偏快 9 %（有链路故障时 25 %）；
不超过 400,000 条消息时改为逐条仿真。
""",
)


def english() -> str:
    """Return ``docs/network.md``."""
    return _page("en")


def chinese() -> str:
    """Return ``docs/network.zh.md``."""
    return _page("zh")


def _page(lang: Language) -> str:
    tables = {
        name: [row for row in kept() if row.table == name]
        for name in ("victim", "htsim", "leaves", "closed")
    }

    more = kept_at_scale()

    def of(text: Text) -> str:
        return str(getattr(text, lang))

    parts = [
        of(_INTRO), _table(of(_VICTIM), _victims(tables["victim"])),
        of(_AFTER_VICTIM), _table(of(_HTSIM), _sprays(tables["htsim"])),
        of(_AFTER_HTSIM).format(window=NDP_WINDOW), _table(of(LEAVES), _leaves(tables["leaves"])),
        of(AFTER_LEAVES), grown(more, of(GROWN)),
        _count(of(_BEFORE_CLOSED)), _table(of(_AGREEMENT), _apart()), of(_AFTER_AGREEMENT),
        _table(of(_CLOSED), _closed(tables["closed"])), of(_END),
        scale(more, lang),
    ]  # fmt: skip
    name = "network.md" if lang == "en" else "network.zh.md"
    rest = (ROOT / "docs_build" / "templates" / name).read_text("utf-8")
    rest = rest.replace("{sums}", sums()).replace("{read_back}", read_back())
    return "".join(parts) + "\n" + rest


def _table(head: str, rows: Iterator[list[str]]) -> str:
    columns = head.count("|") - 1
    line = "|---" + "|---:" * (columns - 1) + "|\n"
    return head + line + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _by_case(rows: list[Row]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        found.setdefault(row.case, {})[row.name] = row.value
    return found


def _victims(rows: list[Row]) -> Iterator[list[str]]:
    names = ("pause", "packets", "credit", "marks", "endless", "spread")
    for case, values in _by_case(rows).items():
        shown = [f"{100 * values[name]:.1f}" for name in names]
        yield [case, f"{100 / int(case):.1f}", *shown]


def _sprays(rows: list[Row]) -> Iterator[list[str]]:
    for case, values in _by_case(rows).items():
        packets, name = case.split()
        yield [
            packets,
            name,
            *(f"{values[one] * 1e6:.0f} us" for one in ("least", "median", "most")),
        ]
    for name, figures in HTSIM.items():
        yield ["htsim", name, *(f"{one * 1e6:.0f} us" for one in figures)]


def _leaves(rows: list[Row]) -> Iterator[list[str]]:
    for case, values in _by_case(rows).items():
        measured = 1 - 1 / PLANNED[case] if case in PLANNED else 0.0
        low, median, high = (f"{100 * values[one]:.0f}" for one in ("low", "median", "high"))
        yield [case, f"{100 * measured:.1f} %", f"{median} %", f"{low} – {high} %"]


def _count(text: str) -> str:
    rows = agreement()
    agree = sum(row.pairs for row in rows if not row.why)
    return text.format(agree=f"{agree:,}", total=f"{sum(row.pairs for row in rows):,}")


def _apart() -> Iterator[list[str]]:
    for row in agreement():
        if row.why:
            yield [row.algorithm, row.why, str(row.pairs), f"{row.least:.2f}", f"{row.most:.2f}",
                   row.case]  # fmt: skip


def _closed(rows: list[Row]) -> Iterator[list[str]]:
    for case, values in _by_case(rows).items():
        closed, coupled = values["closed"], values["coupled"]
        times = (f"{1e3 * one:.3g} ms" for one in (closed, coupled))
        yield [case, *times, f"{100 * (coupled / closed - 1):+.0f} %",
               f"{1e3 * values['messages']:.3g} ms"]  # fmt: skip
