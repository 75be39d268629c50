"""The page's sentences, in English and in Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

Language = Literal["en", "zh"]

_EN = {
    "title": "Accuracy",
    "intro": "Predicted against published, over every row that the model can express. Written by "
    "`make accuracy`; a test compares this page with a fresh run. Errors are "
    "|predicted / measured - 1|; bias is signed, above zero the model is too slow.",
    "headline": "What is claimed",
    "what": "what",
    "threshold": "threshold",
    "found": "found",
    "held": "held",
    "yes": "yes",
    "no": "**no**",
    "unfitted": "Step time is scored on tables without a fitted row ({tables}; {count} rows):",
    "checked": "Of these, {count} rows are checked against their source. On them alone: mean of "
    "table medians {median}, pooled mean {mean}, within 12 %: {within}.",
    "table_median": "mean over tables of the table's median error",
    "pooled": "mean error over all rows",
    "within": "rows within 12 %",
    "lookup": "mean error is below that of a lookup of one constant per chip and table",
    "lookup_note": "The lookup's constant is the best one for these very rows, so the comparison "
    "favours the lookup.",
    "coverage": "unfitted rows of the set inside their 80 % interval",
    "regret": "mean regret of the model's pick, against half of a random pick's",
    "ordered": "pairs over 5 % apart that are ordered right",
    "sweeps": "largest median error of one-node all-reduce sweeps, from 1 MiB up",
    "quoted": "numbers that maintainers repeat, met within 5 % of the printed range",
    "layers": "largest error of activation bytes per layer",
    "ran": "configurations of these tables that ran and are said to fit",
    "peaks": "largest error of torchtitan's peaks",
    "fitted_head": "Tables with a fitted row, apart ({tables}; {count} rows): mean of table "
    "medians {median}, pooled mean {mean}, within 12 %: {within}.",
    "tables": "Step time, table by table",
    "columns": "table | n | median | mean | p90 | worst | bias | within 10 % | within 12 % | "
    "in the interval",
    "fitted_mark": "* holds fitted rows: no part of the headline.",
    "apart": "Lines of their own, without a threshold",
    "apart_note": "Other precisions, mixtures of experts, older software, vision. Nothing was "
    "fitted on these rows.",
    "choice": "Choice among measured alternatives",
    "choice_note": "Groups share model, chips, batch, software and date, and hold at least two "
    "plans. Regret is t(picked) / t(best) - 1. Ordering looks at pairs over 5 % apart.",
    "choice_columns": "source | groups | plans | regret | regret at random | pairs | ordered right",
    "all": "all",
    "collectives": "Collectives",
    "collectives_note": "Published nccl-tests runs, from 1 MiB up; rows from which a constant was "
    "taken are left out. + marks the sweeps of the threshold.",
    "quoted_note": "Bus bandwidths that maintainers repeat, GB/s. What is catalog data marked "
    "measured, and not from first principles, does not count.",
    "quoted_columns": "hardware | printed | predicted | outside by | counts",
    "memory": "Memory",
    "memory_layers": "Activation bytes per layer and chip, GPT of 22B to 1T "
    "(Korthikanti et al. 2022, arXiv 2205.05198, Table 2), the model against the formula:",
    "layer_columns": "model | how | formula | MiB by the formula | error",
    "memory_ran": "Configurations that ran: {fits} of {count} are said to fit or to be at the "
    "limit.",
    "memory_not": "Said not to fit: {ids}.",
    "memory_peaks": "Printed peaks:",
    "peak_columns": "row | printed GiB | predicted GiB | error",
    "peak_bloom": "BLOOM's layout sweep, {count} rows: median error {median}, p90 {p90}, "
    "bias {bias}.",
    "fit": "What was fitted",
    "fit_note": "{constants} constants (at most 12) on {rows} rows (at most 40) of {tables} "
    "tables (at most 3).",
    "fit_columns": "constant | value | meaning | where in the catalog",
    "fit_rows": "Fitted rows: {ids}.",
    "rules": "How rows become plans",
    "rules_note": "Written from inputs, papers and public scripts before any result was seen; what "
    "was changed after that is in the log below. "
    "What is not published is assumed, and the other plausible values widen the interval.",
    "rule_columns": "table | rows | system | profile | open fields | rule",
    "out": "Rows that are not scored",
    "out_columns": "rows | source | reason",
    "opened": "How often the tables were opened",
    "opened_note": "Scoring runs made by hand during development, {count} so far.",
    "opened_columns": "date | tables | reason",
    "sources": "All rows with their sources are in `accuracy/data/`.",
}

_ZH = {
    "title": "准确度",
    "intro": "预测与公布值逐行对照，凡模型能表达的行均计入。由 `make accuracy` 生成；测试会将本页与"
    "重新计算的结果比对。误差为 |预测 / 实测 - 1|；偏差带符号，正值表示模型偏慢。",
    "headline": "所声明的指标",
    "what": "指标",
    "threshold": "门槛",
    "found": "实得",
    "held": "达到",
    "yes": "是",
    "no": "**否**",
    "unfitted": "步时按不含拟合行的表计分（{tables}；{count} 行）：",
    "checked": "其中 {count} 行已与来源核对。仅就这些行：各表中位数的均值 {median}，"
    "合并均值 {mean}，12 % 以内 {within}。",
    "table_median": "各表误差中位数的均值",
    "pooled": "所有行误差的均值",
    "within": "误差在 12 % 以内的行",
    "lookup": "误差均值低于“每芯片每表一个常数”的查表法",
    "lookup_note": "查表法的常数取自这些行本身的最优值，因此比较偏袒查表法。",
    "coverage": "未参与拟合的行落在 80 % 区间内者",
    "regret": "模型所选方案的平均遗憾，对照随机选择的一半",
    "ordered": "相差超过 5 % 的方案对中排序正确者",
    "sweeps": "单节点 all-reduce 扫描（1 MiB 起）误差中位数的最大值",
    "quoted": "维护者常引用的数字中，落在所印范围 5 % 以内者",
    "layers": "每层激活字节数的最大误差",
    "ran": "这些表中实际跑过的配置被判为放得下者",
    "peaks": "torchtitan 峰值的最大误差",
    "fitted_head": "含拟合行的表另列（{tables}；{count} 行）：各表中位数的均值 {median}，"
    "合并均值 {mean}，12 % 以内 {within}。",
    "tables": "逐表步时",
    "columns": "表 | 行数 | 中位 | 均值 | p90 | 最差 | 偏差 | 10 % 内 | 12 % 内 | 区间内",
    "fitted_mark": "* 含拟合行：不计入所声明的指标。",
    "apart": "另列的行，无门槛",
    "apart_note": "其他精度、混合专家、旧软件、视觉。未在这些行上做任何拟合。",
    "choice": "在实测备选方案中选择",
    "choice_note": "同组者模型、芯片、批量、软件与日期相同，且至少有两种方案。"
    "遗憾为 t(所选) / t(最优) - 1。排序只看相差超过 5 % 的方案对。",
    "choice_columns": "来源 | 组数 | 方案数 | 遗憾 | 随机遗憾 | 对数 | 排序正确",
    "all": "合计",
    "collectives": "集合通信",
    "collectives_note": "已公布的 nccl-tests 结果，1 MiB 起；取过常数的行不计。+ 为有门槛的扫描。",
    "quoted_note": "维护者常引用的总线带宽，GB/s。"
    "凡属目录中标为实测、而非由第一性原理得出者，不计入。",
    "quoted_columns": "硬件 | 所印 | 预测 | 超出 | 计入",
    "memory": "内存",
    "memory_layers": "22B 至 1T 的 GPT 每层每芯片激活字节数"
    "（Korthikanti 等 2022，arXiv 2205.05198，表 2），模型对照公式：",
    "layer_columns": "模型 | 方式 | 公式 | 公式值（MiB） | 误差",
    "memory_ran": "实际跑过的配置：{count} 个中有 {fits} 个被判为放得下或处于极限。",
    "memory_not": "被判为放不下：{ids}。",
    "memory_peaks": "公布的峰值：",
    "peak_columns": "行 | 公布 GiB | 预测 GiB | 误差",
    "peak_bloom": "BLOOM 布局扫描，{count} 行：误差中位 {median}，p90 {p90}，偏差 {bias}。",
    "fit": "拟合了什么",
    "fit_note": "{constants} 个常数（至多 12），{rows} 行（至多 40），{tables} 张表（至多 3）。",
    "fit_columns": "常数 | 值 | 含义 | 在目录中的位置",
    "fit_rows": "拟合所用的行：{ids}。",
    "rules": "行如何变成方案",
    "rules_note": "在看到任何结果之前，依输入、论文与公开脚本写下；其后的改动见下方记录。"
    "未公布者取假定值，"
    "其余合理取值用来放宽区间。",
    "rule_columns": "表 | 行数 | 系统 | 框架配置 | 未公布项 | 规则",
    "out": "未计分的行",
    "out_columns": "行数 | 来源 | 原因",
    "opened": "打开测试表的次数",
    "opened_note": "开发期间手工进行的计分，至今 {count} 次。",
    "opened_columns": "日期 | 表 | 原因",
    "sources": "所有行及其来源见 `accuracy/data/`。",
}

WORDS: Mapping[Language, Mapping[str, str]] = MappingProxyType(
    {"en": MappingProxyType(_EN), "zh": MappingProxyType(_ZH)}
)
