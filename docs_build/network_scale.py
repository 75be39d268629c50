"""The parts of ``docs/network.md`` on samples of all-to-alls, and on who adds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from accuracy.network import Row
from accuracy.network_scale import DISTANCES, OFFLOADS
from artery import units
from artery.answers.tour.article import Text

GROWN: Final = Text(
    """
Played message by message (`--engine messages`, three seeds, buffers endless and with PFC), the loss
does grow with the size, from between 64 and 256 MB on: steps of small messages take their latency
and the time of chips to pass them on, whatever collides:

| size | endless buffers | PFC |
|---|---:|---:|
""",
    """
逐条消息仿真（`--engine messages`，三个种子，缓冲无限或带 PFC）时，损失确实随大小增长，
始于 64 MB 至 256 MB 之间：小消息的每一步取决于时延与芯片转发的时间，与冲突无关：

| 大小 | 无限缓冲 | PFC |
|---|---:|---:|
""",
)

_SAMPLED: Final = Text(
    """
## All-to-alls of more messages than can be listed

131,072 chips send 17 billion messages to each other. Sent all at once they take as long as the
busiest link sends, and up to 3 % more. So `simulate` routes a sample, all ranks' messages over
{distances} or more of the distances between them, and from that says what each link carries: loads
that vary as hashes do are given the spread of hashes, those that vary less or more their own. The
greatest of very many such loads has a distribution; the answer is its middle, the range nine draws
in ten. An all-to-all of 256 MiB, hashed, {distances} distances, beside every message played:

| all-to-all | every message | sampled | against it | range |
|---|---:|---:|---:|---:|
""",
    """
## 消息太多、无法列出的 all-to-all

131,072 块芯片彼此发送 170 亿条消息。同时发出时，用时等于最忙链路的发送时间，至多再加 3 %，
因此 `simulate` 只对样本选路（所有 rank 到 {distances} 个或更多距离的消息），
并由此得出每条链路的负载：样本中像哈希一样波动的负载按哈希的离散度处理，波动更小或更大的按其自身处理。
大量这类负载中的最大值有其分布；结果是分布的中位数，范围覆盖十次中的九次。
256 MiB 的 all-to-all，哈希路由，{distances} 个距离，与逐条消息对照：

| all-to-all | 逐条消息 | 抽样 | 相对逐条 | 范围 |
|---|---:|---:|---:|---:|
""",
)

_SUMS: Final = Text(
    """
With links down the range is wide, as {distances} distances hardly tell a leaf that lost one way up
of 64; on up to 16,384 chips hundreds are routed.

Rounds that wait for each other (`pairwise`, `windowed`) are played message by message in windows of
successive rounds, 40 million hops in all. Ranks come apart from round to round, as nobody waits for
all, and are then in each other's way: after 64 rounds of one message (24 of eight) a round takes up
to twice as long as at first; rounds drawn one by one stay in step and come out up to 37 % too fast.
So only what follows counts. Against all rounds, on 256 to 2,048 chips of three fat trees, whole and
with 1 % of the cables down, one message takes 0.75 to 1.48 times what its windows say; several, as
many as fit, 0.80 to 1.54. Windows too short for ranks to come apart (on more than 16,384 chips,
`windowed` on more than some 6,000) are raised by a fifth or by two, and true within 0.65 to 1.7
times that. The range says so: `pairwise` on 16,384 chips takes about five seconds.

## Who adds, and how fast

Whoever adds what it receives has a link of its rate more at the end of its paths: in a ring or in
halving-doubling adding at R then takes (n-1)/n of the bytes over R where that is slower than the
links, and nothing where it is not. `--reduce-rate chip` takes a third of the memory's bandwidth
(two bytes are read and one is written), 1.1 TB/s on an H100, which no link reaches. That is why it
costs nothing by default: the shares of the links that libraries reach were fitted to sweeps whose
kernels add.

`--offload` says who adds. `switch` is SHARP between nodes and NVLS inside them. A network card
(`bf2`, `bf3`) adds what comes from other nodes, at a sixth of its memory's bandwidth (both operands
come in, are read, the sum is written and read again; no direct cache access), and sends a
collective's next message itself, 1 us after the last, instead of NCCL's 4 to 12.5 us; both are
assumed. Sums inside a node stay with the chips. An all-reduce of 64 H100:

