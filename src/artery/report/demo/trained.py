"""What the short real run at the end of ``demo`` showed, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from artery.report.words import Language
from artery.units import show_percent, show_time

_EN: Final[Mapping[str, str]] = {
    "title": "trained here",
    "killed": "{ranks} processes trained a {model} for {steps} steps, with one killed ({fault}): "
    "{restarts} restarts, {lost_steps} steps lost and done again, back in {recovery}",
    "same": "the weights are those of an undisturbed run, bit for bit",
    "differ": "the weights DIFFER from those of an undisturbed run",
    "step": "a step: predicted {predicted}, measured {measured} ({error}, load average {load:.1f})",
    "failed": "no training here: {error}",
}
_ZH: Final[Mapping[str, str]] = {
    "title": "本机训练",
    "killed": "{ranks} 个进程训练 {model} {steps} 步，其间杀死一个（{fault}）："
    "重启 {restarts} 次，丢失并重做 {lost_steps} 步，{recovery} 后恢复",
    "same": "最终权重与未受干扰的运行逐位相同",
    "differ": "最终权重与未受干扰的运行不同",
    "step": "每步：预测 {predicted}，实测 {measured}（{error}，平均负载 {load:.1f}）",
    "failed": "本机未能训练：{error}",
}
_WORDS: Final[Mapping[Language, Mapping[str, str]]] = {"en": _EN, "zh": _ZH}


def trained_title(language: Language) -> str:
    """Return the heading of :func:`trained_lines`."""
    return _WORDS[language]["title"]


def trained_lines(trained: Mapping[str, Any], language: Language) -> Iterator[str]:
    """Yield what :func:`artery.answers.demo.train.demo_train` found, a line each."""
    word = _WORDS[language]
    if "error" in trained:
        yield word["failed"].format(error=trained["error"])
        return
    back = trained["recovery_s"]
    yield word["killed"].format(**trained, recovery="-" if back is None else show_time(back))
    yield word["same" if trained["same_weights"] else "differ"]
    predicted, measured = trained["predicted_step_s"], trained["measured_step_s"]
    error = predicted / measured - 1
    yield word["step"].format(
        predicted=show_time(predicted),
        measured=show_time(measured),
        error=f"{'+' if error >= 0 else '-'}{show_percent(abs(error))}",
        load=trained["load"],
    )
