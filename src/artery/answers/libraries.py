"""The communication library of a system, at the version that was asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from artery.answers.arguments import refused
from artery.catalog.libraries import library
from artery.collective.library import Library, Line, release
from artery.core.system import Calibration, System
from artery.errors import InputError

SMALL: Final = "LL"
"""The protocol of small messages; the others fill buffers first."""


def library_of(system: System, nccl: str | None = None) -> Library:
    """Return the library that ``system`` runs, at version ``nccl`` if one is given.

    Raises ``InputError`` if ``nccl`` is no release of NCCL 2, or the system runs another library.
    """
    used = _as_measured(library(system.library), system.calibration)
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


def _as_measured(used: Library, measured: Calibration) -> Library:
    """Return the library with its starts as they were measured on a system."""
    # What was measured of the chips, or of a framework, is no matter of the library.
    if replace(measured, compute=1.0, framework=None, host=1.0, exposed=1.0) == Calibration():
        return used
    platforms = {
        name: replace(
            one,
            ring=_scaled(one.ring, measured),
            exchange=_scaled(one.exchange, measured),
            in_switch=_scaled(one.in_switch, measured),
        )
        for name, one in used.platforms.items()
    }
    start, fill = measured.network_start, measured.network_fill
    networks = {
        name: replace(
            one,
            hop={key: hop * (start if key == SMALL else fill) for key, hop in one.hop.items()},
            pipelined_hop=one.pipelined_hop * fill,
            message={SMALL: measured.network_message} if SMALL in one.hop else {},
        )
        for name, one in used.networks.items()
    }
    return replace(used, platforms=platforms, networks=networks)


def _scaled(lines: tuple[Line, ...], measured: Calibration) -> tuple[Line, ...]:
    found = []
    for one in lines:
        factor = measured.node_start if one.protocol == SMALL else measured.node_fill
        found.append(replace(one, base=one.base * factor, step=one.step * factor))
    return tuple(found)


def _refusal(found: str, rule: str, fix: str) -> InputError:
    return refused("nccl", found, rule, fix)
