"""Renders the story of ``demo``: the files, then the same page as ``diagnose``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from artery.answers.demo import DEGREES, FILES, MODEL, DemoAnswer
from artery.report.demo.trained import trained_lines, trained_title
from artery.report.diagnose import diagnose_drawing
from artery.report.diagnose.payload import diagnose_payload
from artery.report.drawing.terminal import commands, labelled
from artery.report.words import Language

_EN: Mapping[str, str] = {
    "story": "128 GPUs exchange at three fifths of what they should. Three files of the cluster, "
    "bundled with artery: what nccl-tests measured, how a server is wired, and the fabric. They "
    "were worked out by hand from the fault and noise, not by the simulator that proves it below.",
    "repair": "repair",
    "repair_line": "find and reseat the missing cables; then measure again",
    "next": "your own",
}
_ZH: Mapping[str, str] = {
    "story": "128 个 GPU 的 all-to-all 只有应有带宽的五分之三。artery 自带该集群的三个文件："
    "nccl-tests 的实测、服务器内部连线、以及网络。文件由故障和噪声手工推算得出，"
    "并非由下面用来证明的模拟器生成。",
    "repair": "修复",
    "repair_line": "找到并重插缺失的线缆，然后重测",
    "next": "你的集群",
}
_WORDS: Mapping[Language, Mapping[str, str]] = {"en": _EN, "zh": _ZH}


def demo_payload(answer: DemoAnswer) -> Mapping[str, object]:
    """Return the keys of ``artery.demo/1``: those of ``diagnose``, and what training showed."""
    return {"diagnosis": diagnose_payload(answer.diagnosis), "trained": answer.trained}


def trained_drawing(trained: Mapping[str, Any], language: Language) -> RenderableType:
    """Return what a short real run on this machine showed."""
    lines = [Text(line) for line in trained_lines(trained, language)]
    return labelled(trained_title(language), lines)


def demo_drawing(answer: DemoAnswer, language: Language) -> RenderableType:
    """Return the story, the diagnosis of the three files, and what to type next."""
    word = _WORDS[language]
    split = " ".join(f"--{name} {count}" for name, count in DEGREES.items())
    parts: list[RenderableType] = [
        Text(word["story"]),
        Text(""),
        Text(f"$ artery diagnose {' '.join(FILES)} --model {MODEL} {split}", style="cyan"),
        diagnose_drawing(answer.diagnosis, language, facts=False),
        Text(""),
        commands(word["repair"], [word["repair_line"], "artery fabric check ibnetdiscover.txt"]),
    ]
    if answer.trained is not None:
        parts.append(trained_drawing(answer.trained, language))
    parts.append(
        commands(word["next"], ["artery demo --files .", "artery diagnose LOG TOPO FABRIC"])
    )
    return Group(*parts)
