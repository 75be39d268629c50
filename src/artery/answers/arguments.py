"""Arguments of the Python API: of the kind they should be, said before anything is computed."""

from __future__ import annotations

import os
from collections import abc
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from artery.errors import InputError, Problem, UsageError

_WORDS: Final = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    NoneType: "None",
    abc.Callable: "a function",
}
_LISTS: Final = {str: "a list of texts", int: "a list of whole numbers"}
_NUMBERS: Final = {2: "two numbers", 3: "three numbers"}


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


def refused(field: str, found: str, rule: str, fix: str) -> InputError:
    """Return the error of the text ``found`` that was given as ``field``.

    >>> print(refused("queue", "3", "must hold one frame of 64K", "1M"))
    queue  "3", must hold one frame of 64K, 1M
    """
    return InputError(Problem(field=field, found=f'"{found}"', rule=rule, fix=fix))


def check_declared(by: Callable[..., object], given: Mapping[str, object]) -> None:
    """Raise ``UsageError`` for each value of ``given`` of another kind than ``by`` declares.

    ``by`` is a function or a dataclass, whose annotations say what each may be: text, numbers,
    truth values, functions, lists of texts or numbers (tuples or other sequences, but no text,
    which would be split into letters), so and so many numbers, and any of several of these.

    >>> def ask(names: Sequence[str], window: tuple[float, float] | None = None) -> None: ...
    >>> check_declared(ask, {"names": "dp,tp", "window": 1})
    Traceback (most recent call last):
    artery.errors.UsageError: names must be a list of texts, not 'dp,tp'; window must be two \
numbers or None, not 1
    """
    hints = _declared(by)
    wrong = [
        f"{name} must be {' or '.join(_in_words(hints[name]))}, not {value!r:.60}"
        for name, value in given.items()
        if not _fits(value, hints[name])
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


@cache
def _declared(by: Callable[..., object]) -> dict[str, Any]:
    return get_type_hints(by)


def _fits(value: object, hint: Any) -> bool:  # noqa: ANN401 (an annotation may be anything)
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is abc.Callable:
        return callable(value)
    if origin is None:
        return isinstance(value, bool) if hint is bool else _is_one_of(value, (hint,))
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        return False
    right = all(_fits(one, inner[0]) for one in value)
    return right and (not _counted(hint) or len(value) == len(inner))


def _in_words(hint: Any) -> list[str]:  # noqa: ANN401 (an annotation may be anything)
    """What it may be, one kind after the other."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return [kind for one in inner for kind in _in_words(one)]
    if origin in _WORDS or origin is None:
        return [_WORDS[origin or hint]]
    return [_NUMBERS[len(inner)] if _counted(hint) else _LISTS[inner[0]]]


def _counted(hint: Any) -> bool:  # noqa: ANN401 (an annotation may be anything)
    """Whether it is a tuple of so and so many."""
    return get_origin(hint) is tuple and Ellipsis not in get_args(hint)


def _is_one_of(value: object, kinds: tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, kinds) or (float in kinds and isinstance(value, int))
