"""Chakra traces written byte by byte from the published schema, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def number(value: int) -> bytes:
    """A varint, seven bits at a time, lowest first."""
    out = []
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def tagged(field: int, value: int | bytes) -> bytes:
    """One field: a varint, or bytes after their length."""
    if isinstance(value, int):
        return number(field << 3) + number(value)
    return number(field << 3 | 2) + number(len(value)) + value


def _attributes(**said: int | str) -> bytes:
    """Attributes: ``int64_val`` is field 9, ``string_val`` field 29."""
    return b"".join(
        tagged(
            10,
            tagged(1, name.encode())
            + (tagged(9, value) if isinstance(value, int) else tagged(29, value.encode())),
        )
        for name, value in said.items()
    )


def node(
    own: int, name: str, kind: int, after: Sequence[int] = (), micros: int = 0, **said: int | str
) -> bytes:
    """One node; what it waits for is packed, as protocol buffers of version 3 do it."""
    waits = tagged(5, b"".join(map(number, after))) if after else b""
    body = tagged(1, own) + tagged(2, name.encode()) + tagged(3, kind) + waits
    return body + (tagged(7, micros) if micros else b"") + _attributes(**said)


def compute(own: int, micros: int, after: Sequence[int] = (), **said: int) -> bytes:
    return node(own, f"gemm {own}", 4, after, micros, **said)


def collective(
    own: int, which: int, size: int, after: Sequence[int] = (), group: str = ""
) -> bytes:
    name = f"coll {own}"
    if not group:
        return node(own, name, 7, after, comm_type=which, comm_size=size)
    return node(own, name, 7, after, comm_type=which, comm_size=size, pg_name=group)


def send(own: int, target: int, size: int, after: Sequence[int] = ()) -> bytes:
    return node(own, f"send {own}", 5, after, comm_dst=target, comm_size=size, comm_tag=3)


def receive(own: int, source: int, size: int, after: Sequence[int] = ()) -> bytes:
    return node(own, f"recv {own}", 6, after, comm_src=source, comm_size=size, comm_tag=3)


def trace(*nodes: bytes) -> bytes:
    """A stream of messages: the version, then nodes."""
    return b"".join(number(len(one)) + one for one in (tagged(1, b"0.0.4"), *nodes))


def folder(place: Path, *ranks: Sequence[bytes]) -> str:
    """Write the traces of all ranks, and return the folder."""
    place.mkdir(exist_ok=True)
    for rank, nodes in enumerate(ranks):
        (place / f"step.{rank}.et").write_bytes(trace(*nodes))
    return str(place)
