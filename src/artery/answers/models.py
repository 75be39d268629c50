"""Turns what a user calls a model into a workload."""

from __future__ import annotations

from pathlib import Path

from artery.catalog.models import model
from artery.core.workload import Workload


def workload(spec: str) -> Workload:
    """Return the workload of a catalog name, a ``config.json``, its folder, or ``-`` (stdin).

    Raises ``UnknownNameError`` for a name nobody knows and ``InputError`` for a bad file.
    """
    if spec == "-" or _looks_like_path(spec):
        from artery.formats.hf_config import read

        return read(spec)
    return model(spec)


def _looks_like_path(spec: str) -> bool:
    """A separator, a suffix of JSON, or something that exists: then it is no catalog name."""
    return "/" in spec or "\\" in spec or spec.endswith(".json") or Path(spec).is_dir()
