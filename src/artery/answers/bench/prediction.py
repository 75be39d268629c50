"""What the closed form says of the rows of a measurement, on a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from artery.answers.bench.job import LIBRARY
from artery.answers.bench.result import Predicted
from artery.answers.libraries import library_of
from artery.catalog.libraries import library
from artery.collective import ClosedForm
from artery.collective.algorithms import ALGORITHMS
from artery.collective.placement import packed
from artery.core.pricing import Demand
from artery.core.system import System
from artery.errors import ArteryError, InputError, Problem

Table = Mapping[tuple[str, int], Predicted]
"""Predictions by algorithm and size."""


def check_size(system: System, ranks: int) -> None:
    """Raise :class:`artery.errors.InputError` if ``system`` has fewer chips than ``ranks``."""
    if system.chips < ranks:
        rule = f"{ranks} ranks need as many chips"
        fix = f"take {system.name.partition(':')[0]}:{ranks}"
        found = f"{system.name} has {system.chips} chips"
        raise InputError(Problem(field="on", found=found, rule=rule, fix=fix))


def predicted(system: System, backend: str, demand: Demand, algorithms: Sequence[str]) -> Table:
    """Return the closed form's times for ranks packed on ``system``; what has none is left out.

    Messages of gloo cost what the catalog says of gloo, others what it says of the system's own
    library; ``library`` is priced as that library chooses.
    """
    used = library("gloo") if backend == "gloo" else library_of(system)
    found: dict[tuple[str, int], Predicted] = {}
    for name in algorithms:
        if name != LIBRARY and name not in ALGORITHMS:
            continue
        asked = "auto" if name == LIBRARY else name
        try:
            pricer = ClosedForm(system, used, asked, placement=packed(system.chips))
            quote = pricer.quote(demand)
        except ArteryError:  # an algorithm that the system has no switches for, say
            continue
        for index, size in enumerate(demand.size.tolist()):
            times = (float(part[index]) for part in (quote.seconds, quote.low, quote.high))
            found[name, int(size)] = Predicted(*times)
    return found
