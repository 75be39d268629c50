"""``--on SYSTEM``: a catalog name, a file of ours, or a foreign file that describes a system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from artery.catalog.overrides import apply_overrides
from artery.catalog.syntax import SUFFIXES
from artery.catalog.systems import described, system
from artery.core.system import System
from artery.errors import InputError, Problem
from artery.formats.node_table import assumed
from artery.formats.reading import Reading
from artery.formats.recognise import read


def system_of(on: str, overrides: Sequence[str] = ()) -> System:
    """Return the system that ``on`` names, with ``overrides`` (``path=value``) laid over it.

    A file whose name does not end as ours do is read as whatever format it has, for example the
    output of ``nvidia-smi topo -m`` (``topo.txt:4`` takes four chips of it). ``chip=NAME`` among
    the overrides says which chips these are, where the file does not. Raises
    :class:`artery.errors.InputError`.
    """
    file, chips = _file_and_chips(on)
    if not is_foreign(file):
        return system(on, overrides)
    found = read(file)
    if found.table is None and found.system is not None and not overrides and chips is None:
        return found.system
    table = system_table(found, file, overrides)
    built = described(table, file, overrides, chips)
    notes = (*found.warnings, *assumed(apply_overrides(table, overrides).values))
    return replace(built, name=file, warnings=(*built.warnings, *notes))


def _file_and_chips(on: str) -> tuple[str, int | None]:
    """Split ``topo.txt:4`` into the file and the number of chips."""
    file, colon, count = on.rpartition(":")
    if colon and count.isdecimal() and 0 < len(count) < 10 and is_foreign(file):
        return file, int(count)
    return on, None


def is_foreign(on: str) -> bool:
    """Whether ``on`` is a file that is not named as files of ours are."""
    if Path(on).suffix.lower() in SUFFIXES:
        return False
    try:
        return Path(on).is_file()
    except (OSError, ValueError):
        return False


def system_table(found: Reading, path: str, overrides: Sequence[str]) -> dict[str, Any]:
    """Return the tables that a file of ours would have for what ``found`` describes.

    Raises :class:`artery.errors.InputError` if it is no system, or says too little for one.
    """
    if found.table is None:
        rule = "must describe chips and how they are joined"
        fix = "for example what `nvidia-smi topo -m` prints"
        raise InputError(Problem(file=path, found=f"{found.format}", rule=rule, fix=fix))
    chip = apply_overrides({}, overrides).values.get("chip")
    return found.table(chip if isinstance(chip, str) else found.fields.get("chip"))
