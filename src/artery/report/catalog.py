"""Renders the catalog: counts, lists, and one entry with the source of every value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from artery.answers.catalog import Count, Entry, Listing, Value
from artery.report.drawing.terminal import commands, indented
from artery.report.words import Language, words

TABLE_WIDTH = 76
"""Cells that the table of one entry needs so that every value stays beside its name."""

_STYLE = {"datasheet": "green", "measured": "green", "recalled": "yellow", "assumed": "yellow"}


def counts_payload(counts: Sequence[Count]) -> Mapping[str, object]:
    """Return the keys of ``artery.catalog/1`` for the counts: ``kinds[]{kind,count}``."""
    return {"kinds": counts}


def listing_payload(listing: Listing) -> Mapping[str, object]:
    """Return the keys for a list: ``kind`` and ``items[]{name,title,summary}``."""
    return {"kind": listing.kind, "items": listing.items}


def entries_payload(entries: Sequence[Entry]) -> Mapping[str, object]:
    """Return the keys for entries: ``entries[]{kind,name,title,note,values[]}``."""
    return {"entries": entries}


def counts_drawing(counts: Sequence[Count], language: Language) -> RenderableType:
    """Return how many entries of each kind there are, and what to type next."""
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right")
    for count in counts:
        table.add_row(Text(str(count.count)), Text(count.kind, style="bold"))
    next_steps = ("artery catalog list chips", "artery catalog show h100-sxm")
    return Group(indented(table), Text(), commands(words(language)["next"], next_steps))


def listing_drawing(listing: Listing, language: Language) -> RenderableType:
    """Return the entries of one kind, a line each."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for item in listing.items:
        known = [part for part in (item.title, item.summary) if part]
        table.add_row(Text(item.name), Text(": ".join(known)))
    if not listing.items:
        return table
    example = f"artery catalog show {listing.items[0].name}"
    return Group(table, Text(), commands(words(language)["next"], (example,)))


def entries_drawing(entries: Sequence[Entry], language: Language) -> RenderableType:
    """Return each entry with its values, and the numbered sources that they come from."""
    parts: list[RenderableType] = []
    for number, entry in enumerate(entries):
        parts += [Text()] if number else []
        parts += _entry_drawing(entry, language)
    return Group(*parts)


def _entry_drawing(entry: Entry, language: Language) -> Iterable[RenderableType]:
    word = words(language)
    numbers = _source_numbers(entry.values)
    yield Text.assemble((entry.name, "bold"), f"  {entry.title}")
    if entry.note is not None:
        yield Text(f"{word['note']}: {entry.note}", style="yellow")
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True)
    for value in entry.values:
        table.add_row(Text(value.path), Text(_shown(value)), _origin(value, numbers))
    yield indented(table)
    sources = Table.grid(padding=(0, 2))
    sources.add_column(no_wrap=True)
    sources.add_column(overflow="fold")
    for (text, as_of), number in numbers.items():
        sources.add_row(Text(f"[{number}]"), Text(f"{text} ({as_of})"))
    yield indented(sources)


def _shown(value: Value) -> str:
    """Return the value as its file has it, with the unit where the file needs none."""
    is_bare = value.unit not in (None, "1") and not isinstance(value.value, str)
    return f"{value.text} {value.unit}" if is_bare and _is_number(value.text) else value.text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _origin(value: Value, numbers: Mapping[tuple[str, str], int]) -> Text:
    if value.source is None or value.as_of is None or value.confidence is None:
        return Text()
    number = numbers[value.source, value.as_of]
    return Text(f"{value.confidence} [{number}]", style=_STYLE[value.confidence])


def _source_numbers(values: Iterable[Value]) -> dict[tuple[str, str], int]:
    """Return a number for each source, in the order of their first use."""
    numbers: dict[tuple[str, str], int] = {}
    for value in values:
        if value.source is not None and value.as_of is not None:
            numbers.setdefault((value.source, value.as_of), len(numbers) + 1)
    return numbers
