"""The words of a simulated network, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from artery.report.words import Language

_EN = {
    "label": "network",
    "played": "all groups at once, paths by {routing}: step {step}, closed form {closed} ({off})",
    "seeds": "{seeds} seeds: step {low} to {high}, communication not hidden {least} to {most} "
    "(5 % to 95 %)",
    "seeds_whole": "{seeds} seeds: step {low} to {high}, communication not hidden {least} to "
    "{most} (least to greatest)",
    "undrawn": "all seeds draw the same here (one way for every message), so it was played once",
    "beside": "while gradients are reduced, on the network too: {kinds} of one backward pass",
    "close": "every collective is within {share} of the closed form",
    "off": "{kind}, {collective} of {size} in {groups}: {seconds}, closed form {closed} ({off})",
    "groups": "{groups} groups of {ranks}",
    "one_group": "one group of {ranks}",
    "alone": "{seconds} without the traffic beside it",
    "slowest": "slowest is group {group}, ranks {members}; the middle one takes {median}",
    "link": "most wanted link: {link}, sending {load} of the time, crossed by {crossing}",
    "crossing": "{count} groups of {kind}",
    "crossing_one": "1 group of {kind}",
    "unplayed": "{kind}, {collective}: not played, the closed form stands: {why}",
    "ecmp": "hashing, {ways} for each pair",
    "static": "target (d-mod-k)",
    "spray": "spraying",
    "adaptive": "load",
    "tp": "tensor parallel",
    "pp": "pipeline send/recv",
    "cp": "context parallel",
    "ep": "expert all-to-all",
    "dp": "data parallel",
    "other": "tied embedding",
    "and": ", ",
    "more": "{first} ... ({count} in all)",
}

_ZH = {
    "label": "网络",
    "played": "所有组同时进行，路径按{routing}：一步 {step}，闭式 {closed}（{off}）",
    "seeds": "{seeds} 个种子：一步 {low} 至 {high}，未掩盖的通信 {least} 至 {most}（5 至 95 %）",
    "seeds_whole": "{seeds} 个种子：一步 {low} 至 {high}，未掩盖的通信 {least} 至 {most}"
    "（最短至最长）",
    "undrawn": "此处各种子的抽取结果相同（每条消息只有一条路径），因此只仿真一次",
    "beside": "梯度归约时网络上还有一次反向传播的{kinds}",
    "close": "每个集合通信与闭式相差不超过 {share}",
    "off": "{kind}，{size} 的 {collective}，{groups}：{seconds}，闭式 {closed}（{off}）",
    "groups": "共 {groups} 组，每组 {ranks} 个 rank",
    "one_group": "一组 {ranks} 个 rank",
    "alone": "旁边没有其他流量时为 {seconds}",
    "slowest": "最慢的是第 {group} 组，rank {members}；居中的组用 {median}",
    "link": "争用最多的链路：{link}，{load} 的时间在发送，经过的有{crossing}",
    "crossing": "{kind} {count} 组",
    "crossing_one": "{kind} 1 组",
    "unplayed": "{kind}，{collective}：未能模拟，仍用闭式：{why}",
    "ecmp": "哈希，每对 {ways} 条",
    "static": "目的地（d-mod-k）",
    "spray": "逐包喷洒",
    "adaptive": "负载",
    "tp": "张量并行",
    "pp": "流水线收发",
    "cp": "上下文并行",
    "ep": "专家 all-to-all",
    "dp": "数据并行",
    "other": "共享嵌入",
    "and": "、",
    "more": "{first} ...（共 {count} 个）",
}

CONTENTION_WORDS: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {"en": MappingProxyType(_EN), "zh": MappingProxyType(_ZH)}
)
"""The words by language; both have the same keys."""
