"""The words of ``goodput --log``, in English and Chinese."""

from __future__ import annotations

from artery.report.words import by_language

_DOES_EN = {
    "step": "training",
    "redone": "work done again",
    "save": "saving",
    "load": "load checkpoint",
    "first_step": "first step",
    "data": "waiting for data",
    "evaluate": "evaluation",
    "communicators": "communicators",
    "rendezvous": "meet",
    "start": "start processes",
    "teardown": "stop processes",
    "detect": "notice",
    "stall": "stalls",
    "reschedule": "find a node",
    "queue": "queue",
    "running": "ran, no line says what",
    "unexplained": "unexplained",
}
"""What a run does, by the names of :data:`artery.cloud.accounting.Activity`."""

_DOES_ZH = {
    "step": "训练",
    "redone": "重做的工作",
    "save": "保存",
    "load": "加载检查点",
    "first_step": "第一步",
    "data": "等待数据",
    "evaluate": "评估",
    "communicators": "通信组",
    "rendezvous": "会合",
    "start": "启动进程",
    "teardown": "停止进程",
    "detect": "发现",
    "stall": "停顿",
    "reschedule": "找节点",
    "queue": "排队",
    "running": "在运行，日志未说做什么",
    "unexplained": "无法解释",
}

_EN = {
    "measured": "the run, measured",
    "measured_is": "{ettr} of the time trained (Meta ETTR), {goodput} since the first start "
    "(DLRover); Google: scheduling {scheduling}, runtime {runtime}",
    "measured_run": "{wall}, steps: {steps}, {redone} done twice, restarts: {restarts}",
    "time": "where time went",
    "levers": "what to fix first",
    "change": "change",
    "gain": "gain",
    "warning": "warning",
    "compared": "measured and predicted",
    "was": "measured",
    "expected_was": "predicted",
    "against_ettr": "ETTR",
    "against_goodput": "goodput (DLRover)",
    "against_mtbf": "time between failures",
    "against_interval": "work between saves",
    "against_save": "a save",
    "against_step": "a step",
    "against_restart": "a restart, in all",
}

_ZH = {
    "measured": "实测的运行",
    "measured_is": "{ettr} 的时间在训练（Meta ETTR），自首次启动起 {goodput}（DLRover）；"
    "Google：调度 {scheduling}，运行 {runtime}",
    "measured_run": "{wall}，{steps} 步，其中 {redone} 步做了两遍，重启 {restarts} 次",
    "time": "时间去了哪里",
    "levers": "先修什么",
    "change": "改动",
    "gain": "增加",
    "warning": "警告",
    "compared": "实测与预测",
    "was": "实测",
    "expected_was": "预测",
    "against_ettr": "ETTR",
    "against_goodput": "有效产出（DLRover）",
    "against_mtbf": "故障间隔",
    "against_interval": "两次保存之间的工作",
    "against_save": "一次保存",
    "against_step": "一步",
    "against_restart": "整个重启",
}

log_words = by_language(
    {**_EN, **{f"did_{name}": text for name, text in _DOES_EN.items()}},
    {**_ZH, **{f"did_{name}": text for name, text in _DOES_ZH.items()}},
)
"""The table of one language; ``did_`` and the name of an activity says what a run did."""
