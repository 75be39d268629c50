"""What an expression can spell: every text, with a mark where a figure or a name stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import product
from math import prod
from typing import Final

from checks.texts.program import Bound, Call, Function, Program, called

SLOT: Final = "\x00"
"""What stands for a figure or a name."""

_MOST: Final = 400
"""Texts of one expression; more are data, not sentences."""
_DEEPEST: Final = 9
"""Expressions inside each other that are followed; deeper ones found no further sentence."""
_NAMESAKES: Final = 4
"""Functions of one name, above which nobody can tell which one is meant."""
_PHRASE: Final = re.compile(r"[a-z]{2,},? | [a-z]{2,}")
_FIELD: Final = re.compile(r"\{[^{}]*\}")
_SLOTS: Final = frozenset({SLOT})
_PASSING: Final = frozenset(
    {"tuple", "list", "sorted", "set", "chain", "dict", "fromkeys", "next", "iter", "reversed"}
)
"""What hands on the texts that it is given."""
_SHOWING: Final = frozenset({"str", "counted", "reason"})
"""What makes a figure, a count or another program's words of what it is given."""
_TOLD: Final = frozenset({"rule", "fix", "unsupported"})
"""Fields that keep a text until it is told; some are functions that make one."""
_TRIMMING: Final = frozenset({"strip", "rstrip", "lstrip", "removesuffix", "removeprefix"})


