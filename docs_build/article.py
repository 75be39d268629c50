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

artery began with an article in Chinese, *{name}*.
Many of its figures are wrong. Here is every item, with what is true and the command that shows it.
[中文](article.zh.md)

```
artery tour                                     # the main stops
```

{tally}

| state | means |
|---|---|
| works | the command runs in the tests and prints the figures given here |
| fact | nothing to compute: the evidence is a document |

The figures are computed when this page is written, by the models that answer the commands. The
words stand in `src/artery/answers/tour/data/article.toml`.
""",
    """\
# 逐条核对一篇文章

artery 始于一篇文章《{name}》，其中许多数字有误。
这里列出它的每一条、事实，以及能给出结果的命令。[English](article.md)

```
artery tour --lang zh                           # 其中主要的几站
```

{tally}

| 状态 | 含义 |
|---|---|
| 可用 | 命令在测试中运行，并打印这里给出的数字 |
| 事实 | 没有可算的，依据是文献 |

数字在生成本页时由回答命令的模型算出；文字在 `src/artery/answers/tour/data/article.toml` 中。
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
        *(
            f"{states[name]} {_said(text, language)}"
            for name, text in _STATES.items()
            if states[name]
        ),
    ]
    text = _said(_TALLY, language)
    return text.format(count=len(known), parts=("，" if language == "zh" else ", ").join(counted))


def _said(text: Text, language: Language) -> str:
    return text.zh if language == "zh" else text.en
