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
    "network_steps": "network {network}, simulated; {library} {version} adds {startup} to start "
    "and in {steps} steps ({protocol})",
    "network_only": "network {network}, simulated",
    "seeds": "over {seeds} seeds: {low} to {high} (5 to 95 in a hundred), half below {median}",
    "seeds_whole": "over {seeds} seeds: {low} to {high} (least to greatest), half below {median}",
    "band": "error of the engine against packets: at most {error} in its suite",
    "waiting_band": "slices coarser than a library's: in its own up to {error} less",
    "sampled_band": "sampled: {low} to {high} in 9 of 10 draws of hashes and of the sample, and by "
    "what messages wait for beside the busiest link",
    "rounds_band": "some rounds played: {low} to {high}, as far off as such were against all",
    "sampled_flows": "{flows} messages, of which {events} were sampled",
    "closed": "closed form",
    "gap": "{seconds}; simulated it is {gap}",
    "gap_same": "{seconds}; simulated the same within 2 %",
    "even": "{seconds} if every rank sent {size}, as the busiest does, to all alike",
    "down": "down",
    "down_between": "{count} of {of} links between switches: {names}",
    "down_all": "{count} of all {of} links, as none joins switches here: {names}",
    "down_named": "{count} links: {names}",
    "down_switches": "switches: {names}",
    "down_leaves": "leaves, as no switch stands above them here: {names}",
    "down_more": "and {count} more",
    "slower": "{factor}x slower",
    "faster": "{factor}x faster",
    "no_closed": "there is none for {algorithm}",
    "engine": "engine",
    "engine_coupled": "coupled",
    "engine_messages": "messages",
    "engine_fluid": "fluid",
    "engine_sampled": "sampled",
    "why_asked": "asked for",
    "why_pipelined": "a pipelined collective is one variable per channel",
    "why_bulk": "long transfers that share links share them fairly",
    "why_small": "every message played one by one",
    "why_meeting": "paths that meet, latency or few slices may put the pipelined form off: "
    "every message played one by one",
    "why_many": "too many messages to play one by one",
    "why_buffers": "every message played one by one, through finite port buffers",
    "buffers": "full buffers",
    "control_pause": "pause their senders, class by class (PFC)",
    "control_credit": "give no more credit (InfiniBand)",
    "nobody_held": "nobody was held up",
    "held": "{name} held up for {time}, {share} of the run",
    "adding": "sums",
    "adds_chip": "a chip adds at {rate}: {time}, {share} of the run",
    "adds_card": "{name} adds what other nodes send at {rate}: {time}, {share} of the run",
    "drives": "{name} takes a step between nodes itself, in {step}",
    "card": "What the card takes to add and to drive is assumed, and no library has cards add what "
    "chips hold; the chips' multiprocessors then only add inside nodes.",
    "endless": "Port buffers were taken as endless: with finite ones this run would take too long.",
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
    "slices": "Slices are coarser than a library's, which would be too many; --engine coupled "
    "plays the pipeline.",
    "slices_failing": "Slices are coarser than a library's, which would be too many; how much less "
    "they take is that of the same run without failures.",
    "rounds": "Some successive rounds stand for all; a round takes longer as ranks come apart.",
    "one_tier": "No links join switches here: a share of failed links is one of all links, and "
    "the traffic of others crosses none.",
    "uncrossed": "No message crosses a link between switches: the traffic of others, and what "
    "failed of those links, change nothing.",
    "other_transport": "Over {transport}: steps between nodes, protocols, what a node sends at "
    "most, and the window are those of {library} and {transport}; the links stay the system's.",
    "same_transport": "{transport} in place of the system's own transport changes nothing here.",
    "srd": "EFA's own transport (SRD) sends over many paths at once; --routing ecmp keeps every "
    "flow to one.",
    "passing": "Links have sent all after {played}; the rest is what a chip takes to pass on what "
    "it receives, by the library's constants. Loads, and a timeline, are those of the links.",
    "one_card": "The closed form counts all cards or ports of a chip; on one path a pair uses "
    "one of them. --routing spray, or more --queue-pairs, uses the others.",
    "sprayed": "Packets draw their card or port, and now one has more, now another; the closed "
    "form takes all as evenly loaded.",
    "rows": "The closed form counts part of a row of a mesh as a whole one, and partners as next "
    "to each other.",
    "pieces": "Chains and trees pass on pieces of their channels, link by link; the closed form "
    "counts them once over all channels and nodes.",
    "hidden": "On the network alone latency hides behind the slowest link; the closed form adds "
    "it to the bytes, as the library's own model does.",
    "partners": "The closed form takes partners to have a link of their own and as wide as any; "
    "here some share one, or have none.",
    "sides": "On sides of a torus that are open or unlike, some links wait for others; the "
    "closed form takes all of them as busy.",
    "slots": "The closed form takes chips and network cards to have links of their own; here the "
    "heads of trees send to both over one slot.",
    "turns": "Messages to one receiver come in turns, now more, now fewer than it can take; the "
    "closed form takes it as always busy.",
    "meeting": "Paths meet on the links above; the closed form takes each as alone.",
    "plugin": "It needs the SHARP plugin and NCCL_COLLNET_ENABLE=1; the switches carry one such "
    "job at a time on a port.",
    "undrawn": "All seeds draw the same here (one way for every message, nothing that fails by "
    "lot), so it was played once.",
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
    "network_steps": "网络 {network}（仿真）；{library} {version} 启动与 {steps} 步另加 {startup}"
    "（{protocol}）",
    "network_only": "网络 {network}（仿真）",
    "seeds": "{seeds} 个种子：{low} 至 {high}（5 % 至 95 %），中位数 {median}",
    "seeds_whole": "{seeds} 个种子：{low} 至 {high}（最短至最长），中位数 {median}",
    "band": "引擎相对逐包仿真的误差：在其测试集中至多 {error}",
    "waiting_band": "切片比通信库的粗；按库的切片最多可少 {error}",
    "sampled_band": "抽样：十次哈希与抽样中有九次在 {low} 至 {high} 之间，含最忙链路以外的等待",
    "rounds_band": "只仿真部分轮次：{low} 至 {high}，即与全部轮次相比的最大偏差",
    "sampled_flows": "{flows} 条消息，其中抽样 {events} 条",
    "closed": "闭式公式",
    "gap": "{seconds}；仿真结果{gap}",
    "gap_same": "{seconds}；与仿真结果相差 2 % 以内",
    "even": "{seconds}（若每个 rank 都像最忙者那样共发 {size}，且均匀发往各方）",
    "down": "故障",
    "down_between": "交换机之间 {of} 条链路中的 {count} 条：{names}",
    "down_all": "全部 {of} 条链路中的 {count} 条（此处没有交换机之间的链路）：{names}",
    "down_named": "{count} 条链路：{names}",
    "down_switches": "交换机：{names}",
    "down_leaves": "叶交换机（此处其上没有交换机）：{names}",
    "down_more": "另有 {count} 个",
    "slower": "慢 {factor} 倍",
    "faster": "快 {factor} 倍",
    "no_closed": "{algorithm} 没有闭式公式",
    "engine": "引擎",
    "engine_coupled": "耦合",
    "engine_messages": "消息",
    "engine_fluid": "流体",
    "engine_sampled": "抽样",
    "why_asked": "按要求",
    "why_pipelined": "流水化的集合通信每个通道只是一个变量",
    "why_bulk": "共享链路的长传输公平分享带宽",
    "why_meeting": "路径相遇、时延或切片较少会使流水形式有偏差：逐条消息仿真",
    "why_small": "逐条消息仿真",
    "why_many": "消息太多，无法逐条仿真",
    "why_buffers": "逐条消息仿真，端口缓冲有限",
    "buffers": "缓冲已满",
    "control_pause": "按优先级暂停发送方（PFC）",
    "control_credit": "不再给出信用（InfiniBand）",
    "nobody_held": "没有端口被阻塞",
    "held": "{name} 被阻塞 {time}，占全程 {share}",
    "adding": "求和",
    "adds_chip": "芯片以 {rate} 求和：{time}，占全程 {share}",
    "adds_card": "{name} 以 {rate} 对其他节点发来的数据求和：{time}，占全程 {share}",
    "drives": "{name} 自行推进节点间的每一步，用时 {step}",
    "card": "网卡求和与推进的用时为假设值；没有通信库让网卡对芯片的数据求和。"
    "这样芯片的计算单元只在节点内求和。",
    "endless": "端口缓冲按无限处理：按有限缓冲仿真耗时过长。",
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
    "slices": "切片比通信库的粗（按库的切片数量过多）；--engine coupled 按流水传递播放。",
    "slices_failing": "切片比通信库的粗（按库的切片数量过多）；"
    "最多可少多少，取自没有故障的同一运行。",
    "rounds": "以部分相继的轮次代表全部：各 rank 的进度相差越大，一轮用时越长。",
    "other_transport": "经 {transport} 时，节点间每步的用时、协议、每个节点的发送上限和窗口取"
    " {library} 与 {transport} 的值；链路仍是系统自己的。",
    "same_transport": "以 {transport} 代替系统自己的传输方式，此处没有任何变化。",
    "srd": "EFA 自带的传输（SRD）把一个流同时分到多条路径；--routing ecmp 让每个流只走一条。",
    "passing": "链路在 {played} 后已全部发完；其余是芯片转发所收数据的用时，取自通信库的常数。"
    "负载与时间线都只是链路的。",
    "one_card": "闭式公式计入一块芯片的全部网卡或端口；每对只走一条路径时只用到其中之一。"
    "--routing spray 或更多 --queue-pairs 会用到其余的。",
    "sprayed": "每个包随机选网卡或端口，时而此多、时而彼多；闭式公式认为它们负载均匀。",
    "rows": "闭式公式把网格中不满的一行按整行计，并认为伙伴彼此相邻。",
    "pieces": "链与树按通道的小块逐条链路传递；闭式公式对全部通道与节点合计一次。",
    "hidden": "单看网络，时延藏在最慢的链路之后；闭式公式与通信库的模型一样，把时延加到字节之上。",
    "partners": "闭式公式认为每对伙伴都有自己的、同样宽的链路；此处有的共用一条，有的没有。",
    "sides": "环面有开放或长度不等的边时，一些链路要等另一些；闭式公式认为全部链路一直在忙。",
    "slots": "闭式公式认为芯片与网卡各有自己的链路；此处树的首芯片经同一插槽向两者发送。",
    "turns": "发往同一接收方的消息轮流到达，时多时少；闭式公式认为接收方一直在忙。",
    "meeting": "路径在上面的链路上相遇；闭式公式认为每条路径独占链路。",
    "plugin": "这需要 SHARP 插件和 NCCL_COLLNET_ENABLE=1；每个端口同时只承载一个这样的作业。",
    "one_tier": "此处没有交换机之间的链路：故障比例按全部链路计，他人的流量不经过任何链路。",
    "uncrossed": "没有消息经过交换机之间的链路：他人的流量以及这些链路的故障不改变任何结果。",
    "undrawn": "此处各种子的抽取结果相同（每条消息只有一条路径，没有随机故障），因此只仿真一次。",
    "unfinished": "部分消息未能到达：故障使其无路可走。",
    "replaced": "通信库会选用的算法不能仿真，此处以这一算法代替。",
    "alone": "只有一个 rank：没有交换对象，因此不花时间。",
    "next": "下一步",
}

_TABLES: Mapping[Language, Mapping[str, str]] = MappingProxyType({"en": _EN, "zh": _ZH})


def simulate_words(language: Language) -> Mapping[str, str]:
    """Return the table of one language; both have the same keys."""
    return _TABLES[language]
