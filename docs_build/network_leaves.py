"""What ``docs/network.md`` says of hashing on four leaves and two spines."""

from __future__ import annotations

from typing import Final

from artery.answers.tour.article import Text

LEAVES: Final = Text(
    "| size | measured | simulated, median | simulated, range |\n",
    "| 大小 | 实测 | 仿真，中位数 | 仿真，范围 |\n",
)

AFTER_LEAVES: Final = Text(
    """
Losses come in steps, by how many paths meet on the fullest link: at 1 GB 6 seeds lose nothing, 40
lose 6 %, 29 15 %, 21 22 %, and 4 more. The median lies just above a step: of the first 40 seeds it
is 6 % (9 % with every message played), of 100 as of 1,000 15 %, while the upper end of the range
rises from 22 to 28 % with 1,000. So ask for 100 seeds or more. Without `--engine coupled`,
`simulate` plays every message at 512 MB and 1 GB, and fluid flows from 8 GB on, which takes ten
times as long: of 100 seeds the medians are the same, and the ranges end at
22 to 24 % instead of 20 to 24.

Small messages lose nothing, the largest as much as was measured, and every measured loss lies
within the range of seeds. But the loss at 512 MB and 1 GB is three quarters and two thirds of what
the median seed says: a hash does not know the size, so that in the simulation a ring that collides
at 16 GB collides at 512 MB too, diluted only by latency (12 instead of 17 %). Senders that are
slowed for long, which may be what grows on the real network, are not in the coupled engine. With
one path a pair the median loss is 62 to 65 %, with sixteen none: the number of paths decides.
""",
    """
损失分级出现，取决于最忙链路上相遇的路径数：1 GB 时 6 个种子没有损失，40 个损失 6 %，29 个 15 %，
21 个 22 %，4 个更多。中位数刚过一级的边界：前 40 个种子的中位数为 6 %（逐条消息仿真时 9 %），
100 个与 1,000 个都是 15 %，范围上端在 1,000 个种子时由 22 % 升到 28 %。因此请给 100 个以上的种子。
不加 `--engine coupled` 时，`simulate` 在 512 MB 与 1 GB 逐条消息仿真，8 GB 起按流体流仿真，
用时约为十倍：100 个种子的中位数相同，范围上端为 22 % 至 24 %，而不是 20 % 至 24 %。

小消息没有损失，最大的与实测相当，各个实测损失都在种子的范围之内。但 512 MB 与 1 GB 的损失只有
中位种子的四分之三与三分之二：哈希不知道大小，仿真中在 16 GB 冲突的环在 512 MB 同样冲突，
只被时延冲淡（12 % 而非 17 %）。真实网络上随大小增长的可能是长时间被减速的发送方，它不在耦合引擎里。
每对一条路径时中位损失为 62 % 至 65 %，十六条时没有：路径数决定一切。
""",
)
