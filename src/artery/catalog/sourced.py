"""Takes a catalog table apart into plain values and the source of each.

A file names its documents once, in ``[sources]``; a value refers to one either by being a pair
``[value, "source-name"]`` or through the ``source`` of the table that it stands in, which holds
for all tables below unless they name their own::

    source = "datasheet"
    cores = 132
    price = ["30000 USD", "street"]

    [sources]
    datasheet = {text = "NVIDIA H100 datasheet", as_of = "2023-03", confidence = "datasheet"}
    street = {text = "street prices", as_of = "2024", confidence = "recalled"}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, get_args

from artery.catalog.schema import RIVALS
from artery.core.source import Confidence, Source
from artery.errors import Problem, Problems, did_you_mean, nearest

Path = tuple[str | int, ...]

_CONFIDENCES = get_args(Confidence)
_SOURCE_FIELDS = ("text", "as_of", "confidence")


@dataclass(frozen=True, slots=True)
class Sourced:
    """``values`` without any sources, and the source of each value by its path."""

    values: dict[str, Any]
    sources: dict[Path, Source]

    @property
    def provenance(self) -> dict[str, Source]:
        """The sources by dotted path."""
        return {dotted(path): source for path, source in self.sources.items()}

    def over(self, base: Sourced) -> Sourced:
        """Return ``base`` with these values laid over it, table by table, value by value."""
        merged = Sourced(_merge(base.values, self.values), {**base.sources, **self.sources})
        return merged.without_rivals({path for path, _ in leaves(self.values)})

    def without_rivals(self, stated: AbstractSet[Path]) -> Sourced:
        """Return this without the values that follow from one in ``stated`` and are not in it.

        Whoever sets a memory's bandwidth has thereby changed its pin rate, and the other way
        round; see :data:`artery.catalog.schema.RIVALS`.
        """
        gone = {RIVALS[path] for path in stated if path in RIVALS} - stated
        if not gone:
            return self
        return Sourced(
            _pruned(self.values, gone),
            {path: source for path, source in self.sources.items() if path not in gone},
        )


def dotted(path: Path) -> str:
    """Return ``path`` as written in messages: ``tiers[0].bandwidth``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def separate(
    table: Mapping[str, Any],
    default: Source | None = None,
    shared: Mapping[str, Source] = MappingProxyType({}),
) -> Sourced:
    """Return the plain values of ``table`` and the source of each.

    ``default`` is the source of a value that names none (the user's file itself); ``shared``
    are sources that need not be described in the table. Raises
    :class:`artery.errors.InputError` for a source that is malformed, or named but not described.
    """
    with Problems() as problems:
        named = {**shared, **_described(table.get("sources", {}), problems)}
        body = {key: value for key, value in table.items() if key != "sources"}
        reader = _Reader(named, problems)
        values = reader.read(body, (), default)
    return Sourced(values, reader.found)


def described(sources: object) -> dict[str, Source]:
    """Return the sources that a ``[sources]`` table describes, by name."""
    with Problems() as problems:
        return _described(sources, problems)


def _described(sources: object, problems: Problems) -> dict[str, Source]:
    """Read the ``[sources]`` table."""
    if not isinstance(sources, Mapping):
        problems.add(_problem(("sources",), repr(sources), "must be a table of sources"))
        return {}
    named = {}
    for name, entry in sources.items():
        complaint = _complaint(entry)
        if complaint:
            problems.add(_problem(("sources", name), repr(entry), complaint))
        else:
            named[name] = Source(entry["text"], str(entry["as_of"]), entry["confidence"])
    return named


def _complaint(entry: object) -> str:
    """Say what is wrong with one entry of ``[sources]``; empty if nothing is."""
    if not isinstance(entry, Mapping) or set(entry) != set(_SOURCE_FIELDS):
        return "a source has exactly text, as_of and confidence"
    if entry["confidence"] not in _CONFIDENCES:
        return f"confidence is one of {', '.join(_CONFIDENCES)}"
    return ""


def _problem(path: Path, found: str, rule: str, fix: str = "") -> Problem:
    fix = fix or '{text = "datasheet of ...", as_of = "2024-05", confidence = "datasheet"}'
    return Problem(field=dotted(path), found=found, rule=rule, fix=fix)


@dataclass(slots=True)
class _Reader:
    """Walks a table; ``found`` collects the source of every leaf."""

    named: dict[str, Source]
    problems: Problems
    found: dict[Path, Source]

    def __init__(self, named: dict[str, Source], problems: Problems) -> None:
        self.named = named
        self.problems = problems
        self.found = {}

    def read(self, value: Any, path: Path, source: Source | None) -> Any:  # noqa: ANN401 - TOML's
        """Return ``value`` without sources."""
        if isinstance(value, Mapping):
            if "source" in value:
                source = self.lookup(value["source"], (*path, "source"))
            return {
                key: self.read(part, (*path, key), source)
                for key, part in value.items()
                if key != "source"
            }
        if self.is_pair(value):
            return self.read(value[0], path, self.named[value[1]])
        if isinstance(value, list):
            return [self.read(part, (*path, index), source) for index, part in enumerate(value)]
        if source is not None:
            self.found[path] = source
        return value

    def is_pair(self, value: object) -> bool:
        """Whether ``value`` is a value with the name of its source."""
        return (
            isinstance(value, list)
            and len(value) == 2
            and isinstance(value[1], str)
            and value[1] in self.named
        )

    def lookup(self, name: object, path: Path) -> Source | None:
        """Return the source called ``name``, or note that there is none."""
        if isinstance(name, str) and name in self.named:
            return self.named[name]
        near = did_you_mean(nearest(str(name), self.named))
        rule = "no source of that name stands in [sources]"
        self.problems.add(_problem(path, repr(name), rule, near or "describe it in [sources]"))
        return None


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with ``over`` laid over it, tables merged."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        both = isinstance(value, Mapping) and isinstance(below, Mapping)
        merged[key] = _merge(below, value) if both else value  # type: ignore[arg-type]
    return merged


def _pruned(table: Mapping[str, Any], gone: AbstractSet[Path], path: Path = ()) -> dict[str, Any]:
    """Return ``table`` without the values at the paths ``gone``."""
    return {
        key: _pruned(value, gone, (*path, key)) if isinstance(value, Mapping) else value
        for key, value in table.items()
        if (*path, key) not in gone
    }


def leaves(values: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """Yield (path, value) for every value in a table that is neither a table nor a list."""
    if isinstance(values, Mapping):
        for key, part in values.items():
            yield from leaves(part, (*path, key))
    elif isinstance(values, list):
        for index, part in enumerate(values):
            yield from leaves(part, (*path, index))
    else:
        yield path, values
