"""The words of every terminal answer, in English and Chinese, as in the glossary.

One table per language, with the same keys. A value may hold ``{named}`` fields; the
renderer fills them. Numbers keep SI units in both languages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal

Language = Literal["en", "zh"]
Words = Mapping[str, str]


def by_language(en: Words, zh: Words) -> Callable[[Language], Words]:
    """Return what gives the table of one language."""
    tables: Mapping[Language, Words] = {"en": MappingProxyType(en), "zh": MappingProxyType(zh)}
    return tables.__getitem__


_EN = {
    # parts of the step (the keys of ``breakdown_s``) and of the memory
    "compute": "compute",
    "memory_bound": "memory-bound",
    "tp": "tensor parallel",
    "pp": "pipeline send/recv",
    "cp": "context parallel",
    "ep": "expert all-to-all",
    "dp": "data parallel",
    "bubble": "pipeline bubble",
    "optimizer": "optimizer",
    "host": "host",
    "straggler": "stragglers",
    "other": "other",
    "weights": "weights",
    "gradients": "gradients",
    "activations": "activations",
    # the headline
    "step": "step",
    "interval": "80 % interval",
    "tokens_per_s": "tokens/s",
    "samples_per_s": "samples/s",
    "memory": "memory",
    "of": "of",
    "yes": "fits",
    "at_limit": "at the limit",
    "no": "does not fit",
    "run": "whole run",
    "steps": "steps",
    "per_hour": "/h",
    "energy_per_step": "energy per step",
    "price_unknown": "price unknown",
    "energy_unknown": "energy unknown",
    # parallelism
    "chips": "chips",
    "nodes": "{nodes} nodes",
    "one_node": "one node",
    "plan": "plan",
    "micro_batch": "micro-batch",
    "global_batch": "global batch",
    "sequence": "sequence",
    "recompute": "recompute",
    "recompute_none": "none",
    "recompute_selective": "selective",
    "recompute_full": "full",
    "sequence_parallel": "sequence parallel",
    "searched": "{searched} plans searched, {fitting} fit",
    "given": "the given plan, nothing searched",
    # sections
    "limited_by": "limited by",
    "collectives": "collectives",
    "in_node_switches": "summed in the node's switches",
    "in_network_switches": "summed in network switches",
    "would_help": "would help",
    "would_not_fit": "but would not fit",
    "would_be_at_limit": "but at the memory limit",
    "alternatives": "alternatives",
    "differs": "where they differ",
    "note": "note",
    "warning": "warning",
    "next": "next",
    "nothing_fits": "Nothing fits: of {searched} legal plans none fits in memory. The nearest, "
    "below, needs {over} too much per chip.",
    "given_does_not_fit": "The given plan does not fit in memory: {over} too much per chip.",
    # explain
    "formula": "formula",
    "inputs": "inputs",
    "source": "source",
    "children_sum": "sum of",
    "children_max": "largest of",
    "children_none": "explained by",
    "share_of": "{share} of {root}",
    # scale
    "mode": "scaling",
    "strong": "strong",
    "weak": "weak",
    "speedup": "speed-up",
    "efficiency": "efficiency",
    "exposed": "exposed",
    "amdahl": "Amdahl",
    "breaks": "held back by",
    "failures_per_day": "faults/day",
    "strong_is": "strong scaling: global batch {batch} at every count; ",
    "weak_is": "weak scaling: {batch} samples per chip at every count; ",
    "relative_to": "speed-up against {chips} chips, the smallest count that fits",
    "relative_to_one": "speed-up against one chip",
    "relative_to_none": "none fits",
    "amdahl_is": "Amdahl: 1/((1-P)+P/N) against one chip, P = {fraction}",
    "failures_are": "failures: {rate} per 1,000 node-days ({source})",
    "without": "{chips} chips, {mode}: {reason}",
    "above_linear_is": "efficiency above 100 %: the smallest count that fits pays for its "
    "tight memory or an uneven split, larger ones do not",
    "exposed_is": "exposed: share of the step spent on communication that nothing hides",
    "break_memory": "memory",
    "break_link": "link",
    "break_latency": "latency",
    "break_batch": "batch",
    "break_compute": "compute",
    "break_bubble": "bubble",
    # tour
    "article_says": "the article",
    "picture": "picture",
    "verdict": "verdict",
    "right": "right",
    "imprecise": "imprecise",
    "wrong": "wrong",
    "unsupported": "unsupported",
    "truth": "in truth",
    "figures": "computed",
    "command": "ask artery",
    "tour_title": "From one chip to ten thousand: an article's sentences, checked",
    # doctor
    "doctor_ok": "ok",
    "doctor_missing": "missing",
    "doctor_failed": "failed",
    "needed_for": "needed for",
    "group_python": "Python",
    "group_machine": "machine",
    "group_gpu": "GPU",
    "group_network": "network",
    "group_lab": "lab",
}

_ZH = {
    "compute": "计算",
    "memory_bound": "访存受限",
    "tp": "张量并行",
    "pp": "流水线收发",
    "cp": "上下文并行",
    "ep": "专家 all-to-all",
    "dp": "数据并行",
    "bubble": "流水线气泡",
    "optimizer": "优化器",
    "host": "主机",
    "straggler": "掉队者",
    "other": "其他",
    "weights": "权重",
    "gradients": "梯度",
    "activations": "激活",
    "step": "每步",
    "interval": "80 % 区间",
    "tokens_per_s": "token/s",
    "samples_per_s": "样本/s",
    "memory": "显存",
    "of": "/",
    "yes": "放得下",
    "at_limit": "临界",
    "no": "放不下",
    "run": "整个训练",
    "steps": "步",
    "per_hour": "/小时",
    "energy_per_step": "每步能耗",
    "price_unknown": "价格未知",
    "energy_unknown": "能耗未知",
    "chips": "芯片",
    "nodes": "{nodes} 节点",
    "one_node": "单节点",
    "plan": "方案",
    "micro_batch": "微批",
    "global_batch": "全局批",
    "sequence": "序列长度",
    "recompute": "重计算",
    "recompute_none": "无",
    "recompute_selective": "选择性",
    "recompute_full": "全部",
    "sequence_parallel": "序列并行",
    "searched": "搜索了 {searched} 个方案，{fitting} 个放得下",
    "given": "方案已给定，未搜索",
    "limited_by": "受限于",
    "collectives": "集合通信",
    "in_node_switches": "由节点内交换机求和",
    "in_network_switches": "由网络交换机求和",
    "would_help": "改进办法",
    "would_not_fit": "但放不下",
    "would_be_at_limit": "但显存临界",
    "alternatives": "备选方案",
    "differs": "不同之处",
    "note": "说明",
    "warning": "警告",
    "next": "下一步",
    "nothing_fits": "都放不下：{searched} 个合法方案的显存都超限。"
    "最接近的方案见下，每芯片超出 {over}。",
    "given_does_not_fit": "给定的方案放不下：每芯片超出 {over}。",
    "formula": "公式",
    "inputs": "输入",
    "source": "来源",
    "children_sum": "相加",
    "children_max": "取最大",
    "children_none": "说明",
    "share_of": "占 {root} 的 {share}",
    "mode": "扩展",
    "strong": "强扩展",
    "weak": "弱扩展",
    "speedup": "加速比",
    "efficiency": "效率",
    "exposed": "暴露通信",
    "amdahl": "阿姆达尔",
    "breaks": "瓶颈",
    "failures_per_day": "故障/天",
    "strong_is": "强扩展：各规模的全局批都是 {batch}；",
    "weak_is": "弱扩展：各规模每芯片 {batch} 个样本；",
    "relative_to": "加速比以放得下的最小规模 {chips} 块芯片为基准",
    "relative_to_one": "加速比以单芯片为基准",
    "relative_to_none": "都放不下",
    "amdahl_is": "阿姆达尔：1/((1-P)+P/N)，以单芯片为基准，P = {fraction}",
    "failures_are": "故障：每 1,000 节点·天 {rate} 次（{source}）",
    "without": "{chips} 块芯片，{mode}：{reason}",
    "above_linear_is": "效率超过 100 %：放得下的最小规模受显存不足或切分不均所累，更大的规模没有",
    "exposed_is": "暴露通信：没有被计算掩盖的通信占每步的比例",
    "break_memory": "显存",
    "break_link": "链路",
    "break_latency": "延迟",
    "break_batch": "批",
    "break_compute": "计算",
    "break_bubble": "气泡",
    "article_says": "文章",
    "picture": "比喻",
    "verdict": "判断",
    "right": "正确",
    "imprecise": "不精确",
    "wrong": "错误",
    "unsupported": "没有依据",
    "truth": "事实",
    "figures": "算得",
    "command": "问 artery",
    "tour_title": "从一块芯片到一万块：逐句核对一篇文章",
    "doctor_ok": "正常",
    "doctor_missing": "没有",
    "doctor_failed": "失败",
    "needed_for": "用于",
    "group_python": "Python",
    "group_machine": "本机",
    "group_gpu": "GPU",
    "group_network": "网络",
    "group_lab": "实验台",
}

_PHRASES_ZH = {
    "matrix products and attention": "矩阵乘与注意力",
    "memory bandwidth (norms, activations, residuals)": "显存带宽（归一化、激活、残差）",
    "tensor-parallel collectives": "张量并行集合通信",
    "pipeline sends": "流水线收发",
    "exchange of keys and values": "键值交换",
    "expert all-to-all": "专家 all-to-all",
    "gradient and weight traffic": "梯度与权重通信",
    "pipeline bubble": "流水线气泡",
    "optimizer step": "优化器更新",
    "kernel launches by the host": "主机下发算子",
    "waiting for the slowest node": "等待最慢的节点",
    "tied embedding's all-reduce": "共享词嵌入的 all-reduce",
    "memory is at the limit: one larger batch or a fragmented heap and it does not fit": (
        "显存临界：批再大一点或显存碎片化就放不下"
    ),
    "FSDP over more than 512 ranks: no published run confirms that its traffic still hides": (
        "FSDP 超过 512 个 rank：没有公开的训练证实其通信仍能被掩盖"
    ),
    "FSDP together with a pipeline: weights are gathered for every micro-batch and stage": (
        "FSDP 与流水线并用：每个微批、每个阶段都要收集权重"
    ),
    "ZeRO 2 together with a pipeline: gradients are scattered for every micro-batch": (
        "ZeRO 2 与流水线并用：每个微批都要散发梯度"
    ),
    "tensor parallelism leaves the scale-up domain: small messages on the network": (
        "张量并行跨出纵向扩展域：网络上都是小消息"
    ),
    "sums in network switches": "由网络交换机求和",
    "no collective of this plan is faster summed in network switches: --offload switch changes "
    "nothing": "此方案中没有集合通信由网络交换机求和更快：--offload switch 不改变任何结果",
    "sums in network switches need NCCL's SHARP plugin and NCCL_COLLNET_ENABLE=1": (
        "由网络交换机求和需要 NCCL 的 SHARP 插件和 NCCL_COLLNET_ENABLE=1"
    ),
    "context parallelism: validated on few published runs": "上下文并行：只有少数公开结果可验证",
    "more than four chunks per stage: schedule overheads grow with each": (
        "每阶段超过四个模型块：调度开销随之增长"
    ),
    "peak compute": "峰值算力",
    "memory bandwidth": "显存带宽",
    "bandwidth": "带宽",
    "latency": "延迟",
    "recompute": "重计算",
    "micro-batch": "微批",
    "attention": "注意力",
    "sequence parallelism": "序列并行",
    "overlap": "掩盖",
    "dtype": "数据类型",
}
"""What answers say in English words of their own: whole, as a beginning, or as an end."""

words = by_language(_EN, _ZH)
"""The table of one language; both have the same keys."""


def phrase(text: str, language: Language) -> str:
    """Return an answer's own wording in ``language``; what has no translation stays English.

    A phrase may stand alone, before a place (``... on NAME``) or after one (``NAME bandwidth``).

    >>> phrase("pipeline sends on rail", "zh"), phrase("nvlink latency", "zh")
    ('流水线收发 (rail)', 'nvlink 延迟')
    """
    if language == "en":
        return text
    if text in _PHRASES_ZH:
        return _PHRASES_ZH[text]
    first, on, place = text.partition(" on ")
    if on and first in _PHRASES_ZH:
        return f"{_PHRASES_ZH[first]} ({place})"
    return " ".join(_PHRASES_ZH.get(word, word) for word in text.split(" "))
