"""Square tables of devices against devices, as ``nvidia-smi topo`` and ``rocm-smi`` print them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from artery.formats.syntax.prefixes import bare

MOST_DEVICES: Final = 256
"""Assumed: several times the devices of any node; a longer header is no such table."""

TOPOLOGY: Final = re.compile(r"NV\d{1,2}|PIX|PXB|PHB|NODE|SYS|SOC|PIXN?|XGMI|PCIE")
STATUS: Final = re.compile(r"OK|CNS|GNS|TNS|NS|DR|U")
_CELL: Final = re.compile(rf"X|N/A|{TOPOLOGY.pattern}|{STATUS.pattern}|\d{{1,4}}")
_DEVICE: Final = re.compile(
    r"(?:GPU|NIC)\d{1,3}|(?=[a-z])(?:mlx|hfi|bnxt|irdma|roce|ib|efa|cxi|eth)[\w.-]{0,40}"
)
_TAIL: Final = ("CPU", "NUMA", "GPU")
_COLUMNS: Final = ("CPU Affinity", "NUMA Affinity", "GPU NUMA ID")


@dataclass(slots=True)
class Grid:
    """One table: ``cells[row][column]`` by device name; ``line`` is that of the header, from 1.

    ``tails`` are the words after a row's cells, ``columns`` the names of those columns, ``cut``
    the rows that had fewer cells than the header has names.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    line: int
    cells: dict[str, dict[str, str]] = field(default_factory=dict)
    tails: dict[str, list[str]] = field(default_factory=dict)
    cut: list[str] = field(default_factory=list)

    def value(self, one: str, other: str) -> str | None:
        """Return the cell of a pair, by symmetry if its own is missing; ``None`` if both are."""
        own = self.cells.get(one, {}).get(other)
        return own if own is not None else self.cells.get(other, {}).get(one)

    def values(self) -> Iterator[str]:
        """Yield every cell."""
        for row in self.cells.values():
            yield from row.values()

    @property
    def gpus(self) -> tuple[str, ...]:
        """The names of the GPUs, in the header's order."""
        return tuple(name for name in self.names if name.startswith("GPU"))


def grids(lines: Sequence[str]) -> tuple[list[Grid], set[int]]:
    """Return the tables in ``lines``, and the numbers (from 1) of the lines they are made of."""
    found: list[Grid] = []
    used: set[int] = set()
    for number, line in enumerate(lines, 1):
        words = bare(line)[:8000].split()
        header = _header(words)
        if header is not None:
            found.append(Grid(*header, number))
            used.add(number)
        elif found and _row(words, found[-1]):
            used.add(number)
    return [grid for grid in found if grid.cells], used


def _header(words: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the names of devices and of the columns after them, if this is a header."""
    names: list[str] = []
    for index, word in enumerate(words):
        if word in _TAIL and index:
            break
        if not _DEVICE.fullmatch(word) or word in names:
            return None
        names.append(word)
    if not names or len(names) > MOST_DEVICES or not any(one.startswith("GPU") for one in names):
        return None
    tail = " ".join(words[len(names) :])
    return tuple(names), tuple(column for column in _COLUMNS if column in tail)


def _row(words: list[str], grid: Grid) -> bool:
    """Put a row into ``grid``; whether it was one."""
    if len(words) < 2 or words[0] not in grid.names or words[0] in grid.cells:
        return False
    cells: list[str] = []
    for word in words[1 : len(grid.names) + 1]:
        if not _CELL.fullmatch(word):
            break
        cells.append(word)
    if not cells:
        return False
    if len(cells) < len(grid.names):
        grid.cut.append(words[0])
    grid.cells[words[0]] = dict(zip(grid.names, cells, strict=False))
    grid.tails[words[0]] = words[len(cells) + 1 :]
    return True
