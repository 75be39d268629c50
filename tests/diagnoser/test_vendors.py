from __future__ import annotations

import re
import tomllib
from importlib.resources import files

import pytest

from artery.diagnoser.rules import Cause, causes
from artery.diagnoser.vendors import worded
from artery.report.said import said

CHINESE = re.compile(r"[\u4e00-\u9fff]")
OF_NVIDIA = re.compile(r"nvidia|nv_peer|NVLink|NVSwitch|NVLS|\bXid\b|dcgm", re.IGNORECASE)
OF_AMD = re.compile(r"amd-?smi|rocm|xGMI|RCCL", re.IGNORECASE)


@pytest.mark.parametrize("cause", causes(), ids=lambda cause: cause.key)
def test_no_vendor_gets_the_tools_or_links_of_another(cause: Cause) -> None:
    amd = worded(cause, "AMD")
    for text in (amd.en, amd.zh, amd.next):
        assert not OF_NVIDIA.search(text)
    for vendor in ("Google", "Intel", "Huawei", "AWS"):
        other = worded(cause, vendor)
        for text in (other.en, other.zh, other.next):
            assert not OF_NVIDIA.search(text)
            assert not OF_AMD.search(text)
    assert worded(cause, "NVIDIA") is cause
    assert worded(cause, None) is cause


@pytest.mark.parametrize("cause", causes(), ids=lambda cause: cause.key)
def test_words_of_vendors_are_in_both_languages(cause: Cause) -> None:
    for vendor in ("AMD", "Google"):
        one = worded(cause, vendor)
        assert CHINESE.search(one.zh)
        assert not CHINESE.search(one.en + one.next)
        if one.next != cause.next and re.search(r"\b(the|of|on|look|under) [a-z]", one.next):
            assert CHINESE.search(said(one.next, "zh", "next")), one.next


def test_vendors_word_causes_that_exist() -> None:
    text = files("artery.diagnoser").joinpath("vendors.toml").read_text("utf-8")
    table = tomllib.loads(text)
    assert set(table) <= {cause.key for cause in causes()}
    fields = {"en", "zh", "next", "reference"}
    for kinds in table.values():
        assert set(kinds) == {"amd", "other"}
        assert all(set(words) <= fields for words in kinds.values())
