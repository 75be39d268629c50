"""Readers of foreign files meet what logs go through: cuts, repeats, swaps, noise, huge numbers.

Whatever comes in, a reader answers with a reading or with an error of ours, and soon.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from artery.errors import InputError
from artery.formats.reading import Format
from artery.formats.recognise import formats, recognise
from artery.formats.text import Text, clean

FIXTURES = Path(__file__).parents[1] / "fixtures"
BY_NAME = {one.name: one for one in formats()}
FILES = sorted(
    path
    for path in FIXTURES.glob("*/*")
    if path.is_file() and path.suffix != ".gz" and path.parent.name in BY_NAME
)
HUGE = ("9" * 400, "1e999", "-1", "nan", "0", "18446744073709551616", "", "\x00", "٣")


def cut(text: str, draw: st.DrawFn) -> str:
    return text[: draw(st.integers(0, len(text)))]


def lines_mixed(text: str, draw: st.DrawFn) -> str:
    lines = text.split("\n")
    for _ in range(draw(st.integers(1, 4))):
        one, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        how = draw(st.sampled_from(("swap", "double", "drop", "join")))
        if how == "swap":
            lines[one], lines[other] = lines[other], lines[one]
        elif how == "double":
            lines.insert(other, lines[one])
        elif how == "join":
            lines[one] += lines[other]
        else:
            lines[one] = ""
    return "\n".join(lines)


def numbers_changed(text: str, draw: st.DrawFn) -> str:
    places = list(re.finditer(r"\d+", text))
    if not places:
        return text
    place = draw(st.sampled_from(places))
    return text[: place.start()] + draw(st.sampled_from(HUGE)) + text[place.end() :]


def noise(text: str, draw: st.DrawFn) -> str:
    where = draw(st.integers(0, len(text)))
    return text[:where] + draw(st.text(max_size=30)) + text[where:]


@st.composite
def broken(draw: st.DrawFn) -> tuple[str, str]:
    """A format's name and a broken file of it."""
    path = draw(st.sampled_from(FILES))
    text = path.read_text("utf-8")
    changes = (cut, lines_mixed, numbers_changed, noise)
    for change in draw(st.lists(st.sampled_from(changes), min_size=1, max_size=3)):
        text = change(text, draw)
    return path.parent.name, clean(text)


def checked(reader: Format, text: Text) -> None:
    """Read ``text``, which may be refused, and check what came out."""
    try:
        found = reader.read(text)
    except InputError:
        return
    assert len(found.summary) <= 5
    assert all(isinstance(line, str) for line in (*found.summary, *found.warnings))
    assert all(one.line >= 1 and one.count >= 1 for one in found.ignored)
    json.dumps(found.fields)


@given(broken())
@settings(max_examples=400)
def test_a_broken_file_is_read_or_refused(file: tuple[str, str]) -> None:
    name, content = file
    text = Text("file", content)
    recognise(text)
    checked(BY_NAME[name], text)


@given(st.sampled_from(sorted(BY_NAME)), st.text(max_size=300))
@settings(max_examples=200)
def test_any_text_is_read_or_refused(name: str, content: str) -> None:
    text = Text("file", clean(content))
    recognise(text)
    checked(BY_NAME[name], text)


LONG = 50_000
HOSTILE = {
    "blanks": " " * LONG,
    "tabs and newlines": "\t\n" * LONG,
    "digits": "1 " * LONG,
    "brackets": "[" * LONG,
    "angles": "<a>" * LONG,
    "quotes": '{"a":' * LONG,
    "dashes": "0-" * LONG,
    "nccl": "NCCL INFO Channel 00/0 : " * (LONG // 20),
    "devices": "\tGPU0" + "\tGPU1" * LONG,
    "header": "# size time busbw " * (LONG // 10),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_take_linear_time(content: str) -> None:
    """What is quadratic in this length takes minutes; nothing is measured here."""
    text = Text("file", content)
    recognise(text)
    for one in formats():
        try:
            one.read(text)
        except InputError:
            continue
