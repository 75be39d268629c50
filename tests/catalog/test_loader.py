"""Names, aliases, families and bases."""

from __future__ import annotations

import subprocess
import sys

import pytest

from artery.catalog import chip, link, names, system
from artery.catalog.loader import KINDS, over_base, resolve
from artery.catalog.sourced import Sourced
from artery.errors import InputError, UnknownNameError


def test_names_are_matched_whatever_their_case() -> None:
    assert chip(" H100-SXM ").name == "h100-sxm"
    assert link("NVLink4").name == "nvlink4"


def test_an_alias_is_noted() -> None:
    assert resolve("chips", "H100").name == "h100-sxm"
    assert "h100-sxm" in str(resolve("chips", "H100").note)
    assert resolve("chips", "h100-sxm").note is None


@pytest.mark.parametrize(
    ("kind", "name", "near"),
    [
        ("chips", "h100-sxn", "h100-sxm"),
        ("links", "nvlink44", "nvlink4"),
        ("links", "ib-nrd", "ib-ndr"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(kind: str, name: str, near: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        resolve(kind, name)
    assert near in caught.value.near


@pytest.mark.parametrize(
    "name",
    ["", "  ", "../chips/v100", "source", "sources", "SOURCE", "v100.toml\0", "ib", "nvlink"],
)
def test_what_is_no_name_is_unknown(name: str) -> None:
    for kind in ("chips", "links"):
        with pytest.raises(UnknownNameError):
            resolve(kind, name)


def test_an_unknown_kind_is_answered_with_the_kinds() -> None:
    with pytest.raises(UnknownNameError) as caught:
        names("chip")
    assert caught.value.near[0] == "chips"
    assert set(KINDS) >= {"chips", "links", "systems", "models", "profiles"}


def test_a_family_file_holds_the_links_that_begin_with_its_name() -> None:
    for name in names("links"):
        assert link(name).name == name


def test_a_variant_says_only_what_differs() -> None:
    variant, usual = chip("a100-40g"), chip("a100-80g")
    assert variant.memory.bandwidth == 1555e9
    assert variant.ports == usual.ports
    assert variant.provenance["memory.bandwidth"].text == usual.provenance["memory.bandwidth"].text
    assert variant.provenance["memory.capacity"].confidence == "measured"


@pytest.mark.parametrize("base", ["h1000", 7, ["h100"]])
def test_a_base_that_is_none_is_named(base: object) -> None:
    with pytest.raises(InputError) as caught:
        over_base("chips", Sourced({"base": base}, {}))
    assert caught.value.problems[0].field == "base"


def test_reading_a_chip_loads_neither_numpy_nor_pydantic() -> None:
    code = (
        "import sys; from artery.catalog import chip, link; chip('h100'); link('ib-ndr');"
        "print([m for m in ('numpy', 'pydantic', 'rich', 'ruamel.yaml') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_alias_of_a_chip_is_noted_where_the_chip_is_the_system() -> None:
    assert system("h100").warnings == ('"h100" is taken as h100-sxm',)
    assert system("h100-sxm").warnings == ()
