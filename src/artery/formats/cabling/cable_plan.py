"""A cable plan as CSV: one cable a line, both ends by device and port.

Columns, in any order and case: ``a_device a_port b_device b_port``, and if known ``a_kind b_kind``
(``switch`` or ``host``), ``a_card b_card``, ``rate`` (``400 Gb/s``), ``length`` (``30 m``) and
``part`` (a name of the catalog, such as ``dac400``). Without kinds, a device called leaf, spine,
core, tor, agg or switch is a switch and any other a host; a host's card is its port.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Final, cast

from artery.core.cabling import Cable, Cabling, Device, DeviceKind, End
from artery.errors import InputError, Problem, Problems, did_you_mean, nearest
from artery.formats.cabling.reading import fabric_reading
from artery.formats.reading import Format, Reading
from artery.formats.text import Text
from artery.units import parse

NEEDED: Final = ("a_device", "a_port", "b_device", "b_port")
COLUMNS: Final = (
    *("a_kind", "a_device", "a_card", "a_port", "b_kind", "b_device", "b_card", "b_port"),
    *("rate", "length", "part"),
)
"""The columns of a plan as this project writes it."""

_SWITCH = re.compile(r"(?i)(leaf|spine|core|tor|agg|switch|sw\d)")


def is_cable_plan(text: Text) -> bool:
    """Whether the first line that says something names the two devices."""
    return {"a_device", "b_device"} <= set(_header(text)[1])


def read_cabling(text: Text) -> Cabling:
    """Return the cabling of a plan; raises :class:`artery.errors.InputError` with every fault."""
    first, header = _header(text)
    missing = [name for name in NEEDED if name not in header]
    if missing:
        near = did_you_mean(nearest(missing[0], header))
        fix = near or f"the columns are {', '.join(COLUMNS)}"
        found = f"no column {', '.join(missing)}"
        rule = "a plan names both ends of every cable"
        raise InputError(Problem(file=text.path, line=first, found=found, rule=rule, fix=fix))
    least = 1 + max(header.index(name) for name in NEEDED)
    devices: dict[str, Device] = {}
    cables: list[Cable] = []
    with Problems() as problems:
        for number, cells in _rows(text, first):
            if not cells or cells[0].lstrip().startswith("#"):
                continue
            if len(cells) < least:
                problems.absorb(_short(text.path, number, header[len(cells)]))
                continue
            row = {name: cell.strip() for name, cell in zip(header, cells, strict=False)}
            try:
                cables.append(_cable(row, devices, number))
            except InputError as error:
                problems.absorb(error.at(file=text.path, line=number))
    if not cables:
        rule = "a plan has one cable a line below its columns"
        fix = "add the cables, or write the plan out again"
        raise InputError(Problem(file=text.path, line=first, found="no cable", rule=rule, fix=fix))
    guessed = () if "a_kind" in header and "b_kind" in header else (_GUESSED,)
    return Cabling(text.path, "cable-plan", tuple(devices.values()), tuple(cables), guessed)


_GUESSED: Final = "no columns a_kind and b_kind: switches are told from hosts by their names"


def write_plan(cables: Iterator[Mapping[str, str]]) -> str:
    """Return a plan with all columns; a value that a row lacks stays empty."""
    out = StringIO()
    writer = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(cables)
    return out.getvalue()


def _short(path: str, line: int, column: str) -> InputError:
    found, rule = f"the line ends before {column}", "both ends of a cable are named"
    return InputError(Problem(file=path, line=line, found=found, rule=rule, fix="mend the line"))


def _header(text: Text) -> tuple[int, list[str]]:
    """Return the number of the header's line and its names."""
    for number, line in enumerate(text.lines[:100], 1):
        if line.strip() and not line.lstrip().startswith("#"):
            names = line.replace('"', "").split(",")
            return number, [name.strip().casefold().replace(" ", "_") for name in names]
    return 1, []


def _rows(text: Text, first: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows after line ``first`` with the number of their last line."""
    rows = csv.reader(StringIO("\n".join(text.lines[first:])), strict=True)
    try:
        for cells in rows:
            yield first + rows.line_num, cells
    except csv.Error as error:
        number = first + rows.line_num
        raise InputError(
            Problem(
                file=text.path,
                line=number,
                found=str(error),
                rule="must be CSV",
                fix="mend the line",
            )
        ) from None


def _cable(row: Mapping[str, str], devices: dict[str, Device], number: int) -> Cable:
    return Cable(
        _end(row, "a", devices),
        _end(row, "b", devices),
        rate=_quantity(row, "rate", "B/s"),
        length=_quantity(row, "length", "m"),
        part=row.get("part") or None,
        line=number,
    )


def _end(row: Mapping[str, str], side: str, devices: dict[str, Device]) -> End:
    name, port = row.get(f"{side}_device", ""), row.get(f"{side}_port", "")
    kind = row.get(f"{side}_kind", "").casefold() or ("switch" if _SWITCH.search(name) else "host")
    if kind not in ("switch", "host"):
        fix = "write one of the two"
        rule = "must be switch or host"
        raise InputError(Problem(field=f"{side}_kind", found=f'"{kind}"', rule=rule, fix=fix))
    identity = name or f"unnamed on line {len(devices) + 1}"
    devices.setdefault(identity, Device(identity, identity, cast("DeviceKind", kind), bool(name)))
    card = (row.get(f"{side}_card") or port) if kind == "host" else ""
    return End(identity, port, card)


def _quantity(row: Mapping[str, str], name: str, unit: str) -> float | None:
    if not row.get(name):
        return None
    try:
        return parse(row[name], unit, directed=unit == "B/s", positive=True)
    except InputError as error:
        raise error.at(field=name) from None


def _recognise(text: Text) -> float:
    return 0.95 if is_cable_plan(text) else 0.0


def _read(text: Text) -> Reading:
    return fabric_reading(read_cabling(text))


FORMAT: Final = Format("cable-plan", "system", _recognise, _read, table=True)
