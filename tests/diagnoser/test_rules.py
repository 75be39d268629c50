from __future__ import annotations

import re
from pathlib import Path

import pytest

from artery.diagnoser.case import Case, Said
from artery.diagnoser.rules import WORLD_KEYS, Cause, Evidence, causes


@pytest.mark.parametrize("cause", causes(), ids=lambda cause: cause.key)
def test_every_cause_is_documented_whole(cause: Cause) -> None:
    assert cause.en
    assert re.search(r"[\u4e00-\u9fff]", cause.zh)
    assert cause.next
    assert cause.reference
    assert 0 < cause.prior < 1
    for world in cause.worlds:
        assert set(world) <= WORLD_KEYS
    assert cause.worlds or cause.evidence
    for rule in cause.evidence:
        assert sum(part is not None for part in (rule.fact, rule.says, rule.shape)) == 1
        assert rule.odds > 0
        if rule.says is not None:
            re.compile(rule.says)


def test_the_pages_list_every_cause_with_what_it_is() -> None:
    docs = Path(__file__).parents[2] / "docs"
    english, chinese = ((docs / f"diagnose{end}").read_text("utf-8") for end in (".md", ".zh.md"))
    for cause in causes():
        assert f"| `{cause.key}` | {cause.en} |" in english
        assert f"| `{cause.key}` | {cause.zh} |" in chinese


def test_both_pages_have_the_same_sections_and_causes() -> None:
    docs = Path(__file__).parents[2] / "docs"
    english, chinese = ((docs / f"diagnose{end}").read_text("utf-8") for end in (".md", ".zh.md"))
    assert english.count("\n## ") == chinese.count("\n## ")
    assert re.findall(r"(?m)^\| `(\w+)` ", english) == re.findall(r"(?m)^\| `(\w+)` ", chinese)


def test_names_are_unique() -> None:
    names = [cause.key for cause in causes()]
    assert len(set(names)) == len(names)


def test_a_fact_meets_a_rule_by_value_or_bounds() -> None:
    case = Case(facts={"cards_used_share": 0.5, "p2p_disabled": True}, origins={})
    assert Evidence(2, fact="cards_used_share", above=0.4, below=0.6).met(case, None)
    assert not Evidence(2, fact="cards_used_share", above=0.5).met(case, None)
    assert Evidence(2, fact="p2p_disabled", equals=True).met(case, None)
    assert not Evidence(2, fact="p2p_disabled", above=0).met(case, None)
    assert not Evidence(2, fact="acs", equals=True).met(case, None)


def test_evidence_says_where_it_is_from() -> None:
    case = Case((), {"nodes": 2.0}, {"nodes": "a.log"}, (Said("No device found.", "b.log"),))
    assert Evidence(2, fact="nodes", equals=2.0).met(case, None) == "a.log: nodes = 2"
    assert Evidence(2, says="no DEVICE").met(case, None) == "b.log: No device found."
    assert Evidence(2, shape="flat").met(case, "flat") == "the curve is flat"
    assert Evidence(2, shape="flat").met(case, "rising") is None


def test_words_of_people_are_told_from_lines_of_tools() -> None:
    rule = Evidence(2, says="hang", person=True)
    assert rule.met(Case(said=(Said("it hangs", "facts.yaml", person=True),)), None)
    assert not rule.met(Case(said=(Said("it hangs", "a.log"),)), None)
