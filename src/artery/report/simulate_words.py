"""The words of ``simulate``, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from artery.report.words import Language

_EN = {
    "title": "{collective} of {size} on {system}: {ranks} rank(s), {algorithm}, {routing} routing",
    "time": "time",
    "busbw": "bus bandwidth",
    "network": "network {network}, simulated; {library} {version} adds {startup} to start "
    "({protocol})",
    "network_only": "network {network}, simulated",
    "seeds": "over {seeds} seeds: {low} to {high} (5 to 95 in a hundred), half below {median}",
    "band": "error of the engine against packets: at most {error} in its suite",
    "closed": "closed form",
    "gap": "{seconds}; simulated it is {gap}",
    "gap_same": "{seconds}; simulated the same within 2 %",
    "slower": "{factor}x slower",
    "faster": "{factor}x faster",
    "no_closed": "there is none for {algorithm}",
    "engine": "engine",
    "engine_coupled": "coupled",
    "engine_messages": "messages",
    "engine_fluid": "fluid",
    "why_asked": "asked for",
    "why_pipelined": "a pipelined collective is one variable per channel",
    "why_bulk": "long transfers that share links share them fairly",
    "why_small": "every message played one by one",
    "flows": "{flows} messages, {events} events",
    "finish": "ranks are done between {first} and {last}; the last is rank {rank}",
    "links": "hottest links",
    "link": "link",
    "class": "class",
    "load": "load",
    "carried": "carried",
    "pairs": "pairs",
    "crossed": "who crosses it",
    "doubled": "if doubled",
    "relief": "would help",
    "relief_line": "{kind} twice as fast: {gain}x faster",
    "nothing_helps": "no single class of link: doubling any gains under 2 %",
    "others": "at the same time",
    "tried": "algorithms tried",
    "cannot": "not here: {reason}",
    "coarse": "Messages were cut coarsely to bound the work; error up to {error}.",
    "one_tier": "No links join switches here: a share of failed links is one of all links, and "
    "the traffic of others crosses none.",
    "unfinished": "Some messages never arrived: failures left them no way.",
    "replaced": "The library would choose an algorithm that is not played; this one stands for it.",
    "alone": "One rank: there is nobody to exchange data with, so it costs nothing.",
    "next": "next",
}
_ZH = {
    "title": "{system} 上 {size} 的 {collective}：{ranks} 个 rank，{algorithm}，{routing} 路由",
    "time": "时间",
    "busbw": "总线带宽",
    "network": "网络 {network}（仿真）；{library} {version} 启动另加 {startup}（{protocol}）",
    "network_only": "网络 {network}（仿真）",
    "seeds": "{seeds} 个种子：{low} 至 {high}（5 % 至 95 %），中位数 {median}",
    "band": "引擎相对逐包仿真的误差：在其测试集中至多 {error}",
    "closed": "闭式公式",
    "gap": "{seconds}；仿真结果{gap}",
    "gap_same": "{seconds}；与仿真结果相差 2 % 以内",
    "slower": "慢 {factor} 倍",
    "faster": "快 {factor} 倍",
    "no_closed": "{algorithm} 没有闭式公式",
    "engine": "引擎",
    "engine_coupled": "耦合",
    "engine_messages": "消息",
    "engine_fluid": "流体",
    "why_asked": "按要求",
    "why_pipelined": "流水化的集合通信每个通道只是一个变量",
    "why_bulk": "共享链路的长传输公平分享带宽",
    "why_small": "逐条消息仿真",
    "flows": "{flows} 条消息，{events} 个事件",
    "finish": "各 rank 在 {first} 与 {last} 之间完成；最后的是 rank {rank}",
    "links": "最热的链路",
    "link": "链路",
    "class": "类型",
    "load": "负载",
    "carried": "字节",
    "pairs": "对数",
    "crossed": "经过者",
    "doubled": "若加倍",
    "relief": "有用的改进",
    "relief_line": "{kind} 加快一倍：快 {gain} 倍",
    "nothing_helps": "没有单独一类链路有用：任何一类加倍的收益都低于 2 %",
    "others": "同时运行",
    "tried": "试过的算法",
    "cannot": "此处不可用：{reason}",
    "coarse": "为限制计算量，消息切分较粗；误差可达 {error}。",
    "one_tier": "此处没有交换机之间的链路：故障比例按全部链路计，他人的流量不经过任何链路。",
    "unfinished": "部分消息未能到达：故障使其无路可走。",
    "replaced": "通信库会选用的算法不能仿真，此处以这一算法代替。",
    "alone": "只有一个 rank：没有交换对象，因此不花时间。",
    "next": "下一步",
}

_TABLES: Mapping[Language, Mapping[str, str]] = MappingProxyType({"en": _EN, "zh": _ZH})


def simulate_words(language: Language) -> Mapping[str, str]:
    """Return the table of one language; both have the same keys."""
    return _TABLES[language]
