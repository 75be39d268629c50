"""Protocol buffers' wire format: fields of a message, by number, without a schema.

Google, "Encoding", protobuf.dev: a key is a varint of field number and wire type; types 0 varint,
1 eight bytes, 2 length and bytes, 5 four bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
LONGEST_VARINT: Final = 10
"""Bytes of a 64-bit number in groups of seven bits."""

Value = int | bytes


class BrokenMessageError(ValueError):
    """The bytes are no message: cut off, or of an unknown wire type."""


def varint(data: bytes, position: int) -> tuple[int, int]:
    """Return the number at ``position`` and where it ends; raises ``BrokenMessageError``."""
    result = 0
    for index in range(LONGEST_VARINT):
        if position + index >= len(data):
            raise BrokenMessageError("cut off inside a number")
        byte = data[position + index]
        result |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return result & (2**64 - 1), position + index + 1
    raise BrokenMessageError("a number of more than ten bytes")


def fields(data: bytes) -> Iterator[tuple[int, Value]]:
    """Yield number and value of every field; fixed-size values as bytes."""
    position = 0
    while position < len(data):
        key, position = varint(data, position)
        kind = key & 7
        if kind == VARINT:
            value, position = varint(data, position)
            yield key >> 3, value
            continue
        if kind == BYTES:
            size, position = varint(data, position)
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
        else:
            raise BrokenMessageError(f"wire type {kind}")
        if position + size > len(data):
            raise BrokenMessageError("cut off inside a field")
        yield key >> 3, data[position : position + size]
        position += size


def text_of(value: Value) -> str:
    """Return a string field."""
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)
