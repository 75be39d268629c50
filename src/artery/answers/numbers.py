"""Numbers of numpy and its like as Python's own, at the doors of the Python API."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, Protocol, TypeVar, runtime_checkable

_Asked = ParamSpec("_Asked")
_Answer = TypeVar("_Answer")


def own_numbers(function: Callable[_Asked, _Answer]) -> Callable[_Asked, _Answer]:
    """Return ``function`` taking numbers and lists of numbers of numpy as it takes Python's.

    They are made Python's before anything looks at them: no ``int`` there is an ``np.int64``, and
    neither every check nor every answer should have to know both.
    """

    @wraps(function)
    def asked(*given: _Asked.args, **options: _Asked.kwargs) -> _Answer:
        # The kinds stay those of the signature: numbers for numbers, lists for lists.
        plain = [own(one) for one in given]
        named = {name: own(one) for name, one in options.items()}
        return function(*plain, **named)  # type: ignore[arg-type]

    return asked


@runtime_checkable
class _Array(Protocol):
    """What numbers and arrays of numpy offer; numpy itself is not imported here."""

    @property
    def ndim(self) -> int: ...

    def tolist(self) -> object: ...


def own(value: object) -> object:
    """Return ``value`` with numbers of numpy, and arrays of texts, as Python's own, in lists too.

    >>> own({"sizes": (8, 16)})
    {'sizes': (8, 16)}
    """
    if isinstance(value, list):
        return [own(one) for one in value]
    if type(value) is tuple:
        return tuple(own(one) for one in value)
    if isinstance(value, dict):
        return {name: own(one) for name, one in value.items()}
    if isinstance(value, _Array) and not isinstance(value, type) and value.ndim < 2:
        plain = value.tolist()
        every = plain if isinstance(plain, list) else [plain]
        return plain if all(isinstance(one, (bool, int, float, str)) for one in every) else value
    return value
