"""The two glossaries hold the same terms in the same order."""

from __future__ import annotations

from docs_build import ROOT


def rows(page: str) -> list[list[str]]:
    lines = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    rules = [number for number, row in enumerate(cells) if row[0].startswith("---")]
    headers = {number - 1 for number in rules}
    return [row for number, row in enumerate(cells) if number not in headers | set(rules)]


def test_every_english_term_has_its_chinese_row_in_the_same_place() -> None:
    english, chinese = rows("glossary.md"), rows("glossary.zh.md")
    assert len(english) == len(chinese) > 50
    for (term, *_), (_, same, *_) in zip(english, chinese, strict=True):
        words = {word.strip(" ;(),") for word in term.replace("(", " ").split()}
        assert words & {word.strip(" ;(),") for word in same.split()}, (term, same)


def test_no_term_is_explained_twice() -> None:
    for page in ("glossary.md", "glossary.zh.md"):
        terms = [row[0] for row in rows(page)]
        assert len(terms) == len(set(terms))
