"""The source of a package: its functions, calls and constants, and what each name is bound to."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

Def: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Bound:
    """What a name may be: an expression, one item of it, or of each that it holds.

    ``item`` and ``of`` say which one of how many names it was unpacked into.
    """

    value: ast.expr
    item: int = 0
    of: int = 1
    each: bool = False


@dataclass(eq=False)
class Function:
    """A function, where it stands, and the function around it."""

    node: Def
    module: str
    owner: str | None
    outer: Function | None

    @cached_property
    def parameters(self) -> list[str]:
        """Its parameters that may be given by their place."""
        return [one.arg for one in (*self.node.args.posonlyargs, *self.node.args.args)]

    @cached_property
    def defaults(self) -> dict[str, ast.expr]:
        """The default of each parameter that has one."""
        args = self.node.args
        placed = (*args.posonlyargs, *args.args)
        found = zip(reversed(placed), reversed(args.defaults), strict=False)
        named = zip(args.kwonlyargs, args.kw_defaults, strict=True)
        return {
            one.arg: value for one, value in (*found, *named) if value is not None
        }  # fmt: skip

    def takes(self, name: str) -> bool:
        """Return whether ``name`` is one of its parameters."""
        return name in self.parameters or name in {one.arg for one in self.node.args.kwonlyargs}

    @cached_property
    def bound(self) -> dict[str, list[Bound]]:
        """What each local name may be."""
        found: dict[str, list[Bound]] = defaultdict(list)
        for node in ast.walk(self.node):
            for name, bound in _bindings(node):
                found[name].append(bound)
        return found

    @cached_property
    def caught(self) -> dict[str, list[str]]:
        """The errors that each name may be, where it is one that was caught."""
        return {
            node.name: [one.id for one in ast.walk(node.type) if isinstance(one, ast.Name)]
            for node in ast.walk(self.node)
            if isinstance(node, ast.ExceptHandler) and node.name and node.type is not None
        }

    @cached_property
    def results(self) -> list[ast.expr]:
        """What it returns or yields itself."""
        return [
            node.value
            for node in _own(self.node)
            if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)) and node.value is not None
        ]


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A call, and where it stands."""

    node: ast.Call
    function: Function | None
    module: str

    @property
    def place(self) -> str:
        """Where it stands, as ``artery.room.file:line``."""
        return f"{self.module}:{self.node.lineno}"


@dataclass
class Program:
    """All that is known of the source of a package."""

    functions: dict[str, list[Function]] = field(default_factory=lambda: defaultdict(list))
    calls: dict[str, list[Call]] = field(default_factory=lambda: defaultdict(list))
    constants: dict[str, dict[str, ast.expr]] = field(default_factory=dict)
    imports: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)
    fields: dict[str, list[tuple[str, int]]] = field(default_factory=lambda: defaultdict(list))
    """By name of a field: the classes that have it, and its place among the fields of each."""
    classes: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, root: Path) -> Program:
        """Return what the files below ``root``, the folder of a package, say."""
        program = cls()
        for path in sorted(root.rglob("*.py")):
            module = ".".join(path.relative_to(root.parent).with_suffix("").parts)
            program.add(module.removesuffix(".__init__"), path.read_text("utf-8"))
        return program

    def add(self, module: str, source: str) -> None:
        """Add the source of one module."""
        tree = ast.parse(source)
        self.constants[module] = dict(_constants(tree))
        self.imports[module] = dict(_imports(tree))
        self._enter(tree, module, None, None)

    def constant(self, name: str, module: str) -> tuple[ast.expr, str] | None:
        """Return what a name of a module, or one that it imports, is set to, and where."""
        name, module = self._origin(name, module, self.constants)
        found = self.constants.get(module, {}).get(name)
        return None if found is None else (found, module)

    def given(self, attribute: str, only: str | None = None) -> Iterator[tuple[ast.expr, Call]]:
        """Yield what the fields of that name are given wherever an object is made.

        ``only`` is the one class that is looked at, if not all that have such a field.
        """
        for owner, index in self.fields.get(attribute, []):
            if only not in {None, owner}:
                continue
            for call in self.calls.get(owner, []):
                named = {one.arg: one.value for one in call.node.keywords}
                placed = call.node.args[index : index + 1]
                for value in [named[attribute]] if attribute in named else placed:
                    yield value, call

    def named(self, name: str, module: str) -> list[Function]:
        """Return the functions that ``name`` may mean in a module."""
        found = self.functions.get(name, [])
        own = [one for one in found if one.module == module]
        original, origin = self._origin(name, module, {})
        taken = [one for one in self.functions.get(original, []) if one.module == origin]
        return own or taken or found

    def _origin(
        self, name: str, module: str, known: Mapping[str, Container[str]]
    ) -> tuple[str, str]:
        """Return the name and the module that an import, or a chain of such, leads to."""
        while name not in known.get(module, ()) and name in self.imports.get(module, {}):
            module, name = self.imports[module][name]
        return name, module

    def _enter(
        self, node: ast.AST, module: str, function: Function | None, owner: str | None
    ) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inner = Function(child, module, owner, function)
                self.functions[child.name].append(inner)
                self._enter(child, module, inner, None)
            elif isinstance(child, ast.ClassDef):
                self.classes.add(child.name)
                for index, name in enumerate(_fields(child)):
                    self.fields[name].append((child.name, index))
                self._enter(child, module, function, child.name)
            else:
                if isinstance(child, ast.Call) and (name := called(child)):
                    self.calls[name].append(Call(child, function, module))
                self._enter(child, module, function, owner)


def called(node: ast.Call) -> str:
    """Return the last name of what is called; empty where it has none."""
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _fields(node: ast.ClassDef) -> list[str]:
    return [
        one.target.id
        for one in node.body
        if isinstance(one, ast.AnnAssign)
        and isinstance(one.target, ast.Name)
        and "ClassVar" not in ast.dump(one.annotation)
    ]


def _own(node: Def) -> Iterator[ast.AST]:
    """Yield what stands in a function, and not in one inside it."""
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        one = waiting.pop()
        yield one
        if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(one))


def _constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        for name, bound in _bindings(node):
            if bound.of == 1 and not bound.each:
                yield name, bound.value


def _imports(tree: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for one in node.names:
                yield one.asname or one.name, (node.module, one.name)


def _bindings(node: ast.AST) -> Iterator[tuple[str, Bound]]:
    """Yield the names that one node sets, and what to."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _unpacked(target, value, each=False)
        case (
            ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            | ast.AugAssign(target=ast.Name(id=name), value=value)
            | ast.NamedExpr(target=ast.Name(id=name), value=value)
        ):
            yield name, Bound(value)
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield from _unpacked(target, value, each=True)
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend" | "insert"),
            args=[*_, ast.expr() as value],
        ):
            yield name, Bound(value)


def _unpacked(target: ast.expr, value: ast.expr, *, each: bool) -> Iterator[tuple[str, Bound]]:
    match target:
        case ast.Name(id=name):
            yield name, Bound(value, each=each)
        case ast.Tuple(elts=parts):
            for item, part in enumerate(parts):
                for one in ast.walk(part):
                    if isinstance(one, ast.Name):
                        yield one.id, Bound(value, item, len(parts), each=each)