class Texts:
    """The texts of the expressions of a program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._open: set[int] = set()
        self._known: dict[int, frozenset[str]] = {}
        self._cuts = 0  # how often a circle, or too deep a chain, was cut: then nothing is kept

    def of(self, node: ast.expr, function: Function | None, module: str) -> frozenset[str]:
        """Return every text that an expression can be; ``SLOT`` for what is no text."""
        key = id(node)
        if key in self._known:
            return self._known[key]
        if key in self._open or len(self._open) > _DEEPEST:
            self._cuts += 1
            return _SLOTS
        before = self._cuts
        self._open.add(key)
        try:
            found = frozenset(self._read(node, function, module)) or _SLOTS
        finally:
            self._open.discard(key)
        found = found if len(found) <= _MOST else _SLOTS
        if not self._open or self._cuts == before:
            self._known[key] = found
        return found

    def _all(
        self, nodes: Iterable[ast.expr | None], function: Function | None, module: str
    ) -> Iterator[str]:
        for node in nodes:
            if node is not None:
                yield from self.of(node, function, module)

    def _read(self, node: ast.expr, function: Function | None, module: str) -> Iterable[str]:
        match node:
            case ast.Constant(value=str() as text):
                return {text}
            case ast.Constant(value=None):
                return {""}
            case ast.JoinedStr(values=parts):
                return self._joined([self._shown(part, function, module) for part in parts])
            case ast.BinOp():
                return self._combined(node, function, module)
            case ast.Name(id=name):
                return self._name(name, function, module)
            case ast.Call():
                return self._call(node, function, module)
            case ast.Attribute(attr=attribute) if attribute in _TOLD:
                return self._attribute(attribute)
        return self._all(_inside(node), function, module)

    def _shown(self, part: ast.expr, function: Function | None, module: str) -> frozenset[str]:
        """Return what a part of an f-string can be: its phrases, and a slot for names."""
        if not isinstance(part, ast.FormattedValue):
            return self.of(part, function, module)
        if part.format_spec is not None or part.conversion != -1:
            return _SLOTS
        return frozenset(
            text if _PHRASE.search(text) or not text else SLOT
            for text in self.of(part.value, function, module)
        )

    def _joined(self, parts: list[frozenset[str]]) -> Iterator[str]:
        if prod(len(part) for part in parts) > _MOST:
            parts = [part if len(part) == 1 else _SLOTS for part in parts]
        return ("".join(pieces) for pieces in product(*parts))

    def _combined(self, node: ast.BinOp, function: Function | None, module: str) -> Iterable[str]:
        left, right = node.left, node.right
        one, other = (self.of(side, function, module) for side in (left, right))
        if isinstance(node.op, ast.Mult):
            return {"", *one}  # the text, or nothing
        if not isinstance(node.op, ast.Add):
            return _SLOTS
        if any(self._is_many(side, function) for side in (left, right)):
            return one | other
        return (first + second for first in one for second in other)

    def _is_many(self, node: ast.expr, function: Function | None) -> bool:
        """Return whether an expression is several texts, not one."""
        if isinstance(node, ast.Name) and function is not None:
            return any(isinstance(one.value, _MANY) for one in function.bound.get(node.id, []))
        return isinstance(node, _MANY) or (isinstance(node, ast.Call) and called(node) in _PASSING)

    def _name(self, name: str, function: Function | None, module: str) -> Iterable[str]:
        while function is not None:
            if function.takes(name):
                return self._parameter(name, function)
            if name in function.bound:
                return self._bound(function.bound[name], function, module)
            function = function.outer
        constant = self._program.constant(name, module)
        return _SLOTS if constant is None else self.of(constant[0], None, constant[1])

    def _bound(self, many: list[Bound], function: Function, module: str) -> Iterator[str]:
        for one in many:
            if one.of == 1:
                yield from self.of(one.value, function, module)
            else:
                items = list(self._items(one, one.value, function, module))
                yield from items or [SLOT]

    def _items(
        self, bound: Bound, node: ast.expr, function: Function | None, module: str
    ) -> Iterator[str]:
        """Yield the texts of one item of tuples: of a tuple, of each in a list, of a function's."""
        inside = Bound(node, bound.item, bound.of)
        match node:
            case ast.Tuple(elts=parts) if not bound.each and len(parts) == bound.of:
                yield from self.of(parts[bound.item], function, module)
            case ast.Tuple(elts=many) | ast.List(elts=many) | ast.Dict(values=many):
                for part in many:
                    yield from self._items(inside, part, function, module)
            case ast.IfExp(body=one, orelse=other):
                yield from self._items(bound, one, function, module)
                yield from self._items(bound, other, function, module)
            case ast.Subscript(value=table):
                each = Bound(table, bound.item, bound.of, each=True)
                yield from self._items(each, table, function, module)
            case ast.Name(id=name) if (found := self._set(name, function, module)) is not None:
                yield from self._items(bound, found[0], function, found[1])
            case ast.Call():
                yield from self._results(inside, node, function, module)

    def _results(
        self, bound: Bound, node: ast.Call, function: Function | None, module: str
    ) -> Iterator[str]:
        """Yield one item of the tuples that a call gives: pairs of a table, or results."""
        match node.func:
            case ast.Attribute(value=ast.Name(id=name), attr="items"):
                yield from self._pairs(bound, name, function, module)
                return
        if id(node) in self._open:
            return
        self._open.add(id(node))
        for one in self._program.named(called(node), module):
            for result in one.results:
                yield from self._items(bound, result, one, one.module)
        self._open.discard(id(node))

    def _pairs(
        self, bound: Bound, name: str, function: Function | None, module: str
    ) -> Iterator[str]:
        found = self._set(name, function, module)
        if found is None or not isinstance(found[0], ast.Dict):
            return
        if bound.item == 0:
            yield from self._all(found[0].keys, function, found[1])
        else:
            yield from self._all(found[0].values, function, found[1])

    def _set(
        self, name: str, function: Function | None, module: str
    ) -> tuple[ast.expr, str] | None:
        """Return the one expression that a name is set to."""
        while function is not None:
            many = [one for one in function.bound.get(name, []) if one.of == 1 and not one.each]
            if many:
                return many[0].value, module
            function = function.outer
        return self._program.constant(name, module)

    def _parameter(self, name: str, function: Function) -> Iterator[str]:
        """Yield what a parameter may be: its default, and what the calls give."""
        if name in function.defaults:
            yield from self.of(function.defaults[name], None, function.module)
        calls = self._program.calls
        own = function.node.name
        for call in calls.get((function.owner or own) if own == "__init__" else own, []):
            given = _given(name, function, call)
            if given is not None and self._means(call, function):
                yield from self.of(given, call.function, call.module)

    def _means(self, call: Call, function: Function) -> bool:
        """Return whether a call may be one of the function."""
        if call.module == function.module:
            return True
        imports = self._program.imports[call.module]
        match call.node.func:
            case ast.Name(id=name):
                return function in self._program.named(name, call.module) or name == function.owner
            case ast.Attribute(value=ast.Name(id=name)) if function.owner is None:
                return ".".join(imports.get(name, ("", ""))) == function.module
        return function.owner in imports

    def _call(self, node: ast.Call, function: Function | None, module: str) -> Iterable[str]:
        match node.func:
            case ast.Attribute(value=base):
                return self._method(node, base, function, module)
        name = called(node)
        if name in _PASSING:
            return self._all(node.args, function, module)
        if name == "str" and function is not None and isinstance(node.args[0], ast.Name):
            return self._raised(node.args[0].id, function)
        if name.startswith("show_") or name in _SHOWING:
            return _SLOTS
        return self._returned(name, module)

    def _raised(self, name: str, function: Function) -> Iterator[str]:
        """Yield the words of the errors of the program that are caught under a name."""
        for kind in function.caught.get(name, ()):
            for call in self._program.calls.get(kind, ()):
                if kind in self._program.classes:
                    yield from self._all(call.node.args[:1], call.function, call.module)

    def _attribute(self, name: str) -> Iterator[str]:
        for value, call in self._program.given(name):
            yield from self.of(value, call.function, call.module)

    def _returned(self, name: str, module: str) -> Iterable[str]:
        many = self._program.named(name, module)
        if len(many) > _NAMESAKES:
            return _SLOTS
        return [text for one in many for text in self._all(one.results, one, one.module)]

    def _method(
        self, node: ast.Call, base: ast.expr, function: Function | None, module: str
    ) -> Iterable[str]:
        name = called(node)
        if name in _TOLD:
            return self._attribute(name)
        if name == "format":
            return (_FIELD.sub(SLOT, text) for text in self.of(base, function, module))
        if name == "join":
            between = str(base.value) if isinstance(base, ast.Constant) else ""
            if _PHRASE.search(between):
                return {between.join([SLOT] * 3)}
            apart = between.strip(" ") in {";", "\n"}
            return self._all(node.args, function, module) if apart else _SLOTS
        if name == "get":
            return self._all([base, *node.args[1:]], function, module)
        if name in _TRIMMING:
            return self.of(base, function, module)
        if name in _PASSING:
            return self._all(node.args, function, module)
        shown = name.startswith("show_") or name in _SHOWING
        return _SLOTS if shown or not isinstance(base, ast.Name) else self._returned(name, module)


