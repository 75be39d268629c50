"""The words of ``fabric``, in English and Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from artery.report.words import Language, Words

_EN = {
    "title": "{chips} chips on {nodes} nodes of {rails} rails, switches of {radix} x {port}",
    "none": "No design of up to three tiers of these switches joins so many chips.",
    "design": "design",
    "switches": "switches",
    "links": "links",
    "optics": "optics",
    "power": "power",
    "price": "rough price",
    "left_out": "without fibre, racks and cooling",
    "seen": "seen",
    "bisection": "bisection",
    "hops": "hops",
    "latency": "IB/RoCE µs",
    "opened": "{name}, the first",
    "tier": "tier",
    "down": "ports down",
    "up": "ports up",
    "leaf": "leaf",
    "spine": "spine",
    "core": "core",
    "cables": "cables",
    "count": "count",
    "length": "length",
    "delay": "delay",
    "light": "{fibre:.1f} ns/m in fibre, {copper:.1f} ns/m in copper; the modules add their own",
    "part": "part",
    "too_long": "does not reach",
    "card-leaf": "card to leaf",
    "leaf-spine": "leaf to spine",
    "spine-core": "spine to core",
    "failed": "if it fails",
    "nic": "card",
    "cut": "chips cut off",
    "nodes_cut": "nodes cut off",
    "slowed": "chips slowed",
    "lost": "by up to",
    "card": "card",
    "card-optic": "optic of a card",
    "up-optic": "optic of a leaf, upwards",
    "per_day": "a day: {low} to {high} optics (MTBF; field reports are 5 to 10 times rarer), "
    "{links} card links and {leaves} leaves (rates of Alibaba HPN, SIGCOMM 2024)",
    "media": "copper or optics? One end of a link, and the share of {name}'s cables it reaches",
    "reach": "reach",
    "reached": "reaches",
    "watts": "W",
    "usd": "USD",
    "failures": "failures/year",
    "fabrics": "InfiniBand or RoCE? Switches with these ports, per port, without optics",
    "switch": "switch",
    "ports": "ports",
    "watts_port": "W",
    "usd_port": "USD",
    "switch_latency": "latency",
    "fabric": "fabric",
    "chip_alone": "* the switch chip alone",
    "fact_bandwidth": "all-reduce, RoCE over InfiniBand on {chips} chips: {gain} ({source})",
    "fact_hashing": "RoCE, planned paths over hashed ones on {chips} chips: {gain} ({source})",
    "fact_queue_pairs": "RoCE, 16 queue pairs over one on {chips} chips: up to {gain} ({source})",
    "fact_at_scale": "both ran at {chips} chips, and neither was the bottleneck ({source})",
    "fact_spraying": "spraying on {chips} chips: {gain} ({source})",
    "latency_facts": "64 B under one leaf 2.8 µs on InfiniBand, 3.6 on RoCE; a second tier "
    "adds 0.9 and 2.0 (DeepSeek-V3, ISCA 2025, Table 5); a third is taken to add as much",
    "out_too_many": "too small, with the chips they reach: {names}",
    "out_too_few_ports": "no rails joined, or too few ports: {names}",
    "note": "note",
    "warning": "warning",
    "next": "next",
    "reason_fewest_switches": "fewest switches",
    "reason_fewest_tiers": "fewest tiers",
    "reason_least_power": "least power",
    "reason_cheapest": "cheapest",
    "reason_any_to_any": "every card reaches every other",
    "reason_one_switch_per_rail": "neighbours on a rail are one switch apart",
    "reason_no_chip_cut": "a lost leaf or link cuts no chip off (cards with as many ports)",
    "reason_through_the_node": "to another rail only through the node's own links",
    "reason_every_hop_crosses": "short cables; only a leaf's own nodes are one switch apart",
    "reason_more_cables": "more, thinner links",
}

_ZH = {
    "title": "{chips} 块芯片，{nodes} 个节点，每节点 {rails} 条轨道，交换机 {radix} x {port}",
    "none": "用这种交换机搭三层以内的网络，接不下这么多芯片。",
    "design": "方案",
    "switches": "交换机",
    "links": "链路",
    "optics": "光模块",
    "power": "功耗",
    "price": "粗略价格",
    "left_out": "不含光纤、机柜和散热",
    "seen": "日期",
    "bisection": "对分带宽",
    "hops": "跳数",
    "latency": "IB/RoCE µs",
    "opened": "首选 {name}",
    "tier": "层",
    "down": "下行端口",
    "up": "上行端口",
    "leaf": "叶",
    "spine": "脊",
    "core": "核心",
    "cables": "线缆",
    "count": "数量",
    "length": "长度",
    "delay": "时延",
    "light": "光纤 {fibre:.1f} ns/m，铜缆 {copper:.1f} ns/m；光模块另加",
    "part": "部件",
    "too_long": "够不到",
    "card-leaf": "网卡到叶",
    "leaf-spine": "叶到脊",
    "spine-core": "脊到核心",
    "failed": "若失效",
    "nic": "网卡",
    "cut": "断网芯片",
    "nodes_cut": "断网节点",
    "slowed": "变慢芯片",
    "lost": "最多损失",
    "card": "网卡",
    "card-optic": "网卡光模块",
    "up-optic": "叶的上行光模块",
    "per_day": "每天预计：{low} 至 {high} 个光模块（按 MTBF；现场报告少 5 到 10 倍），"
    "{links} 条网卡链路，{leaves} 台叶交换机（阿里巴巴 HPN，SIGCOMM 2024 的比率）",
    "media": "铜还是光？链路的一端，以及能覆盖 {name} 线缆的比例",
    "reach": "距离",
    "reached": "覆盖",
    "watts": "W",
    "usd": "USD",
    "failures": "年故障率",
    "fabrics": "InfiniBand 还是 RoCE？具备这些端口的交换机，按端口计，不含光模块",
    "switch": "交换机",
    "ports": "端口",
    "watts_port": "W",
    "usd_port": "USD",
    "switch_latency": "延迟",
    "fabric": "网络",
    "chip_alone": "* 仅交换芯片",
    "fact_bandwidth": "all-reduce，{chips} 块芯片，RoCE 相对 InfiniBand：{gain}（{source}）",
    "fact_hashing": "RoCE，{chips} 块芯片，规划路径相对哈希：{gain}（{source}）",
    "fact_queue_pairs": "RoCE，{chips} 块芯片，16 个队列对相对一个：最多 {gain}（{source}）",
    "fact_at_scale": "两者都跑到了 {chips} 块芯片，都不是瓶颈（{source}）",
    "fact_spraying": "包喷洒，{chips} 块芯片：{gain}（{source}）",
    "latency_facts": "64 B 同叶：InfiniBand 2.8 µs，RoCE 3.6；第二层加 0.9 和 2.0"
    "（DeepSeek-V3，ISCA 2025，表 5）；第三层按同样增量估计",
    "out_too_many": "太小（括号内为可接芯片数）：{names}",
    "out_too_few_ports": "轨道不相连，或端口太少：{names}",
    "note": "说明",
    "warning": "警告",
    "next": "下一步",
    "reason_fewest_switches": "交换机最少",
    "reason_fewest_tiers": "层数最少",
    "reason_least_power": "功耗最低",
    "reason_cheapest": "最便宜",
    "reason_any_to_any": "任意两块网卡互通",
    "reason_one_switch_per_rail": "同轨邻居只隔一台交换机",
    "reason_no_chip_cut": "丢一台叶或一条链路不会断开芯片（网卡要有同样多的端口）",
    "reason_through_the_node": "跨轨只能经过节点内部链路",
    "reason_every_hop_crosses": "线缆短；只有同一叶下的节点隔一台交换机",
    "reason_more_cables": "链路更多更细",
}

_FINDINGS_EN = {
    "read": "{file} ({format}): {hosts} hosts, {switches} switches, {cables} cables",
    "tier_line": "tier {tier}: {switches} switches, {up} cables upwards",
    "clean": "No fault found.",
    "spine": "spine",
    "links": "links",
    "meant": "meant",
    "missing": "missing",
    "device": "device",
    "more": "... and {count} more",
    "differ": "{same} cables are the same, {removed} gone, {added} new, {moved} moved",
    "error": "error",
    "warning": "warning",
    "note": "note",
    "next": "next",
    "islands": "The hosts lie on {parts} parts that no cable joins.",
    "islands_fix": "Join them at the top, or give each part its own jobs.",
    "port_twice": "{ports} ports have more than one cable.",
    "port_twice_fix": "Look which of the cables is really there; correct the plan.",
    "miswired_rail": "{cards} cards of {hosts} hosts are on the leaf of another rail "
    "(of {rails} rails).",
    "miswired_rail_fix": "Swap the cables at the hosts named; until then their ring traffic "
    "crosses the spines.",
    "uncabled_card": "{hosts} of {of} hosts have fewer cables than hosts of such names; "
    "missing in all: {missing}.",
    "uncabled_card_fix": "Plug the cables in, or look why the card's port is down; until then a "
    "job on these hosts goes at the pace of their other cards.",
    "missing_uplinks": "{missing} of {designed} links between {lower} and {upper} switches are "
    "missing ({per_pair} per pair meant): {spines}. {worst} has {worst_links} of "
    "{worst_designed}.",
    "missing_uplinks_fix": "Reseat or replace these cables and optics, the spine with most first; "
    "check that its ports are not disabled.",
    "unequal_uplinks": "{switches} of {of} switches have fewer cables upwards than the usual "
    "{usual}, at worst {least}.",
    "unequal_uplinks_fix": "A collective goes at the pace of its slowest leaf: restore the "
    "missing cables, or keep large jobs off these leaves.",
    "slow_link": "{links} of {of} links run slower than others of their kind.",
    "slow_link_fix": "Reseat or replace them; look for lanes that did not train and for older "
    "cables.",
    "one_sided": "{links} cables are reported by one of their ends only.",
    "one_sided_fix": "Read the network again; a port that flaps shows so.",
    "single_point": "{switches} of {of} switches hang on a single one above them.",
    "single_point_fix": "Spread their up-links over at least two; as it is, losing one cuts off "
    "everything below.",
    "too_long": "{links} cables are longer than their part reaches.",
    "too_long_fix": "Take active copper or optics there, or move the racks together.",
    "sideways": "{links} cables join switches of the same tier.",
    "sideways_fix": "In a tree they carry nothing, or make a loop: check that they are meant.",
    "single_homed": "{hosts} of {of} hosts hang on one leaf with all their cards; losing {leaf} "
    "cuts off {most}.",
    "single_homed_fix": "As designed for one card or top-of-rack leaves; rails or two planes "
    "avoid it.",
    "unnamed": "{devices} of {of} devices have no name of their own.",
    "unnamed_fix": "Set the node description (on InfiniBand: "
    "/sys/class/infiniband/*/node_desc, or rdma-ndd), so that faults can be found.",
    "oversubscribed": "{leaves} leaves have more cables down than up, at most {down} to {up} "
    "({ratio:.2f}:1).",
    "oversubscribed_fix": "All-to-all across leaves is slower by that factor; fine if it is meant.",
}

_FINDINGS_ZH = {
    "read": "{file}（{format}）：{hosts} 台主机，{switches} 台交换机，{cables} 条线缆",
    "tier_line": "第 {tier} 层：{switches} 台交换机，上行 {up} 条",
    "clean": "没有发现故障。",
    "spine": "脊",
    "links": "链路",
    "meant": "应有",
    "missing": "缺少",
    "device": "设备",
    "more": "……另有 {count} 项",
    "differ": "{same} 条线缆相同，少 {removed}，多 {added}，改接 {moved}",
    "error": "错误",
    "warning": "警告",
    "note": "说明",
    "next": "下一步",
    "islands": "主机分布在 {parts} 个互不相连的部分。",
    "islands_fix": "在顶层把它们连起来，或让每部分各跑各的作业。",
    "port_twice": "{ports} 个端口接了不止一条线缆。",
    "port_twice_fix": "看实际接的是哪一条，改正接线表。",
    "miswired_rail": "{hosts} 台主机的 {cards} 块网卡接到了别的轨道的叶上（共 {rails} 条轨道）。",
    "miswired_rail_fix": "对调所列主机的线缆；在此之前，环上流量要绕经脊。",
    "uncabled_card": "{of} 台主机中有 {hosts} 台的线缆少于同类主机，共缺 {missing} 条。",
    "uncabled_card_fix": "接上线缆，或查明网卡端口为何关闭；在此之前，"
    "这些主机上的作业只能按其余网卡的速度进行。",
    "missing_uplinks": "{lower} 台与 {upper} 台交换机之间的 {designed} 条链路缺 {missing} 条"
    "（每对应有 {per_pair}）：{spines}。{worst} 只有 {worst_links}/{worst_designed}。",
    "missing_uplinks_fix": "重插或更换这些线缆和光模块，先从缺得最多的脊开始；"
    "并检查端口是否被禁用。",
    "unequal_uplinks": "{of} 台交换机中有 {switches} 台上行少于通常的 {usual} 条，"
    "最少 {least} 条。",
    "unequal_uplinks_fix": "集合通信受最慢的叶拖累：补上缺的线缆，或让大作业避开这些叶。",
    "slow_link": "{of} 条链路中有 {links} 条慢于同类链路。",
    "slow_link_fix": "重插或更换；查看未训练成功的通道和旧线缆。",
    "one_sided": "{links} 条线缆只有一端报告。",
    "one_sided_fix": "重新读取网络；抖动的端口会这样。",
    "single_point": "{of} 台交换机中有 {switches} 台只挂在一台上层交换机下。",
    "single_point_fix": "把上行分到至少两台；现在丢一台就断开其下全部。",
    "too_long": "{links} 条线缆超过了部件的传输距离。",
    "too_long_fix": "改用有源铜缆或光模块，或把机柜移近。",
    "sideways": "{links} 条线缆连接同层交换机。",
    "sideways_fix": "在树形网络里它们不承载流量，或形成环路：确认是否有意。",
    "single_homed": "{of} 台主机中有 {hosts} 台的所有网卡都在一台叶上；"
    "丢了 {leaf} 会断开 {most} 台。",
    "single_homed_fix": "单网卡或柜顶叶的设计如此；轨道或双平面可避免。",
    "unnamed": "{of} 台设备中有 {devices} 台没有自己的名字。",
    "unnamed_fix": "设置节点描述（InfiniBand：/sys/class/infiniband/*/node_desc 或 rdma-ndd），"
    "以便定位故障。",
    "oversubscribed": "{leaves} 台叶的下行多于上行，最多 {down} 比 {up}（{ratio:.2f}:1）。",
    "oversubscribed_fix": "跨叶的 all-to-all 会慢这么多倍；有意为之则无妨。",
}

_TABLES: Mapping[Language, Words] = MappingProxyType(
    {"en": MappingProxyType(_EN), "zh": MappingProxyType(_ZH)}
)
_FINDINGS: Mapping[Language, Words] = MappingProxyType(
    {"en": MappingProxyType(_FINDINGS_EN), "zh": MappingProxyType(_FINDINGS_ZH)}
)


def fabric_words(language: Language) -> Words:
    """Return the table of one language; both have the same keys."""
    return _TABLES[language]


def finding_words(language: Language) -> Words:
    """Return the words of findings: ``CAUSE`` says what is wrong, ``CAUSE_fix`` what mends it."""
    return _FINDINGS[language]
