"""Kubernetes manifests taken apart: objects, pod templates, their variables and commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from artery.errors import InputError, Problem
from artery.formats.launch.file import Command, Object, Pod, Setting
from artery.formats.launch.shell import script_parts, word_parts
from artery.formats.syntax.yaml_text import yaml_documents
from artery.formats.text import Text

COUNTS: Final = ("replicas", "parallelism", "numNodes", "size")
"""Keys that say how many pods of a template run, each beside or above the template."""


def objects_of(text: Text) -> list[Object]:
    """Return every object with a kind; raises ``InputError`` for what is no YAML."""
    yaml_documents(text)  # within its limits on size, depth and aliases
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        documents = list(YAML(typ="rt", pure=True).load_all(text.content))
    except (YAMLError, ValueError, TypeError, AttributeError, RecursionError) as error:
        found = f"damaged YAML ({type(error).__name__})"
        raise InputError(
            Problem(file=text.path, found=found, rule="must be YAML", fix="send it as it is used")
        ) from None
    tables = [one for document in documents for one in _unfolded(document)]
    return [_object(one) for one in tables if isinstance(one.get("kind"), str)]


def line_of(table: object, key: str | int, otherwise: int) -> int:
    """Return the line on which ``key`` of a loaded table, or an item of a list, stands."""
    places = getattr(getattr(table, "lc", None), "data", None)
    place = places.get(key) if isinstance(places, dict) else None
    return int(place[0]) + 1 if place else otherwise


def tables_in(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield every table in ``value``, itself first, outer before inner."""
    if isinstance(value, Mapping):
        yield value
        for one in value.values():
            yield from tables_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from tables_in(one)


def _unfolded(document: object) -> Iterator[Mapping[str, Any]]:
    if not isinstance(document, Mapping):
        return
    items = document.get("items")
    if isinstance(items, list):
        yield from (one for one in items if isinstance(one, Mapping))
    else:
        yield document


def _object(root: Mapping[str, Any]) -> Object:
    kind = str(root["kind"])
    named = root.get("metadata")
    name = str(named.get("name", "unnamed")) if isinstance(named, Mapping) else "unnamed"
    line = line_of(root, "kind", 1)
    specs = list(_pod_specs(root, {}, 1))
    gang = sum(count for _, _, count in specs)
    pods = tuple(_pod(kind, spec, notes, gang, line) for spec, notes, _ in specs)
    return Object(kind, name, root, line, pods)


def _pod_specs(
    value: object, annotations: Mapping[str, Any], count: int
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any], int]]:
    """Yield pod specifications with the annotations and the number of pods above them."""
    if isinstance(value, list):
        for one in value:
            yield from _pod_specs(one, annotations, count)
    if not isinstance(value, Mapping):
        return
    named = value.get("metadata")
    if isinstance(named, Mapping) and isinstance(named.get("annotations"), Mapping):
        annotations = {**annotations, **named["annotations"]}
    if isinstance(value.get("containers"), list):
        yield value, annotations, count
        return
    for key in COUNTS:
        number = value.get(key)
        if isinstance(number, int) and not isinstance(number, bool) and 0 < number < 1_000_000:
            count *= number
    for one in value.values():
        yield from _pod_specs(one, annotations, count)


def _pod(
    owner: str, spec: Mapping[str, Any], annotations: Mapping[str, Any], gang: int, line: int
) -> Pod:
    variables: list[Setting] = []
    commands: list[Command] = []
    at = line_of(spec, "containers", line)
    for container in spec["containers"]:
        if not isinstance(container, Mapping):
            continue
        listed = container.get("env")
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, Mapping) and "value" in one:
                where = line_of(one, "value", at)
                variables.append(Setting(str(one.get("name")), str(one["value"]), where))
        named, told = _started(container, at)
        variables += named
        commands += told
    return Pod(owner, spec, annotations, gang, at, tuple(variables), tuple(commands))


def _started(container: Mapping[str, Any], at: int) -> tuple[list[Setting], list[Command]]:
    """Return what the command and the arguments of a container start."""
    plain: list[str] = []
    scripts: list[tuple[str, int]] = []
    line = at
    for key in ("command", "args"):
        listed = container.get(key)
        if not isinstance(listed, list):
            continue
        line = line_of(container, key, at)
        for place, one in enumerate(listed):
            if "\n" in str(one):
                scripts.append((str(one), line_of(listed, place, line) + 1))
            else:
                plain.append(str(one))
    variables, commands = word_parts(plain, line)
    for script, first in scripts:
        named, _, told = script_parts(script, first)
        variables += named
        commands += told
    return variables, commands
