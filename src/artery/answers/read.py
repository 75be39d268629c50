"""``artery read``: what foreign files are, what they say, what was passed over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from artery.answers.anonymise import Mask, devices_of
from artery.answers.arguments import check_declared, paths_of
from artery.answers.systems import system_table
from artery.catalog.overrides import apply_overrides
from artery.catalog.systems import described
from artery.errors import InputError, Problems
from artery.formats.gpus.node_table import assumed
from artery.formats.reading import Ignored, Progress, Reading
from artery.formats.recognise import formats
from artery.formats.recognise import read as read_one

SUMMARY_LINES = 5
"""What a file says is told in so many lines at most."""


@dataclass(frozen=True, slots=True)
class FileRead:
    """One file: what it is, what it says, what an expert would remark, what was passed over.

    ``fields`` is everything understood, in SI units; ``is_system`` says that a system can be
    made of it, perhaps with the help of the ``missing_facts`` among them. ``tested`` is false if
    the reader never met a real file of that format.
    """

    path: str
    format: str
    kind: str
    summary: tuple[str, ...]
    warnings: tuple[str, ...]
    ignored: tuple[Ignored, ...]
    fields: Mapping[str, Any]
    is_system: bool
    tested: bool


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """The files in the order in which they were given."""

    files: tuple[FileRead, ...]


def read(
    *paths: str | PathLike[str],
    format_name: str | None = None,
    anonymise: bool = False,
    progress: Progress | None = None,
) -> ReadAnswer:
    """Return what is in the files at ``paths`` (``-``: standard input).

    ``format_name`` says what they are where that is known; ``anonymise`` masks hosts, users,
    addresses and GUIDs; ``progress`` is told the bytes read of files that are streamed. Raises
    :class:`artery.errors.InputError` with the problems of all files that cannot be read.
    """
    paths = paths_of(paths, "there must be a file to read")
    options = {"format_name": format_name, "anonymise": anonymise, "progress": progress}
    check_declared(read, options)
    found: list[FileRead] = []
    mask = Mask(paths)
    with Problems() as problems:
        for path in paths:
            try:
                reading = read_one(path, format_name, progress)
                found.append(_file(path, reading))
                mask.learn(devices_of(reading))
            except InputError as error:
                problems.absorb(error.at(file=path))
    if not anonymise:
        return ReadAnswer(tuple(found))
    for one in found:
        mask.learn(one.fields)
    return ReadAnswer(tuple(_masked(one, mask) for one in found))


def known_formats() -> tuple[tuple[str, str], ...]:
    """Return name and kind of every format that is known, by name."""
    return tuple(sorted((one.name, one.kind) for one in formats()))


def _file(path: str, reading: Reading) -> FileRead:
    tested = {one.name: one.tested for one in formats()}
    return FileRead(
        path=path,
        format=reading.format,
        kind=reading.kind,
        summary=reading.summary[:SUMMARY_LINES],
        warnings=reading.warnings,
        ignored=reading.ignored,
        fields=reading.fields,
        is_system=reading.system is not None or reading.table is not None,
        tested=tested.get(reading.format, True),
    )


def _masked(one: FileRead, mask: Mask) -> FileRead:
    return FileRead(
        path=mask.text(one.path),
        format=one.format,
        kind=one.kind,
        summary=tuple(map(mask.text, one.summary)),
        warnings=tuple(map(mask.text, one.warnings)),
        ignored=tuple(Ignored(i.line, i.count, mask.text(i.why)) for i in one.ignored),
        fields=mask.value(one.fields),
        is_system=one.is_system,
        tested=one.tested,
    )


def notes_on(values: Mapping[str, Any]) -> list[str]:
    """Return what was taken for granted in the tables of :func:`system_values`."""
    return assumed(values)


def system_values(
    path: str, overrides: Sequence[str] = (), format_name: str | None = None
) -> dict[str, Any]:
    """Return the tables of a system file of ours for what the file at ``path`` describes.

    ``overrides`` (``path=value``) are laid over them, and the whole is checked. Raises
    :class:`artery.errors.InputError` if it is no system, or says too little for one.
    """
    values = system_table(read_one(path, format_name), path, overrides)
    described(values, path, overrides)
    return apply_overrides(values, overrides).values
