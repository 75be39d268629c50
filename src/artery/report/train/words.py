"""The words of ``train``, in English and Chinese."""

from __future__ import annotations

from artery.report.words import by_language

_EN = {
    "finished": "{steps} steps on {ranks} ranks in {time}",
    "preempted": "told to go ({reason}): {steps} steps done and saved",
    "step": "step",
    "step_is": "{step}, of which {compute} computing; {rate} samples/s",
    "accuracy": "accuracy",
    "loss": "loss",
    "score": "score",
    "weights": "weights",
    "failures": "failures",
    "none": "none",
    "failures_is": "restarts: {restarts}, steps lost and done again: {lost}, resizes: {resizes}",
    "recoveries": "back to work: notice · leave · gather · meet and load · first step",
    "time": "where time went",
    "predicted": "predicted and measured, per step",
    "folder": "folder",
    "warning": "warning",
}

_ZH = {
    "finished": "{ranks} 个进程，{steps} 步，用时 {time}",
    "preempted": "收到退出要求（{reason}）：已完成并保存 {steps} 步",
    "step": "每步",
    "step_is": "{step}，其中计算 {compute}；每秒 {rate} 个样本",
    "accuracy": "准确率",
    "loss": "损失",
    "score": "得分",
    "weights": "权重",
    "failures": "故障",
    "none": "无",
    "failures_is": "重启 {restarts} 次，丢失并重做 {lost} 步，变更规模 {resizes} 次",
    "recoveries": "恢复过程：发现 · 退出 · 召集 · 会合与加载 · 第一步",
    "time": "时间去向",
    "predicted": "每步的预测与实测",
    "folder": "目录",
    "warning": "警告",
}

train_words = by_language(_EN, _ZH)
"""The table of one language; both have the same keys."""
