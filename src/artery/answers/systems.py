"""``--on SYSTEM``: a catalog name, a file of ours, or a foreign file that describes a system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from artery.answers.arguments import check_texts
from artery.catalog.door import is_path
from artery.catalog.overrides import ORIGIN, apply_overrides
from artery.catalog.syntax import SUFFIXES
from artery.catalog.systems import described, is_catalog_name, system
from artery.catalog.systems.on_cables import on_cables
from artery.catalog.systems.spec import parse_spec
from artery.core.cabling import Cabling
from artery.core.system import System
from artery.errors import InputError, Problem, Problems
from artery.formats.gpus.node_table import assumed
from artery.formats.reading import Reading
from artery.formats.recognise import read, recognise
from artery.formats.text import beginning
from artery.places import is_file, is_pipe, is_there

NODE: Final = "node"
"""The override that says what the hosts of a fabric file are: the name of a system."""

_ENDINGS: Final = frozenset({".txt", ".log", ".json", ".xml", ".csv", ".conf", ".net", ".gz"})
"""What files of other tools are called; no system of the catalog ends so."""

_OF_SYSTEMS: Final = ("system", "state")
"""Kinds of foreign files that say how chips or hosts are joined."""


def system_of(on: str, overrides: Sequence[str] = ()) -> System:
    """Return the system that ``on`` names, with ``overrides`` (``path=value``) laid over it.

    A file that is none of ours is read as whatever format it has: the output of ``nvidia-smi topo
    -m`` (``topo.txt:4`` takes four chips of it), or the cables of a network, as ``ibnetdiscover``
    prints them. What its hosts are says ``node=SYSTEM`` among the overrides. ``chip=NAME`` says
    which chips these are, where the file does not. Raises :class:`artery.errors.InputError`.
    """
    check_texts("overrides", overrides)
    return replace(_system(on, overrides), overrides=tuple(overrides), asked=on.strip())


def _system(on: str, overrides: Sequence[str]) -> System:
    file, chips = file_and_chips(on)
    node, rest = node_of(overrides)
    if not is_foreign(file):
        _must_be(file)
        if node is not None:
            raise _without_cables(node, on)
        return system(on, rest)
    found = read(file)
    if found.cabling is not None:
        return _on_cables(found, found.cabling, node, rest, chips)
    if node is not None and found.table is not None:
        raise _no_fabric(node, f"{file}, {found.format}")
    if found.table is None and found.system is not None and not rest and chips is None:
        return found.system
    table = system_table(found, file, rest)
    built = described({**table, "name": file}, file, rest, chips)
    notes = (*found.warnings, *assumed(apply_overrides(table, rest).values))
    return replace(built, name=file, warnings=(*built.warnings, *notes))


def _on_cables(
    found: Reading, cabling: Cabling, node: str | None, overrides: Sequence[str], chips: int | None
) -> System:
    """Return the system of hosts that are nodes of ``node``, on the network that was read."""
    if node is None:
        hosts = sum(device.kind == "host" for device in cabling.devices)
        raise InputError(
            Problem(
                file=cabling.file,
                found=f"a network of {hosts} hosts ({found.format})",
                rule="it does not say what is in a host: chips, and how they are joined",
                fix="--node dgx-h100, or whichever system's node the hosts are",
            )
        )
    built = on_cables(cabling, node, overrides, chips)
    chip = found.fields.get("chips")
    other = isinstance(chip, list) and bool(chip) and built.chip.name not in chip
    said = (f"the file says {', '.join(map(str, chip or ()))}, {node} has {built.chip.name}",)
    notes = (*found.warnings, *(said if other else ()))
    return replace(built, warnings=(*notes, *built.warnings))


def node_of(overrides: Sequence[str]) -> tuple[str | None, list[str]]:
    """Split ``node=SYSTEM`` off the overrides; the last one holds."""
    node: str | None = None
    rest: list[str] = []
    for text in overrides:
        path, _, value = text.partition("=")
        if path.strip() == NODE and "{" not in value:
            node = value.strip().strip("\"'")
        else:
            rest.append(text)
    return node, rest


def _must_be(file: str) -> None:
    """Raise ``InputError`` for what is called as a file is, not there, and no catalog name."""
    called = Path(file).suffix in _ENDINGS and not is_path(file)
    if called and not is_catalog_name(file) and not is_there(file):
        rule = "no such file, and no system of that name"
        raise InputError(
            Problem(field="on", found=f'"{file}"', rule=rule,
                    fix="check the path; `artery catalog list systems` lists the names")
        )  # fmt: skip


def _without_cables(node: str, on: str) -> InputError:
    """Return what is wrong with ``--node`` beside a system that is no file of cables."""
    with Problems() as problems:
        for field, name in (("on", on), (NODE, node)):
            try:
                system(name)
            except InputError as error:
                problems.absorb(error.at(field=field))
    return _no_fabric(node, on)


def _no_fabric(node: str, on: str) -> InputError:
    rule = "the hosts of a network file need it; a system says itself what its nodes are"
    fix = f"leave out --node, or --on FILE with the cables between hosts, not {on}"
    return InputError(Problem(file=ORIGIN, field=NODE, found=f'"{node}"', rule=rule, fix=fix))


def file_and_chips(on: str) -> tuple[str, int | None]:
    """Split ``topo.txt:4`` into the file and the number of chips."""
    file, colon, count = on.rpartition(":")
    if colon and count.isdecimal() and 0 < len(count) < 10 and is_foreign(file):
        return file, int(count)
    return on, None


def without_size(on: str) -> str:
    """Return the name or file in ``on``, without the chips or shape after the colon."""
    file, chips = file_and_chips(on)
    return file if chips is not None or is_foreign(on) else parse_spec(on).name


def is_foreign(on: str) -> bool:
    """Whether ``on`` is a file of another tool: by its name, or by its content if named as ours.

    A name of the catalog is none, whatever lies in the current folder: ``./dgx-h100`` is the file.
    """
    try:
        if not is_file(on) and not is_pipe(on):
            return False
        if not is_path(on) and is_catalog_name(on):
            return False
        if Path(on).suffix.lower() not in SUFFIXES:
            return True
        claims = recognise(beginning(on))
    except (OSError, ValueError, InputError):
        return False
    return bool(claims) and claims[0].kind in _OF_SYSTEMS


def system_table(found: Reading, path: str, overrides: Sequence[str]) -> dict[str, Any]:
    """Return the tables that a file of ours would have for what ``found`` describes.

    Raises :class:`artery.errors.InputError` if it is no system, or says too little for one.
    """
    if found.table is None:
        rule = "must describe chips and how they are joined"
        fix = "for example what `nvidia-smi topo -m` prints"
        if found.cabling is not None:
            rule = "tells switches and cables; a file of ours tells a network by its shape"
            fix = f"give it as it is: --on {path} --node dgx-h100"
        raise InputError(Problem(file=path, found=f"{found.format}", rule=rule, fix=fix))
    chip = apply_overrides({}, overrides).values.get("chip")
    return found.table(chip if isinstance(chip, str) else found.fields.get("chip"))
