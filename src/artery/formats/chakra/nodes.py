"""Chakra execution traces as nodes with their dependencies: what a rank did, and after what.

MLCommons Chakra, ``schema/protobuf/et_def.proto``: a node has an id, a type, the ids of what it
waits for (``ctrl_deps``, ``data_deps``), a duration in microseconds, and attributes by name:
``comm_type``, ``comm_size``, ``comm_src``, ``comm_dst``, ``comm_tag``, ``pg_name``, ``is_cpu_op``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from artery.errors import InputError, Problem, Problems
from artery.formats.chakra import COLLECTIVES, NODE_TYPES, messages_of
from artery.formats.syntax.protobuf import BrokenMessageError, Value, fields, text_of, varint
from artery.formats.text import open_bytes
from artery.places import is_folder, is_there, why_nothing

_ID, _NAME, _TYPE, _CONTROL, _DATA, _DURATION, _ATTRIBUTE = 1, 2, 3, 4, 5, 7, 10
_SIGNED_32, _SIGNED_64 = 15, 17
"""Fields of an attribute whose varint is in zigzag."""

MOST_MICROS, MOST_BYTES = 10**11, 2**50
"""Assumed: a computation of more than a day, or a message of more than a pebibyte, is none."""

MOST_NODES: Final = 5_000_000
"""Assumed: nodes of one rank; more do not fit in memory beside their messages."""


@dataclass(frozen=True, slots=True)
class ChakraNode:
    """One node: ``kind`` is a word of ``NODE_TYPES``, ``after`` are ids of the same rank.

    ``collective`` is a word of ``COLLECTIVES`` and ``size`` in bytes; ``source`` and ``target``
    are ranks (-1: not said). ``group`` names the process group; ``host`` says that a processor, no
    chip, is at work.
    """

    number: int
    name: str
    kind: str
    after: tuple[int, ...]
    micros: int
    collective: str
    size: int
    source: int
    target: int
    tag: int
    group: str
    host: bool


def rank_files(path: str) -> list[str]:
    """Return the traces at ``path``: the file, or all ``*.RANK.et`` of a folder by rank.

    Raises ``InputError`` for a folder in which ranks are missing or there are none.
    """
    place = Path(path)
    if not is_there(path):
        raise _wrong(path, why_nothing(path), "a trace, or a folder of them", "check the path")
    if not is_folder(path):
        return [path]
    found: dict[int, str] = {}
    for file in sorted(place.glob("*.et")):
        number = file.name.split(".")[-2] if file.name.count(".") > 1 else ""
        if not number.isascii() or not number.isdigit():
            rule = "a trace's name ends in its rank: name.0.et, name.1.et"
            raise _wrong(str(file), file.name, rule, "rename it, or name one file")
        if int(number) in found:
            rule = f"rank {int(number)} has one trace, and {found[int(number)]} is another"
            raise _wrong(str(file), file.name, rule, "one folder for each run")
        found[int(number)] = str(file)
    missing = sorted(set(range(len(found))) - found.keys())
    if not found or missing:
        what = f"no trace of rank {missing[0]}" if missing else "no *.et"
        rule = "a folder holds one trace for every rank, from 0 on"
        raise _wrong(path, what, rule, "name.0.et, name.1.et, ...")
    return [found[rank] for rank in range(len(found))]


def read_nodes(path: str) -> tuple[ChakraNode, ...]:
    """Return the nodes of one rank, in the order of the file.

    Raises ``InputError`` for a file that is cut off or no trace, for an id that comes twice and
    for dependencies on nodes that are not there.
    """
    found: dict[int, ChakraNode] = {}
    problems = Problems()
    with open_bytes(path) as stream:
        try:
            for index, message in enumerate(messages_of(stream)):
                if not index:
                    continue
                node = _node(message)
                if node.number in found:
                    rule = "every node has an id of its own"
                    problems.add(problem(path, f"node {node.number} twice", rule, "number them"))
                found[node.number] = node
                if node.micros > MOST_MICROS or not 0 <= node.size <= MOST_BYTES:
                    what = f"node {node.number} ({node.name}): {node.micros} us, {node.size} B"
                    rule = "durations are up to a day, sizes from 0 to a pebibyte"
                    problems.add(problem(path, what, rule, "microseconds and bytes"))
                if len(found) > MOST_NODES:
                    rule = f"at most {MOST_NODES:,} nodes of a rank are played"
                    raise _wrong(path, f"more than {MOST_NODES:,}", rule, "fewer steps of the job")
        except BrokenMessageError as error:
            rule = "a trace has a header and nodes, each after its length"
            raise _wrong(path, str(error), rule, "copy the file again") from None
    if not found:
        rule = "a trace has a header and nodes, each after its length"
        raise _wrong(path, "no node", rule, "give a Chakra execution trace (.et)")
    for node in found.values():
        for missing in [one for one in node.after if one not in found][:1]:
            rule = f"node {node.number} ({node.name}) waits for it, and it is not there"
            problems.add(problem(path, f"node {missing}", rule, "the whole trace of the rank"))
    problems.raise_if_any()
    return tuple(found.values())


def _node(message: bytes) -> ChakraNode:
    if not message:
        raise BrokenMessageError("nothing in it, as where a copy was filled up with zeros")
    plain: dict[int, Value] = {}
    after: list[int] = []
    said: dict[str, int | str] = {}
    for number, value in fields(message):
        if number in (_CONTROL, _DATA):
            after += [value] if isinstance(value, int) else _packed(value)
        elif number == _ATTRIBUTE and isinstance(value, bytes):
            name, content = _attribute(value)
            said[name] = content
        else:
            plain[number] = value
    kind = _number(plain, _TYPE)
    which = _whole(said, "comm_type", 0)
    return ChakraNode(
        number=_number(plain, _ID),
        name=text_of(plain.get(_NAME, b"")),
        kind=NODE_TYPES[kind] if kind < len(NODE_TYPES) else "unknown",
        after=tuple(dict.fromkeys(after)),
        micros=_number(plain, _DURATION),
        collective=COLLECTIVES[which] if 0 <= which < len(COLLECTIVES) else "unknown",
        size=_whole(said, "comm_size", 0),
        source=_whole(said, "comm_src", -1),
        target=_whole(said, "comm_dst", -1),
        tag=_whole(said, "comm_tag", 0),
        group=str(said.get("pg_name", "")),
        host=bool(said.get("is_cpu_op", 0)),
    )


def _packed(value: bytes) -> Iterator[int]:
    """Yield the numbers of a packed list."""
    position = 0
    while position < len(value):
        number, position = varint(value, position)
        yield number


def _attribute(value: bytes) -> tuple[str, int | str]:
    """Return name and value of an attribute; lists are not looked at."""
    name, content = "", 0
    found: int | str = 0
    for number, part in fields(value):
        if number == 1:
            name = text_of(part)
        elif number > 2:
            content = number
            found = part if isinstance(part, int) else _read(number, part)
    if isinstance(found, int) and content in (_SIGNED_32, _SIGNED_64):
        found = (found >> 1) ^ -(found & 1)
    elif isinstance(found, int) and found >= 2**63:
        found -= 2**64
    return name, found


def _read(number: int, part: bytes) -> int | str:
    """Return bytes as what the field holds: fixed numbers, a double, or text."""
    if len(part) == 8 and number == 3:
        return int(struct.unpack("<d", part)[0])
    if len(part) == 4 and number == 5:
        return int(struct.unpack("<f", part)[0])
    if number in (19, 21, 23, 25):
        return int.from_bytes(part, "little", signed=number > 21)
    return text_of(part)


def _number(plain: Mapping[int, Value], field: int) -> int:
    value = plain.get(field, 0)
    return value if isinstance(value, int) else 0


def _whole(said: Mapping[str, int | str], name: str, usual: int) -> int:
    value = said.get(name, usual)
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdigit() else usual
    return value


def problem(path: str, found: str, rule: str, fix: str) -> Problem:
    """Return what is wrong with the trace at ``path``."""
    return Problem(file=path, found=found, rule=rule, fix=fix)


def _wrong(path: str, found: str, rule: str, fix: str) -> InputError:
    return InputError(problem(path, found, rule, fix))
