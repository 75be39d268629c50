"""What readers remark on the fixtures is said in Chinese too, with the same figures."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

import pytest

from artery.formats.recognise import read
from artery.report.read_warnings import said
from tests.formats.readings import FIXTURES

CHINESE = re.compile("[\u4e00-\u9fff]")
FILES = sorted(path for path in FIXTURES.glob("*/*") if path.is_file())
AS_THE_TOOL_SAYS = ("NCCL WARN:", "FailedScheduling", "OOMKilled", "GPU 1: the last Xid")
"""Lines that are the tool's own words."""


def remarks() -> list[str]:
    from artery.errors import InputError

    found: dict[str, None] = {}
    for path in FILES:
        try:
            found.update(dict.fromkeys(read(str(path)).warnings))
        except InputError:
            continue
    return list(found)


def test_every_remark_on_the_fixtures_has_its_sentence() -> None:
    lines = [line for line in remarks() if not line.startswith(AS_THE_TOOL_SAYS)]
    assert len(lines) > 80
    silent = [line for line in lines if not CHINESE.search(said(line, "zh"))]
    assert not silent


def test_figures_and_names_stay() -> None:
    for line in remarks():
        told = said(line, "zh")
        if told == line:
            continue
        figures = {one for one in re.findall(r"\d+(?:\.\d+)?", line) if len(one) > 1}
        assert figures <= set(re.findall(r"\d+(?:\.\d+)?", told)), told


def test_english_and_unknown_lines_stay() -> None:
    assert said("the log has 2 of 16 ranks", "en") == "the log has 2 of 16 ranks"
    assert said("shall I compare thee", "zh") == "shall I compare thee"


def templates() -> list[dict[str, str]]:
    text = (files("artery.report") / "read_warnings.toml").read_text("utf-8")
    found: list[dict[str, str]] = tomllib.loads(text)["said"]
    return found


@pytest.mark.parametrize("one", templates(), ids=lambda one: one["en"][:40])
def test_both_sides_of_a_template_have_the_same_slots(one: dict[str, str]) -> None:
    slots = re.findall(r"\{\d\}", one["en"])
    assert sorted(slots) == sorted(re.findall(r"\{\d\}", one["zh"]))
    assert len(set(slots)) == len(slots)
