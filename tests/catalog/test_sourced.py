"""Values and their sources, taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from artery.catalog.sourced import Sourced, described, dotted, leaves, separate
from artery.core.source import Source
from artery.errors import InputError

SHEET = {"text": "data sheet", "as_of": "2024-05", "confidence": "datasheet"}
STREET = {"text": "street", "as_of": "2024", "confidence": "recalled"}


def test_a_pair_and_a_table_name_their_source() -> None:
    found = separate(
        {
            "cores": [8, "street"],
            "year": 2020,
            "memory": {"source": "sheet", "capacity": "1 GiB", "rate": ["5 Gb/s", "street"]},
            "ports": [{"count": 1}, {"count": [2, "sheet"]}],
            "sources": {"sheet": SHEET, "street": STREET},
        }
    )
    assert found.values == {
        "cores": 8,
        "year": 2020,
        "memory": {"capacity": "1 GiB", "rate": "5 Gb/s"},
        "ports": [{"count": 1}, {"count": 2}],
    }
    assert {path: source.text for path, source in found.provenance.items()} == {
        "cores": "street",
        "memory.capacity": "data sheet",
        "memory.rate": "street",
        "ports[1].count": "data sheet",
    }


def test_a_list_of_two_texts_that_names_no_source_stays_a_list() -> None:
    found = separate({"ends": ["chip0", "switch0"], "sources": {"sheet": SHEET}})
    assert found.values == {"ends": ["chip0", "switch0"]}


def test_a_pair_may_hold_a_list() -> None:
    found = separate({"dims": [[4, 4], "sheet"], "sources": {"sheet": SHEET}})
    assert found.values == {"dims": [4, 4]}
    assert found.provenance["dims[1]"].text == "data sheet"


def test_the_default_and_the_shared_sources() -> None:
    file = Source("my file", "2026", "recalled")
    shared = described({"sheet": SHEET})
    found = separate({"a": 1, "b": [2, "sheet"]}, file, shared)
    assert found.sources == {("a",): file, ("b",): shared["sheet"]}


@pytest.mark.parametrize(
    ("table", "field", "word"),
    [
        ({"source": "nope", "a": 1}, "source", "no source of that name"),
        ({"memory": {"source": 3}}, "memory.source", "no source of that name"),
        ({"sources": 3}, "sources", "table of sources"),
        ({"sources": {"x": {"text": "t"}}}, "sources.x", "text, as_of and confidence"),
        ({"sources": {"x": {**SHEET, "confidence": "sure"}}}, "sources.x", "datasheet, measured"),
        ({"sources": {"x": {**SHEET, "url": "u"}}}, "sources.x", "text, as_of and confidence"),
    ],
)
def test_a_wrong_source_is_named(table: dict[str, object], field: str, word: str) -> None:
    with pytest.raises(InputError) as caught:
        separate(table)
    problem = caught.value.problems[0]
    assert problem.field == field
    assert word in problem.rule


def test_all_wrong_sources_are_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        separate({"source": "a", "memory": {"source": "b"}, "sources": {"c": {}}})
    assert len(caught.value.problems) == 3


def test_laying_over_keeps_what_is_not_said() -> None:
    base = separate(
        {"memory": {"kind": "HBM", "capacity": 1}, "a": 1}, Source("base", "2020", "assumed")
    )
    own = separate({"memory": {"capacity": 2}}, Source("own", "2021", "assumed"))
    merged = own.over(base)
    assert merged.values == {"memory": {"kind": "HBM", "capacity": 2}, "a": 1}
    assert merged.provenance["memory.capacity"].text == "own"
    assert merged.provenance["memory.kind"].text == "base"
    assert base.values["memory"]["capacity"] == 1


def test_a_new_bandwidth_withdraws_the_pin_rate_and_the_other_way_round() -> None:
    memory = {"bandwidth": "3 TB/s", "rate": "5 Gb/s", "stacks": 5}
    base = separate({"memory": memory}, Source("base", "2020", "assumed"))
    faster = Sourced({"memory": {"bandwidth": "4 TB/s"}}, {}).over(base)
    assert faster.values["memory"] == {"bandwidth": "4 TB/s", "stacks": 5}
    assert "memory.rate" not in faster.provenance
    rated = Sourced({"memory": {"rate": "6 Gb/s"}}, {}).over(base)
    assert rated.values["memory"] == {"rate": "6 Gb/s", "stacks": 5}
    both = Sourced({"memory": memory}, {}).over(base)
    assert both.values["memory"] == memory


plain = st.recursive(
    st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from("abcd"), plain, max_size=4))
def test_a_table_without_sources_comes_out_as_it_went_in(table: dict[str, object]) -> None:
    file = Source("file", "2026", "recalled")
    found = separate(table, file)
    assert found.values == table
    assert set(found.sources) == {path for path, _ in leaves(table)}


def test_paths_are_written_with_dots_and_indices() -> None:
    assert dotted(("tiers", 0, "nic", "rate")) == "tiers[0].nic.rate"