_MANY = (ast.List, ast.Tuple, ast.ListComp)


def _inside(node: ast.expr) -> list[ast.expr | None]:
    """Return the expressions one of which, or each of which, an expression is."""
    match node:
        case ast.IfExp(body=one, orelse=other):
            return [one, other]
        case ast.BoolOp(values=parts):
            return list(parts)
        case ast.List(elts=many) | ast.Tuple(elts=many) | ast.Set(elts=many):
            return list(many)
        case ast.Dict(values=many):
            return list(many)
        case ast.ListComp(elt=one) | ast.GeneratorExp(elt=one) | ast.SetComp(elt=one):
            return [one]
        case (
            ast.DictComp(value=one)
            | ast.Starred(value=one)
            | ast.NamedExpr(value=one)
            | ast.YieldFrom(value=one)
            | ast.Lambda(body=one)
        ):
            return [one]
        case ast.Subscript(value=ast.Name() | ast.Dict() | ast.Tuple() | ast.List() as one):
            return [one]
    return []


def _given(name: str, function: Function, call: Call) -> ast.expr | None:
    """Return what a call gives for a parameter."""
    for keyword in call.node.keywords:
        if keyword.arg == name:
            return keyword.value
    if name not in function.parameters:
        return None
    bound = function.owner is not None and function.parameters[0] in {"self", "cls"}
    place = function.parameters.index(name) - bound
    before = call.node.args[: place + 1]
    if place < 0 or len(before) <= place or any(isinstance(one, ast.Starred) for one in before):
        return None
    return before[place]
