"""Arguments of the Python API: of the kind they should be, said before anything is computed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Final

from artery.errors import InputError, Problem, UsageError

_WORDS: Final = {str: "text", int: "a whole number", float: "a number", NoneType: "None"}


def check_kinds(*kinds: type, **arguments: object) -> None:
    """Raise :class:`artery.errors.UsageError` for each argument that is none of ``kinds``.

    ``kinds`` are out of ``str``, ``int``, ``float`` and ``NoneType``. A truth value is no number,
    a whole number is a number.

    >>> check_kinds(str, model="llama3-8b", on=8)
    Traceback (most recent call last):
    artery.errors.UsageError: on must be text, not 8
    """
    expected = " or ".join(_WORDS[kind] for kind in kinds)
    wrong = [
        f"{name} must be {expected}, not {value!r:.60}"
        for name, value in arguments.items()
        if not _is_one_of(value, kinds)
    ]
    if wrong:
        raise UsageError("; ".join(wrong))


def check_texts(name: str, given: object) -> None:
    """Raise ``UsageError`` unless ``given`` is a list of texts; one text alone is none.

    >>> check_texts("overrides", "node.chips=4")
    Traceback (most recent call last):
    artery.errors.UsageError: overrides must be a list of texts, not 'node.chips=4'
    """
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise UsageError(f"{name} must be a list of texts, not {given!r:.60}")
    check_kinds(str, **{f"{name}[{place}]": one for place, one in enumerate(given)})


def check_counts(name: str, given: object) -> None:
    """Raise ``UsageError`` unless ``given`` is None or maps texts to whole numbers."""
    if given is None:
        return
    if not isinstance(given, Mapping):
        raise UsageError(f"{name} must map names to whole numbers, not {given!r:.60}")
    check_kinds(int, NoneType, **{f"{name}[{key!r}]": value for key, value in given.items()})


def paths_of(
    given: Sequence[object], rule: str, fix: str = "- is standard input"
) -> tuple[str, ...]:
    """Return the files that a call names, one argument each, as text; ``pathlib`` paths too.

    Without any, ``rule`` is what it breaks and ``fix`` what would do.

    >>> paths_of([["a.txt", "b.txt"]], "there must be a file to read")
    Traceback (most recent call last):
    artery.errors.UsageError: path0 must be text, not ['a.txt', 'b.txt']; a list goes in as *paths
    """
    if not given:
        raise InputError(Problem(found="no file", rule=rule, fix=fix))
    paths = [os.fspath(path) if isinstance(path, os.PathLike) else path for path in given]
    for place, path in enumerate(paths):
        if isinstance(path, list | tuple):
            raise UsageError(
                f"path{place} must be text, not {path!r:.60}; a list goes in as *paths"
            )
    check_kinds(str, **{f"path{place}": path for place, path in enumerate(paths)})
    return tuple(map(str, paths))


def _is_one_of(value: object, kinds: tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, kinds) or (float in kinds and isinstance(value, int))
