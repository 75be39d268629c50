"""NCCL's and RCCL's graph file (``NCCL_GRAPH_DUMP_FILE``): the rings and trees that were found.

Root ``<graphs>``. Speeds are GB/s per channel as the library models them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from artery.errors import InputError, Problem
from artery.formats.reading import Format, Reading
from artery.formats.syntax.xml_text import root_of
from artery.formats.text import Text

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_PATTERNS: Final = {
    "1": "balanced tree", "2": "split tree", "3": "tree", "4": "ring", "5": "nvls",
    "6": "collnet direct",
}  # fmt: skip
"""NCCL, graph.h (NCCL_TOPO_PATTERN_...)."""

_FAR: Final = ("SYS", "PHB")
_ROOT: Final = re.compile(r"<graphs[\s>]")


def _recognise(text: Text) -> float:
    begins = text.head.lstrip().startswith("<")
    return 0.97 if begins and _ROOT.search(text.head) else 0.0


def _read(text: Text) -> Reading:
    root = root_of(text)
    graphs = [_graph(one) for one in root.iter("graph")]
    if root.tag != "graphs" or not graphs:
        rule = "a graph file is <graphs> with <graph> inside"
        fix = "a <system> file is nccl-topology-xml"
        raise InputError(Problem(file=text.path, found=f"<{root.tag}>", rule=rule, fix=fix))
    fields = {
        "version": root.get("version"),
        "graphs": graphs,
        "gpus": max(
            (len(channel["gpus"]) for one in graphs for channel in one["order"]), default=0
        ),
    }
    return Reading(
        "nccl-graph-xml", "state", tuple(_summary(fields)), fields, tuple(_warnings(graphs))
    )


def _graph(element: Element) -> dict[str, Any]:
    pattern = element.get("pattern", "")
    return {
        "id": element.get("id"),
        "pattern": pattern,
        "pattern_name": _PATTERNS.get(pattern, "unknown"),
        "channels": len(element.findall("channel")),
        "intra_bytes_per_s": _speed(element.get("speedintra")),
        "inter_bytes_per_s": _speed(element.get("speedinter")),
        "intra_type": element.get("typeintra"),
        "inter_type": element.get("typeinter"),
        "crosses_nics": element.get("crossnic") == "1",
        "order": [
            {
                "gpus": [one.get("dev") for one in channel.findall("gpu")],
                "nets": [one.get("dev") for one in channel.findall("net")],
            }
            for channel in element.findall("channel")
        ],
    }


def _speed(text: str | None) -> float | None:
    if text is None or not re.fullmatch(r"\d{1,6}(?:\.\d{1,9})?", text):
        return None
    return float(text) * 1e9


def _summary(fields: dict[str, Any]) -> Iterator[str]:
    yield f"{len(fields['graphs'])} graphs that the library found over {fields['gpus']} GPUs"
    for one in fields["graphs"][:4]:
        speed = one["intra_bytes_per_s"]
        said = "" if speed is None else f" of {speed / 1e9:g} GB/s inside ({one['intra_type']})"
        yield f"graph {one['id']}: {one['pattern_name']}, {one['channels']} channels{said}"


def _warnings(graphs: list[dict[str, Any]]) -> Iterator[str]:
    yield "this is what the library chose; how the machine is built is in the topology file"
    far = [f"{one['id']} ({one['intra_type']})" for one in graphs if one["intra_type"] in _FAR]
    if far:
        yield f"between GPUs through processors: graph {', '.join(far)}"


FORMAT = Format("nccl-graph-xml", "state", _recognise, _read)
