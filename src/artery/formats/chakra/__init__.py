"""Chakra execution traces (``.et``) of MLCommons: nodes of one rank, as protocol buffers.

A stream of messages, each after its length as a varint: first ``GlobalMetadata`` (version), then
``Node`` (MLCommons Chakra, ``schema/protobuf/et_def.proto``). Sizes are in bytes, times in
microseconds. The parser is our own: no protobuf library is needed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedIOBase
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.reading import Format, Progress, Reading
from artery.formats.syntax.protobuf import BrokenMessageError, Value, fields, text_of, varint
from artery.formats.text import Text, open_bytes
from artery.formats.waiting import place_of
from artery.formats.wording import counted
from artery.places import is_file
from artery.units import show_bytes

NODE_TYPES: Final = (
    "invalid", "metadata", "memory load", "memory store", "compute", "send", "receive",
    "collective",
)  # fmt: skip
COLLECTIVES: Final = (
    "ALL_REDUCE", "REDUCE", "ALL_GATHER", "GATHER", "SCATTER", "BROADCAST", "ALL_TO_ALL",
    "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER",
)  # fmt: skip
"""The enumerations ``NodeType`` and ``CollectiveCommType`` of the schema, in order."""

LARGEST_MESSAGE: Final = 16 * 2**20
"""Assumed: bytes of one node; real ones have some hundred."""

MOST_LISTED: Final = 2000
_NAME, _TYPE, _DURATION, _ATTRIBUTE = 2, 3, 7, 10
_ATTRIBUTE_NAME: Final = 1
_START: Final = re.compile(r"[\x01-\xff]{1,3}\n[\x03-\x0f]\d{1,3}\.\d{1,3}\.\d{1,3}", re.DOTALL)


@dataclass(slots=True)
class _Totals:
    """What was met so far."""

    version: str = ""
    nodes: int = 0
    types: Counter[str] = field(default_factory=Counter)
    sizes: Counter[str] = field(default_factory=Counter)
    collectives: list[dict[str, Any]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    compute_us: int = 0
    broken: str | None = None


def _recognise(text: Text) -> float:
    return 0.95 if _START.match(text.head) else 0.0


def _stream(path: str, progress: Progress | None) -> Reading:
    totals = _Totals()
    with open_bytes(path) as stream:
        _collect(stream, totals)
        if progress is not None:
            progress(stream.tell())
    return _reading(path, totals)


def _read(text: Text) -> Reading:
    """Read a text's file again as bytes, which a text no longer has."""
    if text.path == "-" or not is_file(place_of(text.path)):
        fix = "give the file by its path"
        rule = "a Chakra trace is binary and read from a file"
        raise InputError(Problem(file=text.path, found="a text", rule=rule, fix=fix))
    return _stream(text.path, None)


def _messages(stream: BufferedIOBase, totals: _Totals) -> Iterator[bytes]:
    """Yield the messages; what breaks off is noted in ``totals``."""
    left = b""
    while True:
        while len(left) < LARGEST_MESSAGE:
            try:
                size, start = varint(left, 0)
            except BrokenMessageError:
                size, start = -1, 0
            if size > LARGEST_MESSAGE:
                totals.broken = f"a message of {size} bytes"
                return
            if size >= 0 and start + size <= len(left):
                break
            more = stream.read(max(64 * 1024, size))
            if not more:
                totals.broken = "the last message is cut off" if left else None
                return
            left += more
        position = 0
        while True:
            try:
                size, start = varint(left, position)
            except BrokenMessageError:
                break
            if start + size > len(left):
                break
            yield left[start : start + size]
            position = start + size
        left = left[position:]


def messages_of(stream: BufferedIOBase) -> Iterator[bytes]:
    """Yield the messages of a trace, the header first; raises where it breaks off.

    Raises :class:`artery.formats.syntax.protobuf.BrokenMessageError`.
    """
    totals = _Totals()
    yield from _messages(stream, totals)
    if totals.broken:
        raise BrokenMessageError(totals.broken)


def _collect(stream: BufferedIOBase, totals: _Totals) -> None:
    for index, message in enumerate(_messages(stream, totals)):
        try:
            if index == 0:
                totals.version = next((text_of(v) for n, v in fields(message) if n == 1), "")
            else:
                _node(message, totals)
        except BrokenMessageError as error:
            totals.broken = f"message {index + 1}: {error}"
            return


def _node(message: bytes, totals: _Totals) -> None:
    if not message:
        raise BrokenMessageError("nothing in it, as where a copy was filled up with zeros")
    found: dict[int, Value] = {}
    attributes: dict[str, Value] = {}
    for number, value in fields(message):
        if number == _ATTRIBUTE and isinstance(value, bytes):
            parts = list(fields(value))
            name = next((text_of(one) for key, one in parts if key == _ATTRIBUTE_NAME), "")
            attributes[name] = next((one for key, one in parts if key > 2), 0)
        else:
            found[number] = value
    kind = found.get(_TYPE, 0)
    name = NODE_TYPES[kind] if isinstance(kind, int) and kind < len(NODE_TYPES) else "unknown"
    totals.nodes += 1
    totals.types[name] += 1
    duration = found.get(_DURATION, 0)
    if name == "compute" and isinstance(duration, int):
        totals.compute_us += duration
    if name == "collective":
        _collective(text_of(found.get(_NAME, b"")), attributes, totals)


def _collective(name: str, attributes: dict[str, Value], totals: _Totals) -> None:
    which, size = attributes.get("comm_type", 0), attributes.get("comm_size", 0)
    known = isinstance(which, int) and which < len(COLLECTIVES)
    kind = COLLECTIVES[which] if isinstance(which, int) and known else "unknown"
    amount = size if isinstance(size, int) else 0
    totals.counts[kind] += 1
    totals.sizes[kind] += amount
    if len(totals.collectives) < MOST_LISTED:
        totals.collectives.append({"name": name, "comm_type": kind, "size_bytes": amount})


def _reading(path: str, totals: _Totals) -> Reading:
    if not totals.nodes:
        found = totals.broken or "no node"
        rule = "a trace has a header and nodes, each after its length"
        raise InputError(Problem(file=path, found=found, rule=rule, fix="copy the file again"))
    known = {
        "version": totals.version,
        "nodes": totals.nodes,
        "node_types": dict(totals.types),
        "collectives": totals.collectives,
        "collective_count": sum(totals.counts.values()),
        "collective_counts": dict(totals.counts),
        "collective_bytes": dict(totals.sizes),
        "compute_s": totals.compute_us * 1e-6,
    }
    warnings = [f"read up to a fault: {totals.broken}"] if totals.broken else []
    if not totals.types["compute"]:
        warnings.append("no computation in it: a micro-benchmark of communication")
    return Reading("chakra", "trace", tuple(_summary(totals)), known, tuple(warnings))


def _summary(totals: _Totals) -> Iterator[str]:
    yield f"Chakra {totals.version}: {counted(totals.nodes, 'node')} of one rank"
    for kind, count in totals.counts.most_common(4):
        yield f"{count} x {kind}, {show_bytes(totals.sizes[kind])} in all"


FORMAT: Final = Format("chakra", "trace", _recognise, _read, stream=_stream)
