"""What ``nvidia-smi -q`` prints, text or XML (``-q -x``), as one flat table per GPU.

Keys are the titles on the way to a value, in the XML's spelling, joined by dots, for example
``pci.gpu_link_info.pcie_generation.current``. Titles changed over the years (``Clocks Throttle
Reasons`` became ``Clocks Event Reasons``, all moved under ``Performance``), so readers ask by the
end of a key
(:func:`found`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from artery.formats.syntax.prefixes import bare
from artery.formats.syntax.xml_text import root_of
from artery.formats.text import Text

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Table = dict[str, str]

GPU: Final = re.compile(r"GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])\s*$")
BANNER: Final = re.compile(r"=+NVSMI LOG=+")
_LINE: Final = re.compile(r"( *)([A-Za-z][^:]{0,60}?)\s*(?::(?: (.*))?)?$")
_DEEPEST: Final = 12
"""Assumed: titles inside each other; the tool has five."""

_MOST: Final = 20_000
"""Assumed: values of one GPU; the tool prints some 300."""


def of_xml(text: Text) -> list[tuple[str, Table]]:
    """Return bus id and values of every GPU; raises ``InputError`` for broken XML."""
    start = text.content.find("<nvidia_smi_log")
    end = text.content.rfind("</nvidia_smi_log>")
    # What a shell printed around the document is left out.
    inner = Text(text.path, text.content[start : end + 17]) if 0 <= start < end else text
    found = []
    for gpu in root_of(inner).iter("gpu"):
        table = dict(list(_values(gpu, "", 0))[:_MOST])
        found.append((gpu.get("id") or table.get("pci.pci_bus_id", ""), table))
    return found


def _values(element: Element, path: str, depth: int) -> Iterator[tuple[str, str]]:
    for child in element if depth < _DEEPEST else ():
        name = f"{path}.{child.tag}" if path else str(child.tag)
        if len(child):
            yield from _values(child, name, depth + 1)
        elif child.text is not None and child.tag not in ("process_name", "pid"):
            yield name, child.text.strip()[:200]


def of_text(text: Text) -> tuple[list[tuple[str, Table]], set[int]]:
    """Return bus id and values of every GPU, and the numbers of the lines that were used.

    A GPU that comes again (``-l`` repeats the report) has the values of the last report.
    """
    tables: dict[str, Table] = {}
    used: set[int] = set()
    here: Table | None = None
    way: list[tuple[int, str]] = []
    for number, line in enumerate(text.lines, 1):
        shown = bare(line[:400]).rstrip()
        gpu = GPU.match(shown)
        if gpu is not None:
            here, way = tables.setdefault(gpu[1].upper(), {}), []
            used.add(number)
            continue
        if BANNER.search(shown):
            here = None
            used.add(number)
            continue
        entry = _LINE.match(shown)
        if entry is None or (here is None and entry[3] is None):
            continue
        used.add(number)
        if here is None or (entry[1] == "" and entry[3] is not None):
            continue  # the head of the report: time, driver, number of GPUs
        depth, name = len(entry[1]), spelled(entry[2])
        way = [one for one in way if one[0] < depth][:_DEEPEST]
        if entry[3] is None:
            way.append((depth, name))
        elif len(here) < _MOST:
            here[".".join([*(title for _, title in way), name])] = entry[3].strip()[:200]
            # A value may have values below it: HW Slowdown, and its two kinds.
            way.append((depth, name))
    return [(bus, table) for bus, table in tables.items() if table], used


def spelled(title: str) -> str:
    """Return a title as XML spells it.

    >>> spelled("HW Power Brake Slowdown"), spelled("GPU T.Limit Temp")
    ('hw_power_brake_slowdown', 'gpu_t_limit_temp')
    """
    return re.sub(r"[^a-z0-9]+", "_", title.casefold()).strip("_")


def found(table: Mapping[str, str], *ends: str) -> str | None:
    """Return the first value whose key is or ends in one of ``ends``, tried in their order.

    What the tool does not know (``N/A``, ``Not Supported``) is ``None``.
    """
    for end in ends:
        for key, value in table.items():
            if (key == end or key.endswith(f".{end}")) and value not in _UNKNOWN:
                return value
    return None


_UNKNOWN: Final = frozenset({"", "N/A", "[N/A]", "Not Supported", "[Not Supported]", "Unknown"})
