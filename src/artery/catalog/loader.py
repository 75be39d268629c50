"""Finds the shipped data: names, aliases, and the one file that a name stands for.

``data/<kind>/<name>.toml`` is one entry, except for links: ``data/links/<family>.toml`` holds a
family, which is the letters a link's name begins with (``nvlink4`` is in ``nvlink.toml``).
A file may start from another one of its kind with ``base = "name"`` and say only what differs.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from artery.catalog.sourced import Sourced, described, separate
from artery.core.source import Source
from artery.errors import InputError, Problem, UnknownNameError
from artery.places import is_file

DATA = Path(__file__).parent / "data"

SINGULAR = {
    "chips": "chip",
    "links": "link",
    "systems": "system",
    "switches": "switch",
    "nics": "nic",
    "optics": "optic",
    "models": "model",
    "profiles": "profile",
    "libraries": "library",
}
"""What the catalog holds, as written in ``artery catalog list KIND``, and the word for one."""

KINDS = tuple(SINGULAR)


@dataclass(frozen=True, slots=True)
class Resolved:
    """The entry that a name stands for; ``note`` is to be shown if the name was an alias."""

    name: str
    note: str | None = None


@cache
def names(kind: str) -> tuple[str, ...]:
    """Return the names of one kind (``chips``, ``links``, ...), sorted, without aliases."""
    if kind not in KINDS:
        raise UnknownNameError("kind", kind, KINDS)
    files = sorted((DATA / kind).glob("*.toml"))
    if kind == "links":
        return tuple(sorted(name for file in files for name in _family(file.stem)))
    return tuple(file.stem for file in files)


@cache
def aliases(kind: str) -> Mapping[str, str]:
    """Return the other names of entries of one kind: alias to name."""
    table: Mapping[str, str] = _read(DATA / "aliases.toml").get(kind, {})
    return table


def resolve(kind: str, name: str) -> Resolved:
    """Return the entry that ``name`` stands for, upper and lower case alike.

    Raises :class:`artery.errors.UnknownNameError` with the nearest names.
    """
    folded = name.strip().casefold()
    if _exists(kind, folded):
        return Resolved(folded)
    target = aliases(kind).get(folded)
    if target is not None:
        return Resolved(target, f'"{name}" is taken as {target}')
    known = (*names(kind), *aliases(kind))
    raise UnknownNameError(SINGULAR[kind], name, known)


@cache
def bibliography() -> Mapping[str, Source]:
    """Return the documents that any catalog file may cite without describing them."""
    return described(_read(DATA / "sources.toml"))


def entry(kind: str, name: str) -> Sourced:
    """Return the values and sources of one shipped entry, laid over its base if it has one.

    ``name`` is the name of the entry itself; :func:`resolve` turns an alias into one.
    """
    table = _family(_family_of(name))[name] if kind == "links" else _read_entry(kind, name)
    return over_base(kind, separate(table, shared=bibliography()))


def over_base(kind: str, own: Sourced) -> Sourced:
    """Return ``own`` laid over the shipped entry that its ``base`` names, if it names one."""
    base = own.values.pop("base", None)
    if base is None:
        return own
    if not isinstance(base, str):
        fix = f"the name of a {SINGULAR[kind]}"
        raise InputError(Problem(field="base", found=repr(base), rule="must be a name", fix=fix))
    try:
        below = resolve(kind, base)
    except UnknownNameError as error:
        raise InputError(replace(error.problems[0], field="base")) from None
    return own.over(entry(kind, below.name))


def _exists(kind: str, name: str) -> bool:
    """Whether there is an entry of that very name, without listing the others."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9.+-]*", name):
        return False
    if kind == "links":
        family = _family_of(name)
        return is_file(DATA / kind / f"{family}.toml") and name in _family(family)
    return is_file(DATA / kind / f"{name}.toml")


def _family_of(name: str) -> str:
    """Return the letters that a link's name begins with."""
    found = re.match(r"[a-z]*", name)
    return found.group() if found else ""


def _family(family: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the links of one family file by name, each with the sources of the file."""
    table = _read(DATA / "links" / f"{family}.toml")
    shared: dict[str, Any] = {key: table[key] for key in ("source", "sources") if key in table}
    return {
        name: {"name": name, **shared, **link} for name, link in table.items() if name not in shared
    }


def _read_entry(kind: str, name: str) -> dict[str, Any]:
    return {"name": name, **_read(DATA / kind / f"{name}.toml")}


@cache
def _read(file: Path) -> dict[str, Any]:
    """Return the parsed file; callers never change it."""
    with file.open("rb") as stream:
        return tomllib.load(stream)
