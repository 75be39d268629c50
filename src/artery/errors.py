"""The errors that artery raises on purpose.

::

    ArteryError                 exit code 1, never raised itself
    ├── UsageError              2   the command line or the call makes no sense
    ├── InputError              3   one or more problems in what was given
    │   └── UnknownNameError    3   a name that nobody knows, with the nearest ones
    ├── RunError                1   a real run failed: a process died, or time was up
    ├── InfeasibleError         4   the given plan, or every plan, does not fit
    └── ThresholdError          5   a limit set by the caller is broken

Anything else that escapes is a bug (exit code 1). A :class:`Problem` says where it is, what
was found, which rule it breaks and what would fix it; :class:`Problems` collects them, so that
all are reported at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, ClassVar, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with an input.

    ``file`` is the path as the user gave it (``None``: not from a file), ``line`` and ``column``
    count from 1, ``field`` is the dotted path of the value or the name of the option. ``found``
    is what was there, ``rule`` what it breaks, ``fix`` what would repair it.
    """

    found: str
    rule: str
    fix: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    field: str | None = None

    @property
    def place(self) -> str:
        """``file:line:column``, as far as known; empty for a value that is in no file."""
        known = [str(part) for part in (self.file, self.line, self.column) if part is not None]
        return ":".join(known)

    def __str__(self) -> str:
        """``file:line:column  field  what was found, the rule, what would fix it``."""
        text = ", ".join(part for part in (self.found, self.rule, self.fix) if part)
        return "  ".join(part for part in (self.place, self.field, text) if part)


class ArteryError(Exception):
    """Base of every error that artery raises on purpose; ``exit_code`` is the process's."""

    exit_code: ClassVar[int] = 1


class UsageError(ArteryError):
    """The command line, or a call of the Python API, makes no sense."""

    exit_code = 2


class InputError(ArteryError):
    """What was given is wrong; ``problems`` lists everything that is."""

    exit_code = 3

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__(*self.problems)

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.problems,)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)

    def at(
        self,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        field: str | None = None,
    ) -> Self:
        """Return the same error with the place filled in where a problem does not say it yet."""
        placed = copy(self)
        placed.problems = tuple(
            replace(
                problem,
                file=problem.file or file,
                line=problem.line or line,
                column=problem.column or column,
                field=problem.field or field,
            )
            for problem in self.problems
        )
        return placed


class UnknownNameError(InputError):
    """A name that is not known; the message gives the nearest known ones.

    ``kind`` says what the name should be (``"chip"``), ``name`` what was found and ``known``
    the names that exist.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(known)
        self.near = nearest(name, self.known)
        rule = f"no {kind} of that name is known"
        fix = did_you_mean(self.near) or listed(self.known)
        super().__init__(Problem(found=f'{kind} "{name}"', rule=rule, fix=fix))

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self.kind, self.name, self.known)


class RunError(ArteryError):
    """A real run on this machine or cluster failed; the message says which process, and why."""


class InfeasibleError(ArteryError):
    """The given plan, or every plan, does not fit."""

    exit_code = 4


class ThresholdError(ArteryError):
    """The answer is there, but a limit that the caller set is broken."""

    exit_code = 5


class Problems:
    """Collects problems, then raises them all at once.

    Use it as a context manager; leaving it raises one :class:`InputError` with everything that
    was added, or nothing if nothing was::

        with Problems() as problems:
            if chips < 1:
                problems.add(Problem(...))
    """

    def __init__(self) -> None:
        self._found: list[Problem] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.raise_if_any()

    def add(self, problem: Problem) -> None:
        """Note one problem and go on."""
        self._found.append(problem)

    def absorb(self, error: InputError) -> None:
        """Note every problem of an error that was caught."""
        self._found.extend(error.problems)

    def raise_if_any(self) -> None:
        """Raise :class:`InputError` with all problems noted so far, if there are any."""
        if self._found:
            raise InputError(self._found)


def nearest(name: str, known: Iterable[str], *, limit: int = 3) -> tuple[str, ...]:
    """Return up to ``limit`` known names that resemble ``name``, best first, case ignored.

    Names that begin with ``name`` come before those that difflib finds similar.
    """
    folded = name.casefold()
    by_folded = {candidate.casefold(): candidate for candidate in known}
    similar = get_close_matches(folded, list(by_folded), n=limit, cutoff=0.6)
    longer = [candidate for candidate in by_folded if folded and candidate.startswith(folded)]
    found = dict.fromkeys([*longer, *similar])
    return tuple(by_folded[candidate] for candidate in found)[:limit]


def did_you_mean(near: Iterable[str]) -> str:
    """Return ``did you mean "a" or "b"?``, or an empty string if nothing is near."""
    quoted = [f'"{name}"' for name in near]
    if not quoted:
        return ""
    head, last = quoted[:-1], quoted[-1]
    return f"did you mean {', '.join(head)} or {last}?" if head else f"did you mean {last}?"


def listed(known: Iterable[str], *, limit: int = 12) -> str:
    """Return ``known: a, b, c``, cut off after ``limit`` names."""
    names = list(known)
    rest = f", ... ({len(names)} in all)" if len(names) > limit else ""
    return f"known: {', '.join(names[:limit])}{rest}" if names else "none is known"
