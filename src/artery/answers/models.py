"""Turns what a user calls a model into a workload."""

from __future__ import annotations

from pathlib import Path

from artery.answers.arguments import check_kinds
from artery.catalog.models import model
from artery.core.workload import Workload
from artery.errors import UsageError


def workload(spec: str) -> Workload:
    """Return the workload of a catalog name, a ``config.json``, its folder, or ``-`` (stdin).

    Raises ``UnknownNameError`` for a name nobody knows, ``InputError`` for a bad file and
    ``UsageError`` for what is no name at all.
    """
    check_kinds(str, model=spec)
    if not spec.strip():
        raise UsageError("model must not be empty; `artery catalog list models` lists the names")
    if spec == "-" or _looks_like_path(spec):
        from artery.formats.hf_config import read

        return read(spec)
    return model(spec)


def _looks_like_path(spec: str) -> bool:
    """A separator, a suffix of JSON, or something that exists: then it is no catalog name."""
    return "/" in spec or "\\" in spec or spec.endswith(".json") or Path(spec).is_dir()
