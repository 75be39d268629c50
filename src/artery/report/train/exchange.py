"""What the exchange of ``train`` sent, saved and let drift, and how the run scales, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from artery.answers.train.compare import TrainComparison
from artery.report.words import Language
from artery.units import show_bytes, show_percent, show_time

_EN: Final[Mapping[str, str]] = {
    "exchange": "exchange",
    "sent": "{bytes} a step and rank, {wait} a step waiting for it",
    "local": "weights averaged {averages:,} times in {steps:,} steps; {bytes} not sent",
    "time": " and {time} not spent",
    "last": "counted in the last of {attempts} attempts only",
    "drift": "replicas at most {largest} apart before an average, {final} at the end",
    "scaling": "scaling",
    "efficiency": "{ranks} ranks: {rate} samples/s, efficiency {predicted} predicted, {measured} "
    "measured",
    "others": "{ranks} ranks: {rate} samples/s, efficiency {predicted}, predicted",
}
_ZH: Final[Mapping[str, str]] = {
    "exchange": "交换",
    "sent": "每步每 rank {bytes}，每步等待 {wait}",
    "local": "{steps:,} 步中平均权重 {averages:,} 次；少发 {bytes}",
    "time": "，少花 {time}",
    "last": "只统计最后一次尝试（共 {attempts} 次）",
    "drift": "副本在平均之前最多相差 {largest}，结束时相差 {final}",
    "scaling": "扩展",
    "efficiency": "{ranks} 个 rank：{rate} 样本/秒，效率预测 {predicted}，实测 {measured}",
    "others": "{ranks} 个 rank：{rate} 样本/秒，效率 {predicted}（预测）",
}
_WORDS: Final[Mapping[Language, Mapping[str, str]]] = {"en": _EN, "zh": _ZH}


def exchange_lines(
    figures: Mapping[str, float], language: Language, attempts: int = 1
) -> Iterator[str]:
    """Yield what :meth:`figures` of an exchange says, a line each; nothing if nothing was sent.

    They are those of the last of ``attempts``.
    """
    word = _WORDS[language]
    steps = int(figures.get("steps", 0))
    if not steps:
        return
    if "averages" not in figures:
        if figures["bytes_sent"]:
            sent = show_bytes(figures["bytes_sent"] / steps)
            yield word["sent"].format(bytes=sent, wait=show_time(figures["waited_s"] / steps))
        return
    saved = show_bytes(figures.get("bytes_saved", 0))
    line = word["local"].format(averages=int(figures["averages"]), steps=steps, bytes=saved)
    if "seconds_saved" in figures:
        line += word["time"].format(time=show_time(figures["seconds_saved"]))
    yield line
    yield word["drift"].format(
        largest=show_percent(figures["largest_drift"]),
        final=show_percent(figures.get("final_drift", 0.0)),
    )
    if attempts > 1:
        yield word["last"].format(attempts=attempts)


def scaling_lines(compared: TrainComparison, language: Language) -> Iterator[str]:
    """Yield the predicted throughput and efficiency by ranks, and the measured one beside it."""
    word = _WORDS[language]
    for point in compared.predicted_scaling:
        here = point.ranks == compared.ranks and point.ranks > 1
        yield word["efficiency" if here else "others"].format(
            ranks=point.ranks,
            rate=f"{point.samples_per_s:,.4g}",
            predicted=show_percent(point.efficiency),
            measured=show_percent(compared.measured_scaling.efficiency),
        )


def heading(name: str, language: Language) -> str:
    """Return the heading ``exchange`` or ``scaling``."""
    return _WORDS[language][name]
