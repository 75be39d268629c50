"""The systems of the guide build, and its drawn ones are those that are tested."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from artery.catalog import system
from artery.cluster.routing import network, paths
from tests.cluster.walks import check_walks

ROOT = Path(__file__).parent.parent.parent
PAGES = ("systems.md", "systems.zh.md")


def blocks(page: str) -> dict[str, str]:
    """The files that a page shows, by name."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)
    return {re.findall(r'^name = "(.*)"', block, flags=re.MULTILINE)[0]: block for block in found}


EXAMPLES = blocks(PAGES[0])


def test_both_languages_show_the_same_files() -> None:
    assert blocks(PAGES[1]) == EXAMPLES
    assert len(EXAMPLES) == 6


@pytest.mark.parametrize("name", ["dgx-1v", "four-and-six"])
def test_the_drawn_ones_are_those_that_are_tested(name: str) -> None:
    file = ROOT / "tests" / "fixtures" / "systems" / f"{name}.toml"
    assert file.read_text(encoding="utf-8") in EXAMPLES.values()


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_file_is_a_system_with_paths(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.toml"
    file.write_text(EXAMPLES[name], encoding="utf-8")
    size = {"my-clos": ":1000", "my-dragonfly": ":600", "my-mesh": ":8x12"}.get(name, "")
    found = system(f"{file}{size}")
    net = network(found)
    source, target = np.random.default_rng(0).integers(0, found.chips, (2, 100))
    check_walks(net, paths(found, net, source, target), source, target)
