"""``Text``: the lines of a foreign file, cleaned of what transport and terminals added.

Files come gzipped, with a byte-order mark, as UTF-16 from a Windows editor, with carriage returns,
colour codes, time stamps of a scheduler and rank labels of a launcher before every line. All of
that is taken off here, once, so that readers see what the tool printed; line numbers stay those
of the file.
"""

from __future__ import annotations

import gzip
import io
import re
import sys
import zlib
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, Final

from artery.errors import InputError, Problem
from artery.formats.waiting import place_of, told
from artery.places import is_file, is_folder, is_pipe, is_there, why_nothing

LARGEST: Final = 256 * 2**20
"""Assumed: bytes, unpacked, that a file read whole may have; larger kinds are streamed."""

_ANSI: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\)|\x1b[@-Z\\-_]"
)
_LOST_ESCAPE: Final = re.compile(r"(?<!\w)\[[0-9;]{1,8}m")
"""A colour code whose escape character was lost in pasting."""


@dataclass(frozen=True)
class Text:
    """A file's text. ``path`` as the user gave it (``-`` is standard input)."""

    path: str
    content: str

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines without ends and colour codes; index i is line i + 1 of the file."""
        return tuple(self.content.split("\n"))

    @property
    def opening(self) -> str:
        """The first line that says anything, in quotes and cut, as an error names the file by."""
        first = next((line.strip() for line in self.lines if line.strip()), None)
        return "an empty file" if first is None else f'"{first[:60]}"'

    def lines_with(self, *words: str) -> list[int]:
        """Return the numbers, from 1 and ascending, of the lines that hold one of the ``words``.

        Finding words in the whole text is far faster than trying a pattern on every line.
        """
        starts = self._starts
        found: set[int] = set()
        for word in words:
            at = self.content.find(word)
            while at >= 0:
                number = bisect_right(starts, at)
                found.add(number)
                if number == len(starts):
                    break
                at = self.content.find(word, starts[number])
        return sorted(found)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line begins in the content."""
        ends = accumulate(len(line) + 1 for line in self.lines[:-1])
        return [0, *ends]

    @cached_property
    def head(self) -> str:
        """The first 64 KiB, enough to recognise any format."""
        return self.content[: 64 * 1024]


def read_text(path: str) -> Text:
    """Return the text of the file at ``path`` (``-``: standard input), unpacked and cleaned.

    Raises ``InputError``: no such file, a folder, not text, too large, a broken archive.
    """
    return Text(path, clean(decoded(path, _bytes(path))))


def beginning(path: str) -> Text:
    """Return the first 64 KiB of the file at ``path``, as :func:`read_text` would.

    An archive that breaks within them is cut there.
    """
    try:
        if not is_file(place_of(path)):
            return read_text(path)  # which says what is wrong
        with open_bytes(path) as stream:
            data = stream.read(64 * 1024)
    except (OSError, EOFError, zlib.error):
        data = b""
    return Text(path, clean(decoded(path, data)))


def open_bytes(path: str) -> io.BufferedIOBase:
    """Return the file at ``path`` as a stream of its bytes, unpacked on the way if gzipped."""
    place = place_of(path)
    with place.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    if packed:
        return gzip.open(place, "rb")
    return place.open("rb")


def clean(text: str) -> str:
    """Return ``text`` with line ends made one character and colour codes taken off."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\ufeff", "")  # of files that were put one after the other
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return _LOST_ESCAPE.sub("", text) if "[0m" in text else text


def short(value: object) -> str | None:
    """Return a value of a file as a name of at most 80 characters; ``None`` if it is no text."""
    return value[:80] if isinstance(value, str) else None


def decoded(path: str, data: bytes) -> str:
    """Return ``data`` as text: UTF-8, UTF-16 or UTF-32 by their marks, else Latin-1 if it is text.

    Without a mark UTF-16 is known by its zeros: every second byte of plain English.

    Raises ``InputError`` for binary data.
    """
    if data.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
        return data.decode("utf-32", errors="replace")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    head = data[:400]
    for start, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros, others = head[start::2].count(0), head[1 - start :: 2].count(0)
        if not others and zeros > 4 and zeros > 0.4 * len(head):
            return data.decode(name, errors="replace")
    if data[:400].count(0) > len(data[:400]) // 4:
        raise _refused(path, "binary data", "a text file is read here", "export it as text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _bytes(path: str) -> bytes:
    """The file's bytes, unpacked if gzipped, within the limit."""
    try:
        if path == "-":
            with told(path):
                return _limited(path, sys.stdin.buffer)
        file = place_of(path)
        if not is_file(file) and not is_pipe(path):
            raise _no_file(path, file)
        with told(path), file.open("rb") as stream:
            return _limited(path, stream)
    except OSError as error:
        found = error.strerror or str(error)
        raise _refused(path, found, "must be a file that can be read", "check the path") from None


def _no_file(path: str, file: Path) -> InputError:
    rule = "must be a file that can be read"
    if not path:
        return _refused('""', "no name", rule, "name a file; - is standard input")
    if is_folder(file):
        return _refused(path, "a folder", rule, "name the files in it")
    if is_there(file):
        fix = "save it to a file, or pipe it into -"
        return _refused(path, "a device", rule, fix)
    return _refused(path, why_nothing(file), rule, "check the path")


def _limited(path: str, stream: BinaryIO) -> bytes:
    data = stream.read(LARGEST + 1)
    if data[:2] == b"\x1f\x8b":
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
                data = packed.read(LARGEST + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise _refused(path, f"a broken archive ({error})", "gzip data must be whole",
                           "copy the file again") from None  # fmt: skip
    if len(data) > LARGEST:
        rule = f"at most {LARGEST // 2**20} MiB are read at once"
        raise _refused(path, "a larger file", rule, "cut out the part that matters")
    return data


def _refused(path: str, found: str, rule: str, fix: str) -> InputError:
    return InputError(Problem(file=path, found=found, rule=rule, fix=fix))
