"""The words of ``bench``, in English and Chinese."""

from __future__ import annotations

from artery.report.words import by_language

_EN = {
    "time": "time: median over {repeats} repeats after {warmup} to warm up, of the slowest rank",
    "executed": "algorithm: {name}{shape}, a schedule executed over {library} messages",
    "own": "algorithm: the library's own, {library}",
    "switch": "one more process adds as the switch",
    "paced": "PACED: sends follow the links of {system} by a token bucket each; no network was "
    "measured",
    "surroundings": "{count} process(es) on {host}: {processor}, {cores} core(s), {kernel}, "
    "load {load}, governor {governor}, {threads} thread(s), {packages}",
    "unknown": "unknown",
    "compare": "{collective}, {ranks} ranks, {library}: median time in us by algorithm",
    "predicted": "closed form on {system}, in us",
    "least": "least time in us: what is left when nobody else computes or sends",
    "fastest": "* the fastest at that size",
    "measured_over": "measured over predicted",
    "left_out": "not run",
    "latency": "latency one way, least, in us: from rank (row) to rank (column)",
    "bandwidth": "bandwidth of {size} messages, best, in GB/s: from rank (row) to rank (column)",
    "links": "{ranks} ranks over {library}",
    "slow_rank": "rank {rank} on {host} is below half of the median in all directions",
    "slow_pair": "from rank {source} to rank {target}: below half of the median",
    "even": "no pair is below half of the median",
    "chip": "{name} ({device}), {threads} thread(s)",
    "product": "products of matrices, m x n x k",
    "memory": "memory, arrays of {size}",
    "dispatch": "to begin an operation from Python",
    "host": "until the host may go on",
    "device": "one after the other on the device",
    "trip": "from the call until the result is there",
    "best": "best",
    "median": "median",
    "cannot": "cannot: {why}",
    "read": "read", "write": "write", "copy": "copy", "triad": "a·x + y",
    "next": "next",
}  # fmt: skip
_ZH = {
    "time": "time：预热 {warmup} 次后重复 {repeats} 次的中位数，取最慢的进程",
    "executed": "算法：{name}{shape}，以 {library} 消息实际执行的调度",
    "own": "算法：通信库自带，{library}",
    "switch": "另有一个进程充当做加法的交换机",
    "paced": "限速：发送按 {system} 的链路逐链路令牌桶限速；未测量任何真实网络",
    "surroundings": "{host} 上 {count} 个进程：{processor}，{cores} 个核，{kernel}，"
    "负载 {load}，调频策略 {governor}，{threads} 个线程，{packages}",
    "unknown": "未知",
    "compare": "{collective}，{ranks} 个进程，{library}：各算法耗时中位数（us）",
    "predicted": "{system} 上的闭式预测（us）",
    "least": "最小耗时（us）：没有他人计算或发送时的值",
    "fastest": "* 该消息大小下最快",
    "measured_over": "实测/预测",
    "left_out": "未运行",
    "latency": "单向时延，最小值，us：从行进程到列进程",
    "bandwidth": "{size} 消息的带宽，最佳值，GB/s：从行进程到列进程",
    "links": "{ranks} 个进程，{library}",
    "slow_rank": "{host} 上的进程 {rank} 在所有方向都低于中位数的一半",
    "slow_pair": "从进程 {source} 到进程 {target}：低于中位数的一半",
    "even": "没有低于中位数一半的进程对",
    "chip": "{name}（{device}），{threads} 个线程",
    "product": "矩阵乘，m x n x k",
    "memory": "内存，数组 {size}",
    "dispatch": "从 Python 发起一次运算",
    "host": "到主机可以继续为止",
    "device": "在设备上连续执行",
    "trip": "从调用到结果可用",
    "best": "最佳",
    "median": "中位数",
    "cannot": "不支持：{why}",
    "read": "读", "write": "写", "copy": "复制", "triad": "a·x + y",
    "next": "下一步",
}  # fmt: skip
bench_words = by_language(_EN, _ZH)
"""The table of one language; both have the same keys."""
