"""The page of lint's rules in both languages, written from the rules themselves."""

from __future__ import annotations

from artery.diagnoser.lint.rule import MODULES, Rule, rules
from artery.report.lint import WORDS, reasons
from artery.report.words import Language
from docs_build import template

_HEADS = {
    "en": {"environment": "Environment variables", "slurm": "Slurm batch scripts",
           "torchrun": "torchrun", "kubernetes": "Kubernetes manifests",
           "counts": "Numbers that must fit together"},
    "zh": {"environment": "环境变量", "slurm": "Slurm 批处理脚本", "torchrun": "torchrun",
           "kubernetes": "Kubernetes 清单", "counts": "必须相符的数字"},
}  # fmt: skip
_COLUMNS = {"en": "| rule | level | what | why | fix | reference |",
            "zh": "| 规则 | 级别 | 内容 | 原因 | 修复 | 参考 |"}  # fmt: skip


def english() -> str:
    """Return ``docs/lint.md``."""
    return _page("en")


def chinese() -> str:
    """Return ``docs/lint.zh.md``."""
    return _page("zh")


def _page(language: Language) -> str:
    text = template("lint.md", language)
    parts = []
    for module in MODULES:
        parts += [
            f"## {_HEADS[language][module]}",
            "",
            _COLUMNS[language],
            "|---|---|---|---|---|---|",
        ]
        parts += [_row(rule, language) for rule in rules() if rule.module == module]
        parts.append("")
    return text.replace("{count}", str(len(rules()))).replace("{rules}", "\n".join(parts).rstrip())


def _row(rule: Rule, language: Language) -> str:
    title = rule.zh if language == "zh" else rule.en
    cells = (f"`{rule.id}`", WORDS[language][rule.level], title, *reasons(rule, language))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
