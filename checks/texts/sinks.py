"""Where texts go out: the parts of problems, the words of errors, and what answers warn of."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from checks.texts.program import Call, Program
from checks.texts.resolve import Texts

Kind = Literal["found", "rule", "fix", "error", "kind", "warning", "evidence", "machine"]

_PARTS: Final[tuple[Kind, ...]] = ("found", "rule", "fix")
_ERRORS: Final = (
    "UsageError", "RunError", "InfeasibleError", "ThresholdError", "BadParameter", "ClickException",
)  # fmt: skip
_WARNINGS: Final = ("warnings", "remarks", "notes")
"""Fields of answers, and of what they are made from, that are shown line by line."""


_KEPT: Final[Mapping[str, Kind]] = {
    **dict.fromkeys(_WARNINGS, "warning"),
    "evidence": "evidence", "detail": "machine", "needed_for": "machine",
}  # fmt: skip
"""Fields that keep such a text, whatever they are fields of."""


@dataclass(frozen=True, slots=True, order=True)
class Met:
    """A text that a user can meet: what it is, how it reads, and where it is made."""

    kind: Kind
    text: str
    place: str


def met(program: Program) -> list[Met]:
    """Return every text of a program that goes out, each once."""
    texts = Texts(program)
    found: dict[tuple[Kind, str], str] = {}
    for kind, node, call in outlets(program):
        for text in texts.of(node, call.function, call.module):
            found.setdefault((kind, text), call.place)
    return sorted(Met(kind, text, place) for (kind, text), place in found.items())


def outlets(program: Program) -> Iterator[tuple[Kind, ast.expr, Call]]:
    """Yield every expression that is told to a user, and the call that it stands in."""
    for name, calls in program.calls.items():
        for call in calls:
            for kind, node in _out(name, call):
                yield kind, node, call
    for name, kind in _KEPT.items():
        for node, call in program.given(name):
            yield kind, node, call
    for owner in _keepers(program):
        for part in _PARTS:
            for node, call in program.given(part, owner):
                yield part, node, call


def _keepers(program: Program) -> set[str]:
    """Return the classes that keep the rule and the fix of a problem until it is told."""
    rules, fixes = ({owner for owner, _ in program.fields.get(one, ())} for one in ("rule", "fix"))
    return (rules & fixes) - {"Problem"}


def _out(name: str, call: Call) -> Iterator[tuple[Kind, ast.expr]]:
    """Yield the expressions of a call that are told to a user."""
    named = {one.arg: one.value for one in call.node.keywords}
    first = call.node.args[:1]
    if name == "Problem":
        yield from ((part, named[part]) for part in _PARTS if part in named)
    elif name in _ERRORS or (name == "fail" and ".cli." in call.module):
        yield from (("error", node) for node in first)
    elif name == "UnknownNameError":
        yield from (("kind", node) for node in first)
    elif name == "append" and _kept(call).endswith(_WARNINGS):
        yield from (("warning", node) for node in first)
    elif name == "replace":
        yield from (("warning", named[part]) for part in _WARNINGS if part in named)


def _kept(call: Call) -> str:
    """Return the name of the list that something is added to."""
    match call.node.func:
        case ast.Attribute(value=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name
    return ""
