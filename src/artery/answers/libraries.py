"""The communication library of a system, at the version that was asked for."""

from __future__ import annotations

from dataclasses import replace

from artery.catalog.libraries import library
from artery.collective.library import Library, release
from artery.core.system import System
from artery.errors import InputError, Problem


def library_of(system: System, nccl: str | None = None) -> Library:
    """Return the library that ``system`` runs, at version ``nccl`` if one is given.

    Raises ``InputError`` if ``nccl`` is no release of NCCL 2, or the system runs another library.
    """
    used = library(system.library)
    if nccl is None:
        return used
    if used.name != "nccl":
        raise _refusal(nccl, f"this system runs {used.title}", "leave --nccl out")
    try:
        numbers = release(nccl)
    except ValueError:
        numbers = ()
    if len(numbers) not in {2, 3} or numbers[0] != 2:
        raise _refusal(nccl, "must be a release of NCCL 2", "for example 2.27")
    return replace(used, version=nccl)


def _refusal(found: str, rule: str, fix: str) -> InputError:
    return InputError(Problem(field="nccl", found=f'"{found}"', rule=rule, fix=fix))
