"""What happens to files on their way: bits flip, ends go, parts are mixed, numbers grow."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Callable
from typing import Final

MOST: Final = 4
"""Damages done to one input."""

LARGEST: Final = 256 * 1024
"""Bytes that an input may grow to."""

NUMBERS: Final = (
    *("9" * 30, "1e999", "-1e999", "1e308", "-1", "0", "-0.0", "nan", "inf", "9" * 5000),
    *("1" + "0" * 17, "1e-400", "0x1f", "1_000", "1,5", "٣", "²", "½", ""),
)
"""Numbers, and what looks like some: enormous, negative, none, in other scripts."""

WORDS: Final = (
    *("\x00", "\x1b[31m", "\r", "\t", '"', "'", "\\", "{", "}", "[" * 200, "(" * 200, "<a>", "&x;"),
    *("\ufeff", "\u2028", "\udcff", "GPU0", "null", "N/A", "-" * 500, " " * 5000, ": ", "= ", "%s"),
)

_NUMBER: Final = re.compile(rb"\d+(?:\.\d+)?")

Damage = Callable[[bytes, bytes, random.Random], bytes]


def damaged(data: bytes, other: bytes, draw: random.Random) -> bytes:
    """Return ``data`` damaged a few times; parts of ``other`` may be mixed in."""
    for _ in range(draw.randint(1, MOST)):
        data = draw.choice(DAMAGES)(data, other, draw)[:LARGEST]
    return draw.choice(ENCODINGS)(data, draw) if draw.random() < 0.1 else data


def _flip(data: bytes, _: bytes, draw: random.Random) -> bytes:
    found = bytearray(data)
    for _one in range(draw.randint(1, 8) if found else 0):
        found[draw.randrange(len(found))] ^= 1 << draw.randrange(8)
    return bytes(found)


def _cut(data: bytes, _: bytes, draw: random.Random) -> bytes:
    at = draw.randint(0, len(data))
    return data[:at] if draw.random() < 0.7 else data[at:]


def _drop(data: bytes, _: bytes, draw: random.Random) -> bytes:
    start = draw.randint(0, len(data))
    return data[:start] + data[start + draw.randint(1, 64) :]


def _splice(data: bytes, other: bytes, draw: random.Random) -> bytes:
    start = draw.randint(0, len(other))
    piece = other[start : start + draw.choice((8, 100, 5000))]
    at = draw.randint(0, len(data))
    return data[:at] + piece + data[at:]


def _lines(data: bytes, other: bytes, draw: random.Random) -> bytes:
    """Repeat, swap or remove lines, or put some of another file among them."""
    rows = data.split(b"\n")
    one, two = draw.randrange(len(rows)), draw.randrange(len(rows))
    how = draw.randrange(4)
    if how == 0:
        rows[one:one] = [rows[one]] * draw.choice((1, 3, 50, 500))
    elif how == 1:
        rows[one], rows[two] = rows[two], rows[one]
    elif how == 2:
        del rows[one : one + draw.randint(1, 5)]
    else:
        strange = other.split(b"\n")
        start = draw.randrange(len(strange))
        rows[one:one] = strange[start : start + draw.randint(1, 10)]
    return b"\n".join(rows)


def _number(data: bytes, _: bytes, draw: random.Random) -> bytes:
    places = list(_NUMBER.finditer(data[:LARGEST]))
    if not places:
        return data
    place = draw.choice(places)
    new = draw.choice(NUMBERS).encode("utf-8", "surrogateescape")
    return data[: place.start()] + new + data[place.end() :]


def _word(data: bytes, _: bytes, draw: random.Random) -> bytes:
    at = draw.randint(0, len(data))
    return data[:at] + draw.choice(WORDS).encode("utf-8", "surrogateescape") + data[at:]


def _bytes(data: bytes, _: bytes, draw: random.Random) -> bytes:
    at = draw.randint(0, len(data))
    return data[:at] + draw.randbytes(draw.randint(1, 16)) + data[at:]


DAMAGES: Final[tuple[Damage, ...]] = (
    *(_flip, _cut, _drop, _splice, _lines, _number, _number, _word, _bytes),
)


def _as(encoding: str) -> Callable[[bytes, random.Random], bytes]:
    def encoded(data: bytes, _: random.Random) -> bytes:
        return data.decode("utf-8", "replace").encode(encoding, "replace")

    return encoded


def _packed(data: bytes, _: random.Random) -> bytes:
    return gzip.compress(data, 1)


def _half_packed(data: bytes, draw: random.Random) -> bytes:
    packed = gzip.compress(data, 1)
    return packed[: draw.randint(2, len(packed))]


def _windows(data: bytes, _: random.Random) -> bytes:
    return data.replace(b"\n", b"\r\n")


ENCODINGS: Final = (
    *(_as("utf-16"), _as("utf-16-be"), _as("utf-32"), _as("utf-8-sig"), _as("latin-1")),
    *(_packed, _half_packed, _windows),
)
"""How the whole arrives: other encodings, packed, with other line ends."""
