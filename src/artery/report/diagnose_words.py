"""The words of ``diagnose``, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from artery.report.words import Language, Words

_EN = {
    "healthy": "healthy",
    "degraded": "degraded",
    "faulty": "faulty",
    "refused": "refused",
    "unknown": "unknown",
    "measured": "measured",
    "expected": "expected",
    "ratio": "ratio",
    "on": "{collective} on {system}, {ranks} ranks on {nodes} node(s)",
    "sizes": "by size",
    "size": "size",
    "busbw": "GB/s",
    "causes": "causes",
    "fits": 'expected {expected}, measured {measured}, with "{cause}" {predicted}',
    "unfit": 'with "{cause}" {predicted}: does not explain it',
    "unpriced": '"{cause}": says nothing about the numbers',
    "confidence": "{share} likely",
    "next": "next",
    "reference": "see",
    "missing": "missing",
    "why": "why",
    "because": "{why}. Find it by: {ask}",
    "facts": "facts",
    "assumed": "assumed",
    "notes": "notes",
    "shape": "shape",
    "plateau": "a plateau of {plateau} GB/s",
    "rising": "still rising at the largest size: larger messages would show more",
    "falling": "falls from {before} GB/s at {at} to {after}: congestion or loss, not latency",
    "flat": "flat at {plateau} GB/s over all sizes: the wrong transport",
    "uneven": "up and down: unsteady, measure again on idle nodes",
    "point": "one size only",
    "average": '"Avg bus bandwidth" is the mean over all sizes, not the peak: the largest size '
    "is compared here.",
    "two_nodes": "Two nodes: a tree has one edge, so that busbw may show almost twice what the "
    "cards carry; a ring shows what they carry, and is as right. What a chip puts on the "
    "network, busbw·(k-1)/(n-1): {wire} GB/s.",
    "above_link": "busbw above the link's rate is right where NVSwitches add (NVLS): a chip sends "
    "1 + 1/n of the data, not 2(n-1)/n.",
    "old_columns": "Old all-gather columns: algbw carries (n-1)/n already; busbw is right.",
    "other_curves": "Several curves: this is the one that falls shortest.",
    "collective_unknown": "The file does not name the collective; taken as all-reduce.",
    "size_unknown": "No size was said: compared with the plateau at 8 GiB.",
    "healthy_next": "Nothing to repair: what was measured is what this system gives.",
    "world_network": "{share} of the network's rate is left",
    "world_above_leaf": "{share} of the links above the leaves are left",
    "world_node": "{share} of the links in the node are left",
    "world_node_cap": "a node gets {rate} out",
    "world_transport": "over {value}",
    "world_in_switch": "NVLS off",
    "world_staged": "over PCIe",
    "world_algorithm": "{value}",
}
_ZH = {
    "healthy": "正常",
    "degraded": "性能下降",
    "faulty": "故障",
    "refused": "拒绝判断",
    "unknown": "未知",
    "measured": "实测",
    "expected": "预期",
    "ratio": "比值",
    "on": "{system} 上的 {collective}，{nodes} 个节点共 {ranks} 个 rank",
    "sizes": "按大小",
    "size": "大小",
    "busbw": "GB/s",
    "causes": "原因",
    "fits": "预期 {expected}，实测 {measured}，若“{cause}”则为 {predicted}",
    "unfit": "若“{cause}”则为 {predicted}：不能解释",
    "unpriced": "“{cause}”：不涉及数值",
    "confidence": "可能性 {share}",
    "next": "下一步",
    "reference": "参见",
    "missing": "缺少",
    "why": "原因",
    "because": "{why}。获取方法：{ask}",
    "facts": "事实",
    "assumed": "假设",
    "notes": "说明",
    "shape": "形状",
    "plateau": "平台为 {plateau} GB/s",
    "rising": "到最大消息仍在上升：更大的消息会更高",
    "falling": "在 {at} 处由 {before} GB/s 降到 {after}：是拥塞或丢包，不是延迟",
    "flat": "所有大小都停在 {plateau} GB/s：用错了传输方式",
    "uneven": "忽高忽低：不稳定，请在空闲节点上重测",
    "point": "只有一个大小",
    "average": "“Avg bus bandwidth” 是所有大小的平均值，不是峰值；此处比较的是最大消息。",
    "two_nodes": "两个节点：树只有一条边，busbw 可接近网卡速率的两倍；环则等于网卡速率，同样正常。"
    "每芯片送上网络的速率 busbw·(k-1)/(n-1)：{wire} GB/s。",
    "above_link": "NVSwitch 做加法（NVLS）时，busbw 高于链路速率是正常的："
    "每芯片只发送 1 + 1/n 倍数据，而非 2(n-1)/n。",
    "old_columns": "旧版 all-gather 列：algbw 已含 (n-1)/n；busbw 是对的。",
    "other_curves": "有多条曲线：此处为差距最大的一条。",
    "collective_unknown": "文件未写明集合通信，按 all-reduce 处理。",
    "size_unknown": "未给出消息大小：与 8 GiB 处的平台比较。",
    "healthy_next": "无需修复：实测即为该系统应有的水平。",
    "world_network": "网络速率剩 {share}",
    "world_above_leaf": "叶以上链路剩 {share}",
    "world_node": "节点内链路剩 {share}",
    "world_node_cap": "每节点出口 {rate}",
    "world_transport": "经 {value}",
    "world_in_switch": "NVLS 关闭",
    "world_staged": "经 PCIe",
    "world_algorithm": "{value}",
}

_TABLES: Mapping[Language, Words] = MappingProxyType({"en": _EN, "zh": _ZH})


def diagnose_words(language: Language) -> Words:
    """Return the table of one language; both have the same keys."""
    return _TABLES[language]
