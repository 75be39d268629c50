"""``--set path=value``: single values laid over a table before it is built."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from artery.catalog.sourced import Path, Sourced
from artery.core.source import Source
from artery.errors import InputError, Problem, Problems

ORIGIN = "--set"
"""Where an override comes from, in messages and in the provenance."""

_PATH = re.compile(r"[\w-]+(\[\d+\]|\.[\w-]+)*")
_PART = re.compile(r"[\w-]+")


def under(root: str, overrides: Iterable[str]) -> tuple[list[str], list[str]]:
    """Split overrides into those below ``root.`` (without it) and the rest.

    >>> under("chip", ["chip.power=500 W", "nodes=4"])
    (['power=500 W'], ['nodes=4'])
    """
    prefix = f"{root}."
    texts = list(overrides)
    below = [text.removeprefix(prefix) for text in texts if text.startswith(prefix)]
    return below, [text for text in texts if not text.startswith(prefix)]


def put_under(root: str, error: InputError) -> InputError:
    """Return ``error`` with its overrides written as the user did, ``root.`` before them."""
    return InputError(_under(root, problem) for problem in error.problems)


def _under(root: str, problem: Problem) -> Problem:
    if problem.file != ORIGIN:
        return problem
    if problem.field:
        return replace(problem, field=f"{root}.{problem.field}")
    return replace(problem, found=f'"{root}.{problem.found[1:]}')


def apply_overrides(values: Mapping[str, Any], overrides: Sequence[str]) -> Sourced:
    """Return a copy of ``values`` with each ``path=value`` in it, and where those came from.

    A path is written ``memory.bandwidth`` or ``tiers[0].bandwidth``; a value as in TOML, where a
    string needs no quotes. Whether the path exists in the schema and the value fits is said by
    :func:`artery.catalog.door.check`. Raises :class:`artery.errors.InputError` with every text
    that is no ``path=value`` or leads into something that is no table.
    """
    result = deepcopy(dict(values))
    sources: dict[Path, Source] = {}
    with Problems() as problems:
        for text in overrides:
            written, equals, value = text.partition("=")
            if not equals or not _PATH.fullmatch(written.strip()) or not value.strip():
                rule = "must be path=value"
                problems.add(_problem(text, rule, "for example memory.bandwidth=4 TB/s"))
                continue
            path = tuple(
                int(p) if p.isdecimal() and len(p) < 19 else p for p in _PART.findall(written)
            )
            if _put(result, path, _value(value.strip())):
                sources[path] = Source(f"{ORIGIN} {text}", "now", "assumed")
            else:
                rule = "the path leads into a value that is no table"
                problems.add(_problem(text, rule, "`artery catalog show NAME` prints the paths"))
    return Sourced(result, sources).without_rivals(set(sources))


def _problem(text: str, rule: str, fix: str) -> Problem:
    return Problem(file=ORIGIN, found=f'"{text}"', rule=rule, fix=fix)


def _value(text: str) -> Any:  # noqa: ANN401 - whatever TOML can say
    """Return ``text`` read as a TOML value, or itself if it is none (``4 TB/s``)."""
    try:
        value = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    plain = isinstance(value.get("value"), (bool, int, float, str, list, dict))
    return value["value"] if plain and len(value) == 1 else text


def _put(table: Any, path: Path, value: object) -> bool:  # noqa: ANN401 - tables and lists
    """Put ``value`` at ``path``, tables made on the way; whether that was possible."""
    for part in path[:-1]:
        if isinstance(table, dict) and isinstance(part, str):
            table = table.setdefault(part, {})
        elif isinstance(table, list) and isinstance(part, int) and part < len(table):
            table = table[part]
        else:
            return False
    last = path[-1]
    if isinstance(table, dict):
        table[str(last)] = value
        return True
    if isinstance(table, list) and isinstance(last, int) and last < len(table):
        table[last] = value
        return True
    return False
