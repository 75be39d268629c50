"""What is counted of a model rather than read: its parameters, and what its file leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from artery.core.workload import Workload


def is_configuration(values: dict[str, Any]) -> bool:
    """Return whether a file is a model's ``config.json``, which no file of the catalog's is."""
    return "architectures" in values or "model_type" in values


def counted(found: Workload) -> Iterator[tuple[str, int | str]]:
    """Yield what is known of ``found`` by counting its layers: path and value.

    ``parameters`` counts tied weights once; ``active_parameters`` are those that one token meets.
    ``unsupported`` says why there is no step time, if there is none.
    """
    yield "parameters", found.parameters
    if found.active_parameters != found.parameters:
        yield "active_parameters", found.active_parameters
    if found.unsupported is not None:
        yield "unsupported", found.unsupported


def read_from(found: Workload) -> Iterator[tuple[str, int | str]]:
    """Yield what a configuration says of ``found``: its family, depth, width, and notes."""
    yield "family", found.family
    yield "layers", found.depth
    yield "hidden", found.hidden
    for index, note in enumerate(found.notes):
        yield f"notes[{index}]", note
