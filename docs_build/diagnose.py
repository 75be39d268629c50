"""The page of causes in both languages, its table written from the rule base itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from artery.answers.tour.article import Text
from artery.diagnoser.case import Fact
from artery.diagnoser.rules import Cause, World, causes
from artery.report.words import Language
from docs_build import template

_SAID: Final = {
    "network": Text("{} between nodes", "节点之间 {}"),
    "above_leaf": Text("{} above the leaves", "叶以上 {}"),
    "node": Text("{} inside the node", "节点内 {}"),
    "node_cap": Text("{} out of a node", "每节点出口 {}"),
    "transport": Text("{} as transport", "经 {} 传输"),
    "algorithm": Text("{} as algorithm", "算法为 {}"),
    "in_switch": Text("no sums in NVSwitches", "NVSwitch 不求和"),
}
_STAGED: Final = {
    True: Text("copies through host memory", "经主机内存复制"),
    False: Text("PCIe", "PCIe"),
}
_SHOWN: Final = Text("as the files show", "按文件所示")
_LIMIT: Final = Text("*limit*", "*上限*")


def english() -> str:
    """Return ``docs/diagnose.md``."""
    return _page("en")


def chinese() -> str:
    """Return ``docs/diagnose.zh.md``."""
    return _page("zh")


def _page(lang: Language) -> str:
    text = template("diagnose.md", lang)
    return text.replace("{causes}", "\n".join(_row(cause, lang) for cause in causes()))


def _row(cause: Cause, lang: Language) -> str:
    title = cause.zh if lang == "zh" else cause.en
    left = getattr(_LIMIT, lang) if cause.ceiling else "; ".join(_left(cause.worlds, lang))
    return f"| `{cause.key}` | {title} | {left} |"


def _left(worlds: tuple[World, ...], lang: Language) -> Iterator[str]:
    """Return in words what worlds leave of the system; those of the same keys are one phrase."""
    for keys, alike in groupby(worlds, key=tuple):
        group = list(alike)
        yield " · ".join(_phrase(key, [world[key] for world in group], lang) for key in keys)


def _phrase(key: str, values: list[Fact], lang: Language) -> str:
    if key == "staged":
        return ", ".join(getattr(_STAGED[bool(value)], lang) for value in dict.fromkeys(values))
    amounts = dict.fromkeys(_amount(key, value, lang) for value in values)
    return str(getattr(_SAID[key], lang)).format(", ".join(amounts))


def _amount(key: str, value: Fact, lang: Language) -> str:
    if isinstance(value, str):
        return str(getattr(_SHOWN, lang)) if value.startswith("=") else value
    return f"{value / 1e9:g} GB/s" if key == "node_cap" else f"{100 * value:.3g} %"
