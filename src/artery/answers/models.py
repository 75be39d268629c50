"""Turns what a user calls a model into a workload."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from artery.answers.arguments import check_kinds
from artery.catalog.loader import resolve
from artery.catalog.models import model
from artery.core.workload import Workload
from artery.errors import InputError, Problem, UnknownNameError, UsageError
from artery.places import is_file, is_folder

RUNS: Final = frozenset({".sh", ".sbatch", ".yaml", ".yml", ".toml", ".txt", ".log"})
"""Endings of the files that describe a run."""


def workload(spec: str) -> Workload:
    """Return the workload of a catalog name, a ``config.json``, its folder, or ``-`` (stdin).

    A launch script or a configuration that describes a model does as well. Raises
    ``UnknownNameError`` for a name nobody knows, ``InputError`` for a bad file and
    ``UsageError`` for what is no name at all.
    """
    check_kinds(str, model=spec)
    if not spec.strip():
        raise UsageError("model must not be empty; `artery catalog list models` lists the names")
    if Path(spec).suffix in RUNS and is_file(spec):
        return _of_run(spec)
    if spec == "-" or _looks_like_path(spec):
        from artery.formats.hf_config import read

        return read(spec)
    return model(spec)


def _of_run(path: str) -> Workload:
    """Return the model that a run's own file describes."""
    from artery.formats.recognise import read

    found = read(path)
    if found.workload is not None:
        return found.workload
    missing = "; ".join(found.fields.get("missing_facts", ())) or "the shape of the model"
    raise InputError(
        Problem(
            file=path,
            found=f"{found.format} without a model",
            rule=f"not said: {missing}",
            fix="name the model, or give its config.json",
        )
    )


def _looks_like_path(spec: str) -> bool:
    """A separator, a suffix of JSON, or a folder that is called as no model of the catalog is."""
    if "/" in spec or "\\" in spec or spec.endswith(".json"):
        return True
    return is_folder(spec) and not _is_catalog_name(spec)


def _is_catalog_name(name: str) -> bool:
    try:
        resolve("models", name)
    except UnknownNameError:
        return False
    return True
