"""``docs/article.md`` and its Chinese twin: every item of the article, checked."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Final

from artery.answers.tour import shown_figures, tour
from artery.answers.tour.article import Item, Text, filled, items, sections
from artery.report.words import Language, words

_NAME: Final = Text(
    "From a single chip to the cluster: how the communication network of AI compute evolved",
    "从单芯片到集群：AI算力网络通信演进史",
)

_INTRO: Final = Text(
    """\
# The article, checked

The subject of artery comes from an article in Chinese,
*{name}*.
Many of its figures are wrong. Here is every item of it, with the verdict, what is true, and the
command that shows it. Every command in state *works* runs in the tests, and prints the figures
given here; the figures themselves are computed when this page is written, from the same models
that answer the commands. `artery tour` walks through the main stops.

{tally}

*works*: the command runs today. *planned*: the command that will show it. *fact*: nothing to
compute, the evidence is a document.

This page is generated from `src/artery/answers/tour/data/article.toml`; `make docs` writes it.
[中文](article.zh.md)
""",
    """\
# 逐条核对一篇文章

artery 的题目来自文章《{name}》。文中许多数字有误。
这里列出它的每一条：判断、事实，以及能给出结果的命令。状态为“可用”的命令都在测试中运行，
并会打印这里给出的数字；数字在生成本页时由回答命令的同一套模型算出。
`artery tour` 走过其中主要的几站。

{tally}

“可用”：命令今天就能运行。“计划”：将来给出结果的命令。“事实”：没有可算的，依据是文献。

本页由 `src/artery/answers/tour/data/article.toml` 生成；`make docs` 重写。[English](article.md)
""",
)

_HEADS: Final = Text(
    "| # | the article | verdict | in truth | evidence | command | state |",
    "| # | 文章 | 判断 | 事实 | 依据 | 命令 | 状态 |",
)
_STATES: Final = {
    "works": Text("works", "可用"),
    "planned": Text("planned", "计划"),
    "fact": Text("fact", "事实"),
}
_VERDICTS: Final = ("right", "imprecise", "wrong", "unsupported")
_TALLY: Final = Text("Of {count} items: {parts}.", "共 {count} 条：{parts}。")


def english() -> str:
    """Return the text of ``docs/article.md``."""
    return page("en")


def chinese() -> str:
    """Return the text of ``docs/article.zh.md``."""
    return page("zh")


def page(language: Language) -> str:
    """Return the page in one language."""
    known = written()
    intro = _said(_INTRO, language).format(
        name=_said(_NAME, language), tally=_tally(known, language)
    )
    blocks = [intro]
    for section, title in sections().items():
        rows = [_row(item, language) for item in known if item.section == section]
        head = [f"## {_said(title, language)}", "", _said(_HEADS, language)]
        blocks.append("\n".join([*head, "|---|---|---|---|---|---|---|", *rows, ""]))
    return "\n".join(blocks)


@cache
def written() -> tuple[Item, ...]:
    """Return every item with its figures computed and written out."""
    figures = shown_figures(tour())
    return tuple(filled(item, figures) for item in items())


def _row(item: Item, language: Language) -> str:
    cells = [
        str(item.number),
        _said(item.claim, language),
        words(language)[item.verdict],
        _said(item.truth, language),
        item.evidence,
        f"`{item.command}`" if item.command else "",
        _said(_STATES[item.state], language),
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _tally(known: tuple[Item, ...], language: Language) -> str:
    verdicts: Counter[str] = Counter(item.verdict for item in known)
    states: Counter[str] = Counter(item.state for item in known)
    counted = [
        *(f"{verdicts[name]} {words(language)[name]}" for name in _VERDICTS),
        *(f"{states[name]} {_said(text, language)}" for name, text in _STATES.items()),
    ]
    text = _said(_TALLY, language)
    return text.format(count=len(known), parts=("，" if language == "zh" else ", ").join(counted))


def _said(text: Text, language: Language) -> str:
    return text.zh if language == "zh" else text.en
