"""Arguments of the Python API: of the kind they should be, said before anything is computed."""

from __future__ import annotations

from types import NoneType
from typing import Final

from artery.errors import UsageError

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


def _is_one_of(value: object, kinds: tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, kinds) or (float in kinds and isinstance(value, int))
