"""How the catalog is drawn and written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from io import StringIO

import pytest
from jsonschema import Draft202012Validator
from rich.console import RenderableType

from artery.answers.catalog import (
    Count,
    Entry,
    Item,
    Listing,
    Value,
    catalog,
    catalog_list,
    catalog_schema,
    catalog_show,
)
from artery.report.catalog import (
    counts_drawing,
    counts_payload,
    entries_drawing,
    entries_payload,
    listing_drawing,
    listing_payload,
)
from artery.report.drawing.terminal import draw
from artery.report.writing.json import document

SCHEMA = json.loads(files("artery.report").joinpath("schemas/catalog.json").read_text("utf-8"))

ENTRY = Entry(
    "chips",
    "acme",
    "ACME One",
    '"one" is taken as acme',
    (
        Value("cores", 8, None, "8", "sheet", "2024", "datasheet"),
        Value("power", 5.0, "W", "5 W", "lab", "2025-01", "measured"),
        Value("efficiency.kernel", 3e-6, "s", "3e-06", "sheet", "2024", "assumed"),
        Value("note", "x", None, "x", None, None, None),
    ),
)


def lines(drawing: RenderableType) -> list[str]:
    text = StringIO()
    draw(drawing, file=text, width=80)
    return text.getvalue().splitlines()


def test_an_entry_shows_where_each_value_comes_from() -> None:
    assert lines(entries_drawing([ENTRY], "en")) == [
        "acme  ACME One",
        'note: "one" is taken as acme',
        "  cores              8        datasheet [1]",
        "  power              5 W      measured [2]",
        "  efficiency.kernel  3e-06 s  assumed [1]",
        "  note               x",
        "  [1]  sheet (2024)",
        "  [2]  lab (2025-01)",
    ]


def test_a_list_ends_with_what_to_type_next() -> None:
    listing = Listing("chips", (Item("acme", "ACME One", "8 W"), Item("b", "", "9 W")))
    assert lines(listing_drawing(listing, "en")) == [
        "acme  ACME One: 8 W",
        "b     9 W",
        "",
        "next  artery catalog show acme",
    ]
    assert lines(listing_drawing(Listing("chips", ()), "en")) == []


def test_the_counts() -> None:
    drawn = lines(counts_drawing([Count("chips", 52), Count("links", 7)], "en"))
    assert drawn[:3] == ["  52  chips", "   7  links", ""]
    assert lines(counts_drawing([], "zh"))[-1].strip().startswith("artery catalog show")


@pytest.mark.parametrize(
    "payload",
    [
        counts_payload(catalog()),
        listing_payload(catalog_list("links")),
        entries_payload([ENTRY]),
        entries_payload(catalog_show("h100")),
        entries_payload(catalog_show("dgx-h100")),
        entries_payload(catalog_show("llama3-8b")),
        {"json_schema": catalog_schema("chip")},
    ],
    ids=["counts", "list", "made", "chip", "system", "model", "schema"],
)
def test_the_document_follows_its_published_schema(payload: Mapping[str, object]) -> None:
    written = json.loads(document("catalog", payload))
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator(SCHEMA).validate(written)
    assert not Draft202012Validator(SCHEMA).is_valid({**written, "more": 1})
