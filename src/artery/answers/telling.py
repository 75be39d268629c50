"""Who is told how far a long answer is: nobody, unless whoever asks listens.

What is long lies deep below an answer (a collective played for a term of a step of a plan), and
what it does in between is no part of any result, so that it is told here and not passed along.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

Heard = Callable[[str], None]
"""Who is told what is being done, in a few words."""


def nobody(_: str) -> None:
    """Hear nothing."""


_HEARD: Final[ContextVar[Heard]] = ContextVar("heard", default=nobody)


def tell(text: str) -> None:
    """Say what is being done to who listens."""
    _HEARD.get()(text)


@contextmanager
def telling(heard: Heard) -> Iterator[None]:
    """Have ``heard`` told what is being done within."""
    before = _HEARD.set(heard)
    try:
        yield
    finally:
        _HEARD.reset(before)
