"""The words of ``expect``, in English and Chinese."""

from __future__ import annotations

from artery.report.words import by_language

_EN = {
    "title": "{collective} on {system}: {ranks} rank(s) on {nodes} node(s), {library} {version}",
    "interval": "80 % interval of the largest size: {low} to {high}",
    "and": "; ",
    "limit": "bounded by {tier} ({link})",
    "best": "fastest known algorithm, where it is faster",
    "alone": "One rank: there is nobody to exchange data with, so it costs nothing.",
    "empty": "Sizes below {least:,} B hold no element of {dtype} here: nccl-tests rounds them down "
    "to 0 B, and what it prints for them is the time to start.",
    "average": 'nccl-tests\' "Avg bus bandwidth" is the mean over all sizes, not the peak: '
    "{average:.1f} GB/s here against {peak:.1f} at the largest size.",
    "two_nodes": "Two nodes: each tree has one edge, so busbw may show almost twice what the "
    "network cards carry. Per chip they carry busbw·(k-1)/(n-1): the column wire.",
    "above_link": "busbw is above the link's {rate:.0f} GB/s because the switch does the adding: "
    "a chip sends 1 + 1/n of the data, not 2(n-1)/n. The column wire is what it sends.",
    "best_differs": "The library does not choose the fastest known algorithm at every size: at "
    "{size} {algorithm} would take {time} instead of {current}.{how}",
    "collnet": " It needs the SHARP plugin and NCCL_COLLNET_ENABLE=1.",
    "part_filled": "The last node is part-filled and holds the others up.",
    "next": "next",
}
_ZH = {
    "title": "{system} 上的 {collective}：{nodes} 个节点共 {ranks} 个 rank，{library} {version}",
    "interval": "最大消息的 80 % 区间：{low} 至 {high}",
    "and": "；",
    "limit": "受限于 {tier}（{link}）",
    "best": "已知最快的算法（仅列出更快之处）",
    "alone": "只有一个 rank：没有交换对象，因此不花时间。",
    "empty": "小于 {least:,} B 的大小此处不足一个 {dtype} 元素：nccl-tests 将其向下取整为 0 B，"
    "所列只是启动时间。",
    "average": "nccl-tests 的 “Avg bus bandwidth” 是所有大小的平均值，不是峰值："
    "此处为 {average:.1f} GB/s，而最大消息为 {peak:.1f}。",
    "two_nodes": "两个节点：每棵树只有一条边，因此 busbw 可接近网卡速率的两倍。"
    "每芯片实际线上速率为 busbw·(k-1)/(n-1)，即 wire 一列。",
    "above_link": "busbw 高于链路的 {rate:.0f} GB/s，因为加法由交换芯片完成："
    "每芯片只发送 1 + 1/n 倍数据，而非 2(n-1)/n。wire 一列是实际发送速率。",
    "best_differs": "通信库并非在每个大小上都选用已知最快的算法："
    "{size} 时 {algorithm} 只需 {time}，而非 {current}。{how}",
    "collnet": "这需要 SHARP 插件和 NCCL_COLLNET_ENABLE=1。",
    "part_filled": "最后一个节点未占满，会拖慢其他节点。",
    "next": "下一步",
}

expect_words = by_language(_EN, _ZH)
"""The table of one language; both have the same keys."""