| size | chips | BlueField-3 | BlueField-2 | switches |
|---|---:|---:|---:|---:|
""",
    """
有链路故障时范围较宽，因为 {distances} 个距离几乎看不出某个叶交换机少了 64 条上行中的一条；
16,384 块芯片以内会对数百个距离选路。

互相等待的轮次（`pairwise`、`windowed`）按相继的轮次分窗逐条仿真，总共四千万跳。没有谁等待所有其他
rank，各 rank 因此逐轮错开并互相妨碍：每轮一条消息时 64 轮（八条时 24 轮）之后，一轮用时最多为起初的
两倍；逐轮抽取的轮次则保持同步，最多偏快 37 %。因此只计其后的部分。与全部轮次相比（三种胖树、
256 至 2,048 块芯片，完好或 1 % 的线缆断开），一条消息时实际用时为各窗所示的 0.75 至 1.48 倍，
多条时 0.80 至 1.54 倍。窗太短、各 rank 来不及错开时（超过 16,384 块芯片，`windowed` 约超过
6,000 块），结果上调五分之一或五分之二，实际在其 0.65 至 1.7 倍之间。范围如实给出：
16,384 块芯片上的 `pairwise` 约需五秒。

## 由谁求和，多快

凡是对收到的数据求和者，其路径末端多一条相应速率的链路：在环或折半倍增里，以 R 求和比链路慢时，
用时为 (n-1)/n 的字节除以 R，不慢时则不占时间。`--reduce-rate chip` 取内存带宽的三分之一
（读两个字节、写一个字节），H100 上为 1.1 TB/s，没有链路能达到。因此默认不另计时间：
通信库达到的链路份额拟合自实测，而那些内核同时在求和。

`--offload` 指定由谁求和。`switch` 在节点间是 SHARP，节点内是 NVLS。网卡（`bf2`、`bf3`）
对其他节点发来的数据求和，速率为其内存带宽的六分之一（两个操作数写入、读出，和写入后再读出；
没有直接缓存访问），并在上一条消息到达 1 us 后自行发出集合通信的下一条，
而不是 NCCL 的 4 至 12.5 us；两者均为假定。节点内的求和仍由芯片完成。64 块 H100 的 all-reduce：

| 大小 | 芯片 | BlueField-3 | BlueField-2 | 交换机 |
|---|---:|---:|---:|---:|
""",
)

_END: Final = Text(
    """
So a card that adds helps small messages, which wait for hosts, and slows large ones down, which
wait for its memory: what the article says of SmartNICs holds of switches.
""",
    """
因此由网卡求和有利于小消息（它们等的是主机），却拖慢大消息（它们等的是网卡内存）：
文章对智能网卡的说法，适用的是交换机。
""",
)


def grown(rows: list[Row], text: str) -> str:
    """Return what hashing costs by size where every message is played."""
    parts = [text]
    for case, found in _by_case(rows, "grown").items():
        spans = (
            f"{100 * found[f'{one} low']:.0f} – {100 * found[f'{one} high']:.0f} %"
            for one in ("none", "pfc")
        )
        parts.append(f"| {case} | {' | '.join(spans)} |\n")
    return "".join(parts)


def scale(rows: list[Row], lang: str) -> str:
    """Return the two parts with their tables."""

    def of(text: Text) -> str:
        return str(getattr(text, lang)).replace("{distances}", str(DISTANCES))

    return "".join([of(_SAMPLED), *_samples(rows), of(_SUMS), *_sums(rows), of(_END)])


def _samples(rows: list[Row]) -> Iterator[str]:
    for case, found in _by_case(rows, "sampled").items():
        whole = found.get("whole")
        shown = f"{1e3 * whole:.2f} ms" if whole else "-"
        off = f"{100 * (found['usual'] / whole - 1):+.1f} %" if whole else "-"
        span = f"{1e3 * found['low']:.2f} – {1e3 * found['high']:.2f} ms"
        yield f"| {case} | {shown} | {1e3 * found['usual']:.2f} ms | {off} | {span} |\n"


def _sums(rows: list[Row]) -> Iterator[str]:
    for case, found in _by_case(rows, "sums").items():
        times = (units.show_time(found[who]) for who in OFFLOADS)
        yield f"| {case} | {' | '.join(times)} |\n"


def _by_case(rows: list[Row], table: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        if row.table == table:
            found.setdefault(row.case, {})[row.name] = row.value
    return found
